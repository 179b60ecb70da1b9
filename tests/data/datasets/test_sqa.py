"""The official SQA files, and what goes wrong with edited ones."""

import csv
import json

import pytest

from mate_tf.data.datasets import sqa
from mate_tf.errors import InputError

HEADER = "id\tannotator\tposition\tquestion\ttable_file\tanswer_coordinates\tanswer_text"
LINE = "nt-1\t0\t0\twho won?\ttable_csv/a.csv\t['(0, 0)']\t['Anna']"


@pytest.fixture
def dataset(tmp_path):
    """Writes a data set of one file "test.tsv" and one table, returns its directory."""

    def write(*lines, header=HEADER):
        (tmp_path / "table_csv").mkdir(exist_ok=True)
        (tmp_path / "table_csv" / "a.csv").write_text("Name,Points\nAnna,3\nBob,4\n")
        (tmp_path / "test.tsv").write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
        return tmp_path

    return write


def test_reads_as_the_reference(goldens, tmp_path):
    cases = json.loads((goldens / "tokenization/open/sqa_tsv_parsing.json").read_text())
    (tmp_path / "table_csv").mkdir()
    for table in ("203_386", "204_703", "203_88"):
        content = "\n".join(
            ",".join(f"r{row}c{column}" for column in range(6)) for row in range(12)
        )
        (tmp_path / "table_csv" / f"{table}.csv").write_text(content + "\n")
    for name, case in cases.items():
        (tmp_path / name).write_text(case["content"], encoding="utf-8")
        interactions = list(sqa.read(tmp_path, name.removesuffix(".tsv")))
        assert [_plain(interaction) for interaction in interactions] == case["interactions"]


def _plain(interaction):
    return {
        "id": interaction.id,
        "table_id": interaction.table.table_id,
        "questions": [_plain_question(question) for question in interaction.questions],
    }


def _plain_question(question):
    answer = question.answer
    optional = {
        name: getattr(answer, name) if answer.HasField(name) else None
        for name in ("float_value", "aggregation_function", "class_index")
    }
    return {
        "id": question.id,
        "original_text": question.original_text,
        "answer_texts": list(answer.answer_texts),
        "answer_coordinates": [
            [cell.row_index, cell.column_index] for cell in answer.answer_coordinates
        ],
        "is_valid": answer.is_valid,
        **optional,
    }


def test_official_test_set(sqa_dir):
    interactions = list(sqa.read(sqa_dir, "test"))
    assert len(interactions) == 1025
    assert sum(len(interaction.questions) for interaction in interactions) == 3012
    tables = {interaction.table.table_id: interaction.table for interaction in interactions}
    assert len(tables) == 185
    for name, table in tables.items():
        with open(sqa_dir / name, encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        assert [cell.text for cell in table.columns] == header
        assert [[cell.text for cell in row.cells] for row in table.rows] == rows
    for interaction in interactions:
        positions = [question.id.rpartition("_")[2] for question in interaction.questions]
        assert positions == [str(index) for index in range(len(positions))]
        for question in interaction.questions:
            cells = [
                interaction.table.rows[cell.row_index].cells[cell.column_index].text
                for cell in question.answer.answer_coordinates
            ]
            assert sorted(set(cells)) == sorted(set(question.answer.answer_texts))


@pytest.mark.parametrize(
    ("split", "questions", "sequences"),
    [("train", 14541, 5041), ("random-split-1-train", 12276, 4257)],
)
def test_official_training_files(sqa_dir, split, questions, sequences):
    rows = list(sqa.read_rows(sqa_dir / f"{split}.tsv"))
    assert len(rows) == questions
    assert len({row.sequence for row in rows}) == sequences


def test_split_names():
    assert sqa.splits() == {
        "train": "random-split-1-train",
        "dev": "random-split-1-dev",
        "test": "test",
    }
    assert sqa.splits(None) == {"train": "train", "test": "test"}
    with pytest.raises(InputError, match="1 to 5"):
        sqa.splits(6)


def test_questions_by_position_whatever_the_order_of_the_file(dataset):
    second = LINE.replace("\t0\twho won?", "\t1\tand then?")
    other = LINE.replace("nt-1", "nt-2")
    (first, last) = sqa.read(dataset(second, other, LINE), "test")
    assert [question.id for question in first.questions] == ["nt-1-0_0", "nt-1-0_1"]
    assert [question.original_text for question in first.questions] == ["who won?", "and then?"]
    assert last.id == "nt-2-0"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (LINE.rpartition("\t")[0], "test.tsv line 3: 6 fields where the header has 7"),
        (LINE + "\tmore", "test.tsv line 3: 8 fields"),
        (LINE.replace("(0, 0)", "(2, 0)"), r"line 3: answer \(2, 0\) lies outside table_csv/a.csv"),
        (LINE.replace("(0, 0)", "(0, 2)"), r"line 3: answer \(0, 2\) lies outside"),
        (LINE.replace("(0, 0)", "(0)"), "line 3: answer coordinate"),
        (LINE.replace("['Anna']", "Anna"), "line 3: answer_text is not a list"),
        (LINE.replace("\t0\twho", "\tx\twho"), "line 3: position 'x'"),
        (LINE.replace("a.csv", "b.csv"), "line 3: table file .*b.csv does not exist"),
        (LINE.replace("nt-1", "nt-0"), "line 3: position 0 of nt-0-0 repeats"),
        (LINE.replace('who won?', '"who won?'), "test.tsv: not a UTF-8 tab-separated file"),
    ],
)  # fmt: skip
def test_malformed_rows_name_file_and_line(dataset, line, message):
    with pytest.raises(InputError, match=message):
        list(sqa.read(dataset(LINE.replace("nt-1", "nt-0"), line), "test"))


def test_other_bad_files(dataset, tmp_path):
    with pytest.raises(InputError, match=r"nothing.tsv: No such file"):
        list(sqa.read(tmp_path, "nothing"))
    with pytest.raises(InputError, match=r"test.tsv line 1: missing column\(s\) annotator"):
        list(sqa.read(dataset(LINE, header=HEADER.replace("annotator", "x")), "test"))
    (tmp_path / "test.tsv").write_bytes(HEADER.encode() + b"\n\xff\xfe\n")
    with pytest.raises(InputError, match=r"test.tsv: not a UTF-8"):
        list(sqa.read(tmp_path, "test"))
    quoted = LINE.replace("nt-1", "nt-0").replace("who won?", '"who\nwon?"')
    with pytest.raises(InputError, match="line 4: position"):
        list(sqa.read(dataset(quoted, LINE.replace("\t0\twho", "\tx\twho")), "test"))
