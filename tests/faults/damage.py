"""Ways in which files are damaged, and hostile values."""

import json
import random

NOT_TEXT = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\xff\xfe"
DEEP = b"[" * 100_000
"""Deeper than Python's stack; as JSON and as YAML."""

JSON = {
    "empty object": b"{}",
    "list": b"[]",
    "number": b"3",
    "text": b'"text"',
    "null": b"null",
    "NaN": b'{"rows": NaN}',
    "cut": b'{"a": [1, 2',
    "trailing comma": b'{"a": 1,}',
    "twice": b"{}{}",
    "deep": DEEP,
    "deep objects": b'{"a":' * 100_000,
    "wrong encoding": '{"ä": "ö"}'.encode("utf-16"),
}
"""What stands in a file in place of the JSON that belongs there."""


def damaged(content: bytes, seed: int = 0) -> dict[str, bytes]:
    """Returns name -> damaged content of a file, for any kind of file."""
    draw = random.Random(seed)
    flipped = bytearray(content)
    for at in draw.sample(range(len(content)), min(len(content), 20)):
        flipped[at] ^= 1 << draw.randrange(8)
    return {
        "empty": b"",
        "one byte": content[:1],
        "half": content[: len(content) // 2],
        "without its end": content[:-1],
        "zeros": bytes(len(content)),
        "not text": NOT_TEXT,
        "JSON": json.dumps({"a": 1}).encode(),
        "bits flipped": bytes(flipped),
        "begins with a NUL": b"\0" + content,
    }
