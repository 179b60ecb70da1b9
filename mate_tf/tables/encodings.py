"""Finds out the encoding of a text file by its first bytes."""

import codecs
import os
import re

from mate_tf.errors import InputError

SAMPLE = 2**16
"""Bytes that are looked at."""
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_ONE_BYTE = ["cp1252", "mac-roman", "cp1250", "cp1251", "cp1253", "cp1254"]
_MORE_BYTES = ["cp932", "gb18030", "cp949", "big5hkscs"]
_WORD = re.compile(r"[^\0-\x7f]{2}")
_NEARLY = 0.85
"""Share of the best confidence from which on cp1252, the commonest encoding, is taken."""


def find(path: str | os.PathLike, sample: bytes, asked: str | None) -> tuple[str, list[str]]:
    """Returns the encoding of a file, and a remark unless it is UTF-8 or the file names it.

    Args:
        path: the file, for messages.
        sample: its first `SAMPLE` bytes, or all of them.
        asked: name of the encoding as a user gives it; None: it is detected.

    Raises:
        InputError: if there is no encoding `asked`, or the file is not a text.
    """
    if asked:
        try:
            "".encode(asked)
        except LookupError:
            raise InputError(f"--encoding={asked}: no such encoding") from None
        return asked, []
    for mark, name in _MARKS:
        if sample.startswith(mark):
            return name, []
    if len(sample) > 3 and not any(sample[1:400:2]):
        return "utf-16-le", ["read as UTF-16"]
    if len(sample) > 3 and not any(sample[:400:2]):
        return "utf-16-be", ["read as UTF-16"]
    if b"\0" in sample:
        raise InputError(f"{path}: not a text file")
    try:
        is_cut = len(sample) >= SAMPLE  # perhaps within a character
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=not is_cut)
    except UnicodeDecodeError:
        name = _detected(sample)
        return name, [f"read as {name}, since it is not UTF-8 (if it is not, give --encoding)"]
    return "utf-8", []


def _detected(sample: bytes) -> str:
    import chardet

    confidences = {}  # encoding -> confidence, the best one first
    for each in chardet.detect_all(sample, include_encodings=_ONE_BYTE + _MORE_BYTES):
        if each["encoding"] is None:
            continue
        name = codecs.lookup(each["encoding"]).name
        # Characters of more bytes come in words; one alone is an accent or a sign in another code.
        if name not in _ONE_BYTE and not _WORD.search(sample.decode(name, "replace")):
            continue
        confidences[name] = each["confidence"]
    best = next(iter(confidences), "cp1252")
    is_close = confidences.get("cp1252", 0) >= _NEARLY * confidences.get(best, 0)
    return "cp1252" if best.startswith("cp125") and is_close else best
