"""JSON that is parsed already, as a table; tests/tables/test_table.py reads the same from files."""

import json

import pytest

from mate_tf.errors import InputError
from mate_tf.tables import json_table
from mate_tf.tables.json_stream import decoder
from mate_tf.tables.limits import Limits
from mate_tf.tables.table import Table


def parse_table(text, limits=None):
    return json_table.parse_table(decoder.decode(text), "sent", limits or Limits())


@pytest.mark.parametrize(
    "text",
    [
        '[["a", "b"], [1.0, "x"], [null, "y"]]',
        '[{"a": 1.0, "b": "x"}, {"b": "y"}]',
        '{"a": [1.0, null], "b": ["x", "y"]}',
        '{"columns": ["a", "b"], "rows": [[1.0, "x"], [null, "y"]]}',
    ],
)
def test_the_same_table_as_of_a_file(text, tmp_path):
    header, rows, about, unread = parse_table(text)
    assert (header, rows, about, unread) == (["a", "b"], [["1.0", "x"], [None, "y"]], {}, "")
    if not text.startswith("[["):
        (tmp_path / "t.json").write_text(text)
        assert Table.from_json(tmp_path / "t.json").rows == Table.from_rows(header, rows).rows


def test_limits():
    rows = json.dumps([["a", "b"], *([[number, "x"] for number in range(9)])])
    _, kept, _, unread = parse_table(rows, Limits(max_table_cells=8))
    assert len(kept) == 3
    assert unread == "all rows after row 3 not read: max_table_cells=8"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"t.csv"', "sent: expected an object with the lists"),
        ("[]", "sent: expected an object with the lists"),
        ('[["a"]]', "sent: there is a header but no rows"),
        ('[["a"], [1, 2]]', "sent: row 1 has 2 cells, but the header has 1"),
        ('[["a"], 5]', "sent: row 1 is not a list of cells"),
        ('[["a"], [[1]]]', "sent: row 1, column 1 holds a list"),
    ],
)
def test_what_is_not_a_table(text, message):
    with pytest.raises(InputError) as raised:
        parse_table(text)
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize("extra", ["x", "{}", "]", "1", ", [1]"])
@pytest.mark.parametrize("text", ['[{"a": 1}, {"a": 2}]', '{"columns": ["a"], "rows": [[1], [2]]}'])
@pytest.mark.parametrize("blanks", [0, 1000])
def test_what_stands_behind_the_last_value(tmp_path, text, extra, blanks):
    """Also in a file with more characters than are read at once."""
    path = tmp_path / "x.json"
    limits = Limits(max_table_characters=100)
    path.write_text(text + " " * blanks)
    assert len(json_table.read(path, limits)[1]) == 2
    path.write_text(text + " " * blanks + extra)
    with pytest.raises(InputError, match=r"x\.json: not valid JSON: "):
        json_table.read(path, limits)
