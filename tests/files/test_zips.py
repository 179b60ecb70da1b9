"""Archives that are refused before they are unpacked."""

import io
import tracemalloc
import zipfile
import zlib

import pytest

from mate_tf.errors import InputError
from mate_tf.files import zips

MIB = 2**20


@pytest.fixture(scope="module")
def bomb():
    """An archive of 0.6 MB with a member of 600 MB."""
    content, block = io.BytesIO(), bytes(MIB)
    with (
        zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("zeros", "w") as member,
    ):
        for _ in range(600):
            member.write(block)
    return zipfile.ZipFile(content), content.tell()


def archive_of(method, content=b"x" * 1000):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("data", content)
    return zipfile.ZipFile(file)


def test_a_bomb(bomb):
    archive, size = bomb
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="unpacks to 600 MiB; at most 200"):
            zips.check(archive, size, 200 * MIB, 200)
        with pytest.raises(InputError, match=r"unpacks to 1,0\d\d times its size; at most 200"):
            zips.check(archive, size, 700 * MIB, 200)
        with pytest.raises(InputError, match="unpacks to 600 MiB; at most 64"):
            zips.read(archive, "zeros", 64 * MIB)
        with pytest.raises(InputError, match="'zeros' is compressed by deflate"):
            zips.check_stored(archive, size)
        assert tracemalloc.get_traced_memory()[1] < 4 * MIB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("checksum", [None, 1000, 1001])
def test_a_bomb_in_whose_directory_sizes_are_wrong(bomb, monkeypatch, checksum):
    archive, size = bomb
    member = archive.getinfo("zeros")
    monkeypatch.setattr(member, "file_size", 1000)
    if checksum is not None:
        monkeypatch.setattr(member, "CRC", zlib.crc32(bytes(checksum)))
    tracemalloc.start()
    try:
        larger, crc = "'zeros' is larger than the directory says", "Bad CRC-32"
        with pytest.raises((InputError, zipfile.BadZipFile), match=f"{larger}|{crc}") as said:
            zips.check(archive, size, 200 * MIB, 200)
        assert isinstance(said.value, InputError) == (checksum == 1001)
        if checksum == 1000:
            assert zips.read(archive, "zeros", 64 * MIB) == bytes(1000)
        else:
            with pytest.raises(zipfile.BadZipFile, match=crc):
                zips.read(archive, "zeros", 64 * MIB)
        assert tracemalloc.get_traced_memory()[1] < 4 * MIB
    finally:
        tracemalloc.stop()


def test_what_is_allowed():
    archive = archive_of(zipfile.ZIP_DEFLATED)
    zips.check(archive, 100, 1000, 1)  # small: the ratio does not matter
    assert zips.read(archive, "data", 1000) == b"x" * 1000
    zips.check_stored(archive_of(zipfile.ZIP_STORED), 2000)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_methods_are_not_read(method):
    """`zipfile` bounds what it unpacks at a time for its own method only."""
    archive = archive_of(method)
    message = "'data' is compressed by (bzip2|lzma), which is not supported"
    with pytest.raises(InputError, match=message):
        zips.check(archive, 10_000, 10_000, 10)
    with pytest.raises(InputError, match="which is not supported"):
        zips.read(archive, "data", 10_000)


def test_members_that_are_larger_than_the_file():
    archive = archive_of(zipfile.ZIP_STORED)
    with pytest.raises(InputError, match="a member is larger than the file"):
        zips.check_stored(archive, 999)
