"""Tables that are pasted or uploaded, and what is said of those that are none."""

import pytest

from mate_tf.demo import reading
from mate_tf.errors import InputError


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,x y\n",
        "a\tb\n1\tx y",
        "a;b\r\n1;x y\r\n",
        '[{"a": 1, "b": "x y"}]',
        '{"columns": ["a", "b"], "rows": [[1, "x y"]]}',
    ],
    ids=["commas", "tabs", "semicolons", "objects", "columns and rows"],
)
def test_pasted(text):
    table = reading.pasted(text)
    assert (table.columns, table.rows) == (("a", "b"), (("1", "x y"),))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (" \n", "paste a table first, or upload one"),
        ("a,b\n", "pasted table: there is a header but no rows"),
        ("a,b\n1,2,3\n", "pasted table: row 1 (line 2) has 3 cells, but the header has 2 cells"),
        ("[{]", "pasted table: not valid JSON: "),
        ("a,b\n1,\ud800\n", "pasted table: not valid UTF-8: byte 6 (line 2) is 0xed"),
    ],
    ids=["nothing", "only a header", "ragged", "no JSON", "lone surrogate"],
)
def test_what_is_no_table(text, message):
    with pytest.raises(InputError) as raised:
        reading.pasted(text)
    assert str(raised.value).startswith(message)


def test_texts_about_cells(tmp_path):
    names = {"Ann Lee.txt": "Ann was born in Basel.", "more.jsonl": '{"cell": "Bob", "text": "x"}'}
    paths = [tmp_path / name for name in names]
    for path in paths:
        path.write_text(names[path.name])
    assert reading.texts(paths) == (("Ann Lee", "Ann was born in Basel."), ("Bob", "x"))
    assert not any(path.exists() for path in paths)


def test_texts_that_cannot_be_read(tmp_path):
    """The message has no folder of the server, and nothing stays there."""
    paths = [tmp_path / "a.txt", tmp_path / "b.jsonl"]
    paths[0].write_text("x")
    paths[1].write_text('{"cell": 1}')
    with pytest.raises(InputError, match=r'^b.jsonl: line 1: "cell" is not a text$'):
        reading.texts(paths)
    assert not any(path.exists() for path in paths)


def test_uploaded_by_the_ending_of_the_name(tmp_path):
    for name, content in (
        ("t.tsv", "a\tb\n1,5\t2\n"),
        ("t.JSON", '{"columns": ["a", "b"], "rows": [["1,5", 2]]}'),
        ("t.csv", 'a,b\n"1,5",2\n'),
    ):
        (tmp_path / name).write_text(content)
        assert reading.uploaded(tmp_path / name).rows == (("1,5", "2"),)
        assert not (tmp_path / name).exists()


def test_the_servers_folders_are_not_told(tmp_path):
    (tmp_path / "mine.csv").write_text("a,b\n")
    with pytest.raises(InputError) as raised:
        reading.uploaded(tmp_path / "mine.csv")
    assert str(raised.value) == "mine.csv: there is a header but no rows"
    assert not (tmp_path / "mine.csv").exists()


def test_databases_are_not_read(tmp_path):
    """A view in an uploaded one could read other files."""
    (tmp_path / "t.csv").write_bytes(b"SQLite format 3\0" + bytes(100))
    with pytest.raises(InputError, match=r"t\.csv: is a database, which is not read here"):
        reading.uploaded(tmp_path / "t.csv")
