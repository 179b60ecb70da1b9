"""Checks zip archives before anything is unpacked: a small file can unpack to any size.

The sizes in an archive's directory may be wrong. `ZipFile.read` then unpacks a member whole before
it cuts it, so here members are read by parts, and no further than their size in the directory.
"""

import copy
import zipfile
import zlib
from collections.abc import Iterable

from mate_tf.errors import InputError

_MIB = 2**20
_SMALL = 16 * _MIB  # archives that unpack to less may be packed as tightly as they like
_PART = 2**16  # bytes that are unpacked at a time
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError)
"""Errors that zipfile raises for damaged archives."""


def check(archive: zipfile.ZipFile, size: int, largest: int, ratio: int) -> None:
    """Refuses an archive that unpacks to too much.

    Args:
        archive: the archive.
        size: size of its file, in bytes.
        largest: largest size of all members together, in bytes.
        ratio: largest allowed unpacked size by `size`.

    Raises:
        InputError: if it unpacks to more, a member has another size than the directory says, or is
            packed by another method than zip's own.
        zipfile.BadZipFile: if a member is damaged.
    """
    members = archive.infolist()
    unpacked = sum(member.file_size for member in members)
    if unpacked > largest:
        raise InputError(f"unpacks to {unpacked / _MIB:,.0f} MiB; at most {largest // _MIB:,}")
    if unpacked > _SMALL and unpacked > ratio * size:
        raise InputError(
            f"unpacks to {unpacked / max(size, 1):,.0f} times its size; at most {ratio:,} times"
        )
    _check_methods(members, _METHODS)
    for member in members:
        longer = copy.copy(member)
        longer.file_size += 1  # so that what is beyond the size is seen
        with archive.open(longer) as file:
            if sum(map(len, iter(lambda: file.read(_PART), b""))) > member.file_size:
                raise InputError(f"{member.filename!r} is larger than the directory says")


def check_stored(archive: zipfile.ZipFile, size: int) -> None:
    """Refuses an archive with packed members, or with members that are larger than its file.

    Args:
        archive: the archive.
        size: size of its file, in bytes.

    Raises:
        InputError: as said.
    """
    members = archive.infolist()
    _check_methods(members, (zipfile.ZIP_STORED,))
    if any(member.file_size > size for member in members):
        raise InputError("a member is larger than the file")


def read(archive: zipfile.ZipFile, name: str, largest: int) -> bytes:
    """Returns the content of a member.

    Args:
        archive: the archive.
        name: the member.
        largest: largest size of its content, in bytes.

    Raises:
        InputError: if it is larger, or packed by another method than zip's own.
        zipfile.BadZipFile: if it is damaged.
    """
    member = archive.getinfo(name)
    if member.file_size > largest:
        raise InputError(
            f"unpacks to {member.file_size / _MIB:,.0f} MiB; at most {largest // _MIB:,}"
        )
    _check_methods([member], _METHODS)
    with archive.open(member) as file:
        return file.read(member.file_size)


def _check_methods(members: Iterable[zipfile.ZipInfo], allowed: tuple[int, ...]) -> None:
    for member in members:
        if member.compress_type not in allowed:
            names = zipfile.compressor_names  # pyright: ignore[reportAttributeAccessIssue]  undocumented
            method = names.get(member.compress_type, member.compress_type)
            raise InputError(
                f"{member.filename!r} is compressed by {method}, which is not supported"
            )
