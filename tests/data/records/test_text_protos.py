"""Interactions in text format: whole, packed, damaged, and too long."""

import gzip

import pytest
from google.protobuf import text_format

from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.data.records import text_protos
from mate_tf.errors import InputError
from mate_tf.tables.table import Table


def interaction(number):
    table = Table.from_rows(["é 1", 'a "b"'], [[f"x\n{number}", "2.5"]], table_id=f"t_{number}")
    return interaction_from_table(table, f"i{number}-0", [Question(f"i{number}-0_0", "How, ünd?")])


def line(number, **options):
    return text_format.MessageToString(interaction(number), as_one_line=True, **options).encode()


@pytest.fixture
def read(tmp_path):
    """read(content, keep): the interactions of a file with this content, with their lines."""

    def found(content, keep=bool):
        path = tmp_path / "some.txtpb"
        path.write_bytes(content)
        return list(text_protos.read(path, keep))

    return found


def test_packed_and_not_with_escapes_and_without(read):
    lines = [line(0), b"", line(1, as_utf8=True), b"\xef\xbb\xbf" + line(2) + b"\r", line(3)]
    expected = [(number, interaction(i)) for i, number in enumerate((1, 3, 4, 5))]
    for content in (b"\n".join(lines), gzip.compress(b"\n".join(lines) + b"\n")):
        assert read(content) == expected
    kept = read(b"\n".join(lines), lambda each: b"i1-0" in each)
    assert kept == expected[1:2]


def test_many_lines_are_all_parsed_in_order(read, monkeypatch):
    monkeypatch.setattr(text_protos, "_AT_ONCE", 3)
    lines = [line(number) for number in range(8)]
    assert [each.id for _, each in read(b"\n".join(lines))] == [f"i{n}-0" for n in range(8)]
    monkeypatch.setattr(text_protos, "_BYTES_AT_ONCE", 1)
    assert [number for number, _ in read(b"\n".join(lines))] == [*range(1, 9)]


def test_the_form_of_the_published_corpus(read):
    """With colons before braces, and an extension that is not known."""
    text = (
        b'table: { columns: { text: "Year" } rows: { cells: { text: "2013\\n(1st)" } } }'
        b' questions: { id: "TITLE" original_text: "ARY Film Award" }'
    )
    for content in (text, text + b" [some.where.else]: { a: 1 }"):
        ((_, found),) = read(content)
        assert found.table.rows[0].cells[0].text == "2013\n(1st)"
        assert found.questions[0].original_text == "ARY Film Award"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (b"tabel: {}", 'has no field named "tabel"'),
        (b'id: "a', "not an interaction in protobuf's text format"),
        (b'id: "\xff"', "not valid UTF-8"),
        (b'table { columns { text: "\\377" } }', "text format"),
        (b'questions { original_text: "\\377" }', "text format"),
        (b"table { " * 3000, "text format"),
        (b"\x00\x01", "text format"),
    ],
)
def test_bad_lines_are_named(read, bad, message):
    content = b"\n".join([line(0), b"", bad, line(1)])
    with pytest.raises(InputError, match=r"some\.txtpb line 3: ") as raised:
        read(content)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_damaged_and_endless_files(read, monkeypatch, tmp_path):
    packed = gzip.compress(b"\n".join(line(number) for number in range(300)))
    with pytest.raises(InputError, match=r"some\.txtpb: damaged after line \d+: "):
        read(packed[: len(packed) // 2])
    broken = bytearray(packed)
    broken[len(packed) // 2] ^= 0xFF
    with pytest.raises(InputError, match=r"some\.txtpb( line \d+)?: (damaged|not )"):
        read(bytes(broken))
    with pytest.raises(InputError, match="absent"):
        list(text_protos.read(tmp_path / "absent"))
    monkeypatch.setattr(text_protos, "LONGEST_LINE", 2**20)
    with pytest.raises(InputError, match="line 2: more than 1 MiB"):
        read(gzip.compress(line(0) + b"\n" + b" " * 2**24))
