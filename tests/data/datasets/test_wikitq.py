"""The official WikiTableQuestions files, the recorded import, what is wrong with edited ones."""

import collections
import csv
import io
import json

import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas._libs.parsers import STR_NA_VALUES

from mate_tf.data import interactions
from mate_tf.data.datasets import wikitq
from mate_tf.errors import InputError

HEADER = "id\tutterance\tcontext\ttargetValue"
LINE = "nt-1\twho won?\tcsv/204-csv/1.csv\tAnna"
TABLE = r""""Name","Points",""
"Anna","3","x"
"Bob ""the"" \\ \"Ö\" [1]","","N/A"
"Cleo","3","x"
""".replace('""the"" ', "")


@pytest.fixture
def dataset(tmp_path):
    """Writes a data set of one file and one table, returns its directory."""

    def write(*lines, header=HEADER, stem="pristine-unseen-tables", table=TABLE):
        (tmp_path / "data").mkdir(exist_ok=True)
        (tmp_path / "csv" / "204-csv").mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / f"{stem}.tsv").write_text("\n".join([header, *lines]) + "\n")
        (tmp_path / "csv" / "204-csv" / "1.csv").write_text(table)
        return tmp_path

    return write


@pytest.mark.parametrize("strict", [True, False])
def test_import_equals_the_recorded(goldens, tmp_path, strict):
    lines = (goldens / "tokenization/open/wtq.jsonl").read_text(encoding="utf-8").splitlines()
    stem = "training" if strict else "pristine-seen-tables"
    (tmp_path / "data").mkdir()
    compared = 0
    for record in map(json.loads, lines):
        path = tmp_path / record["wtq_context"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(record["raw_csv"], encoding="utf-8", newline="")
        fields = [record[name] for name in ("wtq_id", "utterance", "wtq_context", "target_value")]
        text = f"{HEADER}\n" + "\t".join(fields) + "\n"
        (tmp_path / "data" / f"{stem}.tsv").write_text(text, encoding="utf-8")
        (found,) = wikitq.read(tmp_path, stem)
        (question,) = found.questions
        assert (found.id, question.id) == (record["interaction_id"], record["questions"][0]["id"])
        _compare_table(found, record)
        _compare_question(question, record, strict)
        compared += 1
    assert compared == len(lines) >= 30


def _compare_table(found, record):
    table, expected = interactions.table_of(found), record["table"]
    assert list(table.columns) == expected["columns"]
    assert [list(row) for row in table.rows] == expected["rows"]
    assert table.table_id == expected["table_id"]
    for row, values in zip(found.table.rows, record["cell_numeric_values"], strict=True):
        assert [_plain(cell.numeric_value) for cell in row.cells] == values


def _compare_question(question, record, strict):
    expected = record["questions"][0]
    assert question.original_text == expected["original_text"]
    assert question.text == expected["text"]
    spans = [
        [span.begin_index, span.end_index, [_plain(value) for value in span.values]]
        for span in question.annotations.spans
    ]
    assert spans == expected["numeric_spans"]
    answer, expected = question.answer, record["answer_strict"] if strict else expected
    assert answer.is_valid == expected["is_valid"] == (not interactions.problem(question))
    assert list(answer.answer_texts) == expected["answer_texts"]
    number = answer.float_value if answer.HasField("float_value") else None
    assert number == expected["float_value"]
    # The reference leaves placeholders in answers that it could not find.
    coordinates = expected["answer_coordinates"] if expected["is_valid"] else []
    assert [
        [cell.row_index, cell.column_index] for cell in answer.answer_coordinates
    ] == coordinates


def _plain(value):
    kind = value.WhichOneof("value")
    if kind == "float_value":
        return {"float": value.float_value}
    if kind == "date":
        date = value.date
        parts = ("year", "month", "day")
        return {"date": [getattr(date, p) if date.HasField(p) else None for p in parts]}
    return None


def test_official_dev_set(wikitq_dir):
    problems = collections.Counter(
        interactions.problem(found.questions[0]) for found in wikitq.read(wikitq_dir, "dev")
    )
    assert problems == {
        "": 2578,
        "neither a cell nor a number": 246,
        "not all texts are cells": 6,
        "two texts are the same cell": 1,
    }


@pytest.mark.parametrize(
    ("stem", "questions", "tables"),
    [
        ("training", 14152, 1679),
        ("random-split-1-train", 11321, 1333),
        ("random-split-1-dev", 2831, 346),
        ("pristine-unseen-tables", 4344, 421),
        ("pristine-seen-tables", 3537, 1455),
    ],
)
def test_official_question_files(wikitq_dir, stem, questions, tables):
    rows = list(wikitq.read_rows(wikitq_dir / "data" / f"{stem}.tsv"))
    assert len({row.id for row in rows}) == len(rows) == questions
    assert len({row.table_file for row in rows}) == tables


def test_a_quotation_mark_is_a_character_like_any_other(wikitq_dir):
    rows = wikitq.read_rows(wikitq_dir / "data" / "training.tsv")
    row = next(row for row in rows if row.id == "nt-259")
    assert row.answers == ('"Cheat on you"',)


def test_official_tables_as_pandas_reads_them(wikitq_dir):
    paths = sorted(wikitq_dir.glob("csv/*/*.csv"))
    assert len(paths) == 2108
    renamed = 0
    for path in paths[::7]:
        frame = pandas.read_csv(path, escapechar="\\", dtype=str, keep_default_na=False)
        original = wikitq.read_table(path, original_cells=True)
        assert [list(row) for row in original.rows] == frame.to_numpy().tolist()
        columns = wikitq.read_table(path).columns
        assert list(columns) == list(frame.columns)
        renamed += columns != original.columns
    assert renamed > 10


@given(st.lists(st.sampled_from(["", "x", "x.1", "x.2", "x.1.1", "Unnamed: 1"]), min_size=1))
def test_column_names_as_pandas_makes_them(tmp_path_factory, names):
    path = tmp_path_factory.getbasetemp() / "names.csv"
    buffer = io.StringIO()
    csv.writer(buffer, quoting=csv.QUOTE_ALL).writerows([names, ["0"] * len(names)])
    path.write_text(buffer.getvalue(), newline="")
    assert wikitq.read_table(path).columns == tuple(pandas.read_csv(path).columns)


@given(st.lists(st.text("a|\\np\t\n", min_size=0), min_size=1, max_size=4))
def test_escapes_are_undone(texts):
    escaped = "|".join(
        text.replace("\\", "\\\\").replace("\n", "\\n").replace("|", "\\p") for text in texts
    )
    assert [wikitq.unescape(text) for text in escaped.split("|")] == texts


def test_cells_as_the_reference_makes_them_or_as_they_are(dataset):
    path = dataset() / "csv" / "204-csv" / "1.csv"
    table = wikitq.read_table(path, "a")
    assert table.columns == ("Name", "Points", "Unnamed: 2")
    assert table.rows == (("anna", "3", "x"), ('bob \\ "o"', "nan", "nan"), ("cleo", "3", "x"))
    original = wikitq.read_table(path, original_cells=True)
    assert original.columns == ("Name", "Points", "")
    assert original.rows[1] == ('Bob \\ "Ö" [1]', "", "N/A")


def test_missing_cells_are_those_of_pandas(tmp_path):
    path, texts = tmp_path / "1.csv", [*sorted(STR_NA_VALUES), "-", "nil", "none"]
    path.write_text("\n".join(["number,text", *(f"{n},{text}" for n, text in enumerate(texts))]))
    missing = STR_NA_VALUES - {"None"}  # that one came with version 2
    found = [row[1] for row in wikitq.read_table(path).rows]
    assert [text == "nan" for text in found] == [text in missing for text in texts]


def test_an_answer_in_several_cells_is_learnt_from_in_no_file_but_tested_in_others(dataset):
    line = LINE.replace("Anna", "3")
    for stem, valid in [
        ("training", False),
        ("random-split-2-train", False),
        ("random-split-2-dev", True),
        ("pristine-seen-tables", True),
    ]:
        (found,) = wikitq.read(dataset(line, stem=stem), stem)
        (question,) = found.questions
        assert question.answer.is_valid == valid
        assert interactions.problem(question) == ("" if valid else "in several cells")
        assert list(question.answer.answer_texts) == ["3"]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("nobody", "neither a cell nor a number"),
        ("Anna|nobody", "not all texts are cells"),
        ("Anna|anna", "two texts are the same cell"),
        ("", "no text"),
        ("7", ""),
        ("Anna|Cleo", ""),
    ],
)
def test_why_an_answer_is_not_valid(dataset, answer, problem):
    (found,) = wikitq.read(dataset(LINE.replace("Anna", answer)), "test")
    assert interactions.problem(found.questions[0]) == problem


def test_questions_about_one_table_come_together(dataset):
    folder = dataset(LINE, LINE.replace("nt-1", "nt-2").replace("1.csv", "2.csv"))
    (folder / "csv" / "204-csv" / "2.csv").write_text(TABLE)
    dataset(
        LINE,
        LINE.replace("nt-1", "nt-2").replace("1.csv", "2.csv"),
        LINE.replace("nt-1", "nt-3").replace("who won?", r"a\nb\p\\"),
    )
    found = list(wikitq.read(folder, "test"))
    assert [interaction.id for interaction in found] == ["nt-1-0", "nt-3-0", "nt-2-0"]
    assert found[1].questions[0].id == "nt-3-0_0"
    assert found[1].questions[0].original_text == "a\nb|\\"
    assert found[1].table.table_id == "table_csv/204-1.csv"


def test_split_names(dataset):
    assert wikitq.splits(2) == {
        "train": "random-split-2-train",
        "dev": "random-split-2-dev",
        "test": "pristine-unseen-tables",
    }
    assert wikitq.splits(None) == {"train": "training", "test": "pristine-unseen-tables"}
    with pytest.raises(InputError, match="1 to 5, not 6"):
        wikitq.splits(6)
    with pytest.raises(InputError, match="no split 'val', only train, dev, test"):
        next(wikitq.read(dataset(LINE), "val"))
    with pytest.raises(InputError, match="no split 'dev', only train, test"):
        next(wikitq.read(dataset(LINE), "dev", random_split=None))
    with pytest.raises(InputError, match=r"data/random-split-5-train.tsv: no such file"):
        next(wikitq.read(dataset(LINE), "train", random_split=5))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (LINE.rpartition("\t")[0], "tables.tsv line 3: has 3 cells separated by tabs, expected 4"),
        (LINE + "\tmore", "tables.tsv line 3: has 5 cells"),
        ("", "tables.tsv line 3: has 1 cells"),
        (LINE.replace("1.csv", "2.csv"), "line 3: table file .*204-csv/2.csv does not exist"),
        ("nt-1\t\tcsv/204-csv/1.csv\tAnna", "line 3: no question"),
        ("\twho?\tcsv/204-csv/1.csv\tAnna", "line 3: no id"),
    ],
)
def test_malformed_lines_name_file_and_line(dataset, line, message):
    with pytest.raises(InputError, match=message):
        list(wikitq.read(dataset(LINE.replace("nt-1", "nt-0"), line, LINE), "test"))


def test_other_bad_files(dataset):
    with pytest.raises(
        InputError, match=r"tables.tsv line 1: the header lacks the column\(s\) context"
    ):
        next(wikitq.read(dataset(LINE, header=HEADER.replace("context", "x")), "test"))
    with pytest.raises(InputError, match=r"204-csv/1.csv: row 1 \(line 2\) has 1 cell, but"):
        next(wikitq.read(dataset(LINE, table='"a","b"\n"1"\n'), "test"))
    with pytest.raises(InputError, match=r"204-csv/1.csv: a quotation mark is opened"):
        next(wikitq.read(dataset(LINE, table='"a"\n"1\\"\n'), "test"))
    folder = dataset(LINE)
    (folder / "csv" / "204-csv" / "1.csv").write_bytes(b"a\n\xff\n")
    with pytest.raises(InputError, match=r"204-csv/1.csv: not valid UTF-8: byte 2 \(line 2\)"):
        next(wikitq.read(folder, "test"))
    (folder / "data" / "pristine-unseen-tables.tsv").write_bytes(HEADER.encode() + b"\n\xff")
    with pytest.raises(InputError, match=r"tables.tsv line 2: not valid UTF-8"):
        next(wikitq.read(folder, "test"))


def test_lines_may_end_as_on_windows(dataset):
    folder = dataset(LINE)
    path = folder / "data" / "pristine-unseen-tables.tsv"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    (found,) = wikitq.read(folder, "test")
    assert list(found.questions[0].answer.answer_texts) == ["Anna"]
