"""Tab-separated files without quoting."""

import pytest

from mate_tf.data.datasets import tsv
from mate_tf.errors import InputError


def test_rows(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_bytes('\ufeffa\tb\r\n"x\t y" \r\nz\t\n'.encode())
    first, second = tsv.read(path, ["b"])
    assert first == (f"{path} line 2", {"a": '"x', "b": ' y" '})
    assert second == (f"{path} line 3", {"a": "z", "b": ""})
    assert next(row for _, row in tsv.read(path, ["l", "r"], header=False)) == {"l": "a", "r": "b"}


def test_characters_that_end_lines_elsewhere(tmp_path):
    """Only LF ends a line: texts hold form feeds, next-line and separator characters."""
    path = tmp_path / "a.tsv"
    path.write_text("x\ny\x0cz\u2028\x85\n", encoding="utf-8", newline="\n")
    assert [row for _, row in tsv.read(path, ["x"])] == [{"x": "y\x0cz\u2028\x85"}]


def test_a_quoted_tab(tmp_path):
    """Quoting is tried only where there are too many cells, and its quotes must match."""
    path = tmp_path / "a.tsv"
    path.write_text('a\tb\n1\t"x\ty ""z"""\n"1\t2"\n"p\tq\n')
    assert [list(row.values()) for _, row in tsv.read(path, ["a"])] == [
        ["1", 'x\ty "z"'],
        ['"1', '2"'],
        ['"p', "q"],
    ]
    path.write_text('a\tb\n"1\tx\ty\n')
    with pytest.raises(InputError, match=r"a\.tsv line 2: has 3 cells"):
        list(tsv.read(path, ["a"]))


def test_broken_lines_are_left_out(tmp_path):
    path, broken = tmp_path / "a.tsv", []
    path.write_text("a\tb\n1\n1\t2\n1\t2\t3\n")
    assert len(list(tsv.read(path, ["a"], broken=broken.append))) == 1
    assert [str(error)[-30:] for error in broken] == [*("ted by tabs, expected 2 (a, b)",) * 2]
    assert [str(error).split()[2] for error in broken] == ["2:", "4:"]
    path.write_text("a\tb\n1\n")
    with pytest.raises(InputError, match=r"a\.tsv: has no rows"):
        list(tsv.read(path, ["a"], broken=broken.append))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\tb\n1\n", r"a\.tsv line 2: has 1 cells separated by tabs, expected 2 \(a, b\)"),
        (b"a\tb\n1\t2\n\n", r"a\.tsv line 3: has 1 cells"),
        (b"a\tc\n1\t2\n", r"a\.tsv line 1: the header lacks the column\(s\) b"),
        (b"a\tb\n\xe9\t2\n", r"a\.tsv line 2: not valid UTF-8"),
        (b"a\tb\n", r"a\.tsv: has no rows"),
    ],
)
def test_malformed(tmp_path, content, message):
    path = tmp_path / "a.tsv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        list(tsv.read(path, ["a", "b"]))


def test_missing(tmp_path):
    with pytest.raises(InputError, match=r"b\.tsv: no such file"):
        list(tsv.read(tmp_path / "b.tsv", ["a"]))
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        list(tsv.read(tmp_path, ["a"]))


def test_choice():
    assert tsv.choice("f line 2", "label", "no", ["yes", "no"]) == 1
    with pytest.raises(InputError, match="f line 2: label is 'x', expected one of yes, no"):
        tsv.choice("f line 2", "label", "x", ["yes", "no"])
