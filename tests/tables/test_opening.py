"""Files that are not regular files, and the place of a byte that is not UTF-8."""

import os
import socket

import pytest

from mate_tf.errors import InputError
from mate_tf.tables import opening
from mate_tf.tables.any_table import read_table
from mate_tf.tables.limits import Limits


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "xlsx"])
def test_pipes_and_devices_are_refused_at_once(tmp_path, ending):
    pipe, zero = tmp_path / f"pipe.{ending}", tmp_path / f"zero.{ending}"
    os.mkfifo(pipe)
    zero.symlink_to("/dev/zero")
    for path in (pipe, zero):
        with pytest.raises(InputError) as said:
            read_table(path)
        reason = "cannot be read: not a regular file, but a pipe, socket or device"
        assert str(said.value) == f"{path}: {reason}"


def test_sockets_and_names_that_cannot_be(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as other:
        other.bind("s.csv")
        with pytest.raises(InputError, match=r"s\.csv: cannot be read: "):
            read_table("s.csv")
    with pytest.raises(InputError, match="cannot be read: embedded null byte"):
        read_table("a\0.csv")


def test_a_large_file_is_not_read(tmp_path):
    path = tmp_path / "sparse.csv"
    with path.open("wb") as file:
        file.truncate(3 * 2**20)
    with pytest.raises(InputError) as said:
        read_table(path, Limits(max_table_mb=2))
    message = "the file has 3 MiB; at most 2 are allowed (max_table_mb)"
    assert str(said.value) == f"{path}: {message}"


@pytest.mark.parametrize("before", [0, opening.CHUNK - 1, opening.CHUNK, 3 * opening.CHUNK + 1])
def test_the_first_byte_that_is_not_utf8(tmp_path, before):
    """Also where a character is cut by the end of a part that is read at a time."""
    path = tmp_path / "t.json"
    path.write_bytes(b"\n" * before + "ä".encode() + b"x\xff")
    with pytest.raises(InputError) as said:
        read_table(path)
    place = f"byte {before + 3} (line {before + 1}) is 0xff"
    assert str(said.value) == f"{path}: not valid UTF-8: {place}"
    path.write_bytes(b"\n" * before + "ä".encode()[:1])
    with pytest.raises(InputError, match=rf"byte {before} \(line {before + 1}\) is 0xc3"):
        read_table(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "cp1252", "utf-8-sig"])
def test_encodings_are_found_out(tmp_path, encoding):
    path = tmp_path / "wide.csv"
    path.write_bytes("name,city\nann,Zürich\n".encode(encoding))
    table = read_table(path)
    assert (table.columns, table.rows) == (("name", "city"), (("ann", "Zürich"),))
    assert bool(table.remarks) == (encoding not in ("utf-8-sig", "utf-16"))
