"""The official TabFact files, and what goes wrong with edited ones."""

import json

import pytest

from mate_tf.data import interactions
from mate_tf.data.datasets import tabfact
from mate_tf.errors import InputError

STATEMENTS = {
    "a.csv": [["bern be the capital", "basel have more people than zürich"], [1, 0], "swiss towns"],
    "b.csv": [["there be 2 row"], [1], "rows"],
}


@pytest.fixture
def dataset(tmp_path):
    """Writes a data set whose only split is "dev", returns its directory."""

    def write(statements=STATEMENTS, tables=("b.csv", "a.csv"), folder="tokenized_data"):
        name = "val_examples.json" if folder == "tokenized_data" else "r1_training_all.json"
        for path, content in (
            (f"{folder}/{name}", statements),
            ("collected_data/r2_training_all.json", {} if folder == "collected_data" else None),
            ("data/val_id.json", list(tables)),
        ):
            if content is not None:
                (tmp_path / path).parent.mkdir(exist_ok=True)
                (tmp_path / path).write_text(json.dumps(content))
        (tmp_path / "data" / "all_csv").mkdir(exist_ok=True)
        (tmp_path / "data" / "all_csv" / "a.csv").write_bytes(
            "town#people\r\nbern#134,591\r\nzürich#415,367\r\n".encode()
        )
        (tmp_path / "data" / "all_csv" / "b.csv").write_text("x\n1\n2\n")
        return tmp_path

    return write


def test_one_interaction_per_statement_with_its_table_and_class(dataset):
    first, second, third = tabfact.read(dataset(), "dev")
    assert [found.id for found in (first, second, third)] == ["b.csv_0-0", "a.csv_0-0", "a.csv_1-0"]
    (question,) = third.questions
    assert question.id == "a.csv_1-0_0"
    assert interactions.parse_question_id(question.id) == ("a.csv_1", "0", 0)
    assert question.original_text == "basel have more people than zürich"
    assert question.answer.class_index == tabfact.REFUTED
    assert question.answer.is_valid
    assert not question.answer.answer_coordinates
    assert second.questions[0].answer.class_index == tabfact.ENTAILED
    table = interactions.table_of(third)
    assert table.columns == ("town", "people")
    assert table.rows == (("bern", "134,591"), ("zürich", "415,367"))
    assert (table.table_id, table.title) == ("table_csv/a.csv", "swiss towns")
    assert third.table.rows[1].cells[1].numeric_value.float_value == 415367


def test_statements_as_written_where_they_are(dataset):
    dataset()
    written = {
        "a.csv": [["Bern is the capital."], [1], "Swiss towns"],
        "b.csv": [["There is a row 3."], [0], "rows"],
    }
    folder = dataset(written, folder="collected_data")
    texts = {
        raw: [found.questions[0].original_text for found in tabfact.read(folder, "dev", raw=raw)]
        for raw in (True, False, None)
    }
    assert texts[True] == texts[None] == ["There is a row 3.", "Bern is the capital."]
    assert texts[False] == ["there be 2 row", *STATEMENTS["a.csv"][0]]


@pytest.mark.parametrize(
    ("split", "tables", "entailed", "refuted"),
    [("dev", 1696, 6478, 6314), ("test_simple", 833, 2120, 2051), ("test_small", 298, 989, 1009)],
)
def test_official_files(tabfact_dir, split, tables, entailed, refuted):
    found = [
        (interaction.table.table_id, question.answer.class_index)
        for interaction in tabfact.read(tabfact_dir, split)
        for question in interaction.questions
    ]
    assert len({table_id for table_id, _ in found}) == tables
    labels = [label for _, label in found]
    assert (labels.count(tabfact.ENTAILED), labels.count(tabfact.REFUTED)) == (entailed, refuted)


def test_official_training_file_is_read_as_it_goes(tabfact_dir):
    first = next(tabfact.read(tabfact_dir, "train"))
    assert first.questions[0].answer.HasField("class_index")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ([["x"], [1]], r"expected \[statements, labels, caption\]"),
        ({}, r"expected \[statements"),
        (["x", [1], ""], "the statements are not a list of texts"),
        ([[""], [1], ""], "the statements are not a list of texts"),
        ([[3], [1], ""], "the statements are not a list of texts"),
        ([["x"], [2], ""], "the labels are not a list of 0"),
        ([["x"], ["1"], ""], "the labels are not a list of 0"),
        ([["x"], [True], ""], "the labels are not a list of 0"),
        ([["x", "y"], [1], ""], "2 statements but 1 labels"),
        ([["x"], [1], None], "the caption is not text"),
    ],
)
def test_malformed_entries_name_file_and_table(dataset, entry, message):
    folder = dataset({**STATEMENTS, "a.csv": entry})
    with pytest.raises(InputError, match=rf"val_examples.json: table 'a.csv': {message}"):
        list(tabfact.read(folder, "dev"))


def test_bad_files(dataset):
    with pytest.raises(InputError, match="no split 'val', only train, dev, test, test_simple"):
        next(tabfact.read(dataset(), "val"))
    with pytest.raises(InputError, match=r"test_examples.json: no such file"):
        next(tabfact.read(dataset(), "test_small"))
    with pytest.raises(InputError, match=r"val_id.json: table 'c.csv' has no statements in .*val_"):
        list(tabfact.read(dataset(tables=["a.csv", "c.csv"]), "dev"))
    with pytest.raises(InputError, match=r"val_id.json: table 7 has no statements"):
        list(tabfact.read(dataset(tables=[7]), "dev"))
    with pytest.raises(InputError, match=r"val_examples.json: expected an object of tables"):
        next(tabfact.read(dataset([]), "dev"))
    with pytest.raises(InputError, match=r"all_csv/c.csv: no such file"):
        next(tabfact.read(dataset({"c.csv": STATEMENTS["a.csv"]}, tables=["c.csv"]), "dev"))
    folder = dataset()
    (folder / "data" / "val_id.json").write_text("['a.csv']")
    with pytest.raises(InputError, match=r"val_id.json: not valid JSON"):
        next(tabfact.read(folder, "dev"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"town#people\nbern\n", r"all_csv/a.csv: row 1 \(line 2\) has 1 cell, but the header has"),
        (b"town#people\nb\xffrn#3\n", r"all_csv/a.csv: not valid UTF-8: byte 13 \(line 2\)"),
        (b"", "all_csv/a.csv: the file is empty"),
    ],
)
def test_bad_tables_name_file_and_line(dataset, content, message):
    folder = dataset(tables=["a.csv"])
    (folder / "data" / "all_csv" / "a.csv").write_bytes(content)
    with pytest.raises(InputError, match=message):
        next(tabfact.read(folder, "dev"))
