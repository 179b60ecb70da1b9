"""Texts about cells: a folder, or JSON lines."""

import json

import pytest

from mate_tf.errors import InputError
from mate_tf.tables import cell_texts
from mate_tf.tables.table import Table

TABLE = Table.from_rows(["year", "winner"], [["2001", "Ann Lee"], ["2002", "Bob"]] * 2)
ANN, BOB = "Ann Lee was born in Basel.", "Bob is a nurse."


def lines(path, *objects):
    path.write_text("".join(json.dumps(each) + "\n" for each in objects))
    return path


def test_a_folder(tmp_path):
    """Each text is about all cells that read as its file's name."""
    for name, text in (("ann  lee", ANN), ("Bob", BOB), ("Carl", "unknown")):
        (tmp_path / f"{name}.txt").write_text(text)
    (tmp_path / "notes.md").write_text("not a text")
    links, passages = cell_texts.links(cell_texts.add(TABLE, cell_texts.read(tmp_path), "x"))
    assert passages == {"ann  lee": ANN, "Bob": BOB}
    assert links == {
        (0, 1): ["ann  lee"],
        (2, 1): ["ann  lee"],
        (1, 1): ["Bob"],
        (3, 1): ["Bob"],
    }


def test_two_texts_about_one_cell(tmp_path):
    texts = ({"cell": "Bob", "text": BOB}, {"cell": "Bob", "text": "He lives in Rome."})
    given = cell_texts.read(lines(tmp_path / "texts.jsonl", *texts))
    links, passages = cell_texts.links(cell_texts.add(TABLE, given, "x"))
    assert links[1, 1] == ["Bob", "Bob (2)"]
    assert passages["Bob (2)"] == "He lives in Rome."


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"cell": "Bob"}, 'texts.jsonl: line 1: "text" is not a text'),
        ({"cell": 7, "text": BOB}, 'texts.jsonl: line 1: "cell" is not a text'),
    ],
)
def test_lines_that_are_refused(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        cell_texts.read(lines(tmp_path / "texts.jsonl", content))


def test_an_empty_folder(tmp_path):
    with pytest.raises(InputError, match="no texts"):
        cell_texts.read(tmp_path)


def test_texts_of_no_cell():
    with pytest.raises(InputError, match="t: none of the 1 texts is about a cell of the table"):
        cell_texts.add(TABLE, [("Carl", "x")], "t")


def test_names_without_the_punctuation_of_cells():
    """Files cannot have all names that cells have. A cell of exactly this name comes first."""
    table = Table.from_rows(["place"], [["St. Gallen (CH)"], ["A/B"], ["A B"]])
    given = [("St Gallen CH", "a town"), ("A B", "a test")]
    links, _ = cell_texts.links(cell_texts.add(table, given, "x"))
    assert links == {(0, 0): ["St Gallen CH"], (2, 0): ["A B"]}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"Bob": "x"}, 'texts: expected a list of objects with "cell" and "text"'),
        (["x"], 'texts: number 1: expected an object with "cell" and "text"'),
        ([{"cell": "Bob", "text": " "}], 'texts: number 1: "text" is not a text'),
    ],
)
def test_json_that_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        cell_texts.parse(given)


def test_texts_that_cannot_be_written():
    with pytest.raises(InputError, match="the text about 'Bob' is not valid Unicode"):
        cell_texts.add(TABLE, [("Bob", "\ud800")], "x")
