"""Reads values of a long JSON file one after the other, in memory that does not grow with it."""

import json
import re
from collections.abc import Iterator
from typing import IO, Any

_LEAST = 2**16  # characters that are read at a time
_BLANKS = re.compile(r"[ \t\n\r]*")
_MARGIN = 4  # a number may go on after what looks like its end: "1e+5"

decoder = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=float)
"""Decoder that returns numbers as text, in the spelling of the file."""


class JsonStream:
    """A JSON text, from which values are taken from left to right.

    Args:
        file: the text.
        longest: largest number of characters of one value.

    Raises (all methods):
        ValueError: if the text is not JSON, or a value is longer.
    """

    def __init__(self, file: IO[str], longest: int):
        self._file, self._longest = file, longest
        self._text, self._at, self._ended = "", 0, False

    def next(self) -> str:
        """Returns the next character that is not blank, and stays before it; "" at the end."""
        while True:
            if blanks := _BLANKS.match(self._text, self._at):
                self._at = blanks.end()
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def value(self) -> Any:
        """Returns the next value."""
        self.next()
        while True:
            try:
                value, end = decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError:
                if not self._more():
                    raise
                continue
            if end + _MARGIN <= len(self._text) or not self._more():
                self._at = end
                return value

    def take(self, allowed: str) -> str:
        """Returns the next character that is not blank, one of `allowed`, and moves past it."""
        character = self.next()
        if not character or character not in allowed:
            raise ValueError(f"expected {' or '.join(allowed)}, found {character or 'the end'}")
        self._at += 1
        return character

    def items(self) -> Iterator[Any]:
        """Yields the values of a list, which is next."""
        self.take("[")
        if self.next() == "]":
            self.take("]")
            return
        while True:
            yield self.value()
            if self.take(",]") == "]":
                return

    def members(self) -> Iterator[str]:
        """Yields the keys of an object, which is next; the caller takes the value of each."""
        self.take("{")
        if self.next() == "}":
            self.take("}")
            return
        while True:
            if self.next() != '"':
                raise ValueError("expected a key in quotation marks")
            key = self.value()
            self.take(":")
            yield key
            if self.take(",}") == "}":
                return

    def _more(self) -> bool:
        """Reads more of the text, as much again as is left of it; False at its end."""
        if self._ended:
            return False
        left = self._text[self._at :]
        if len(left) > self._longest:
            raise ValueError(f"a value has more than {self._longest:,} characters")
        new = self._file.read(max(_LEAST, len(left)))
        self._text, self._at, self._ended = left + new, 0, not new
        return True
