"""Converts interactions in parts, so that a killed conversion can be continued.

Each finished part is a file. Its name is a hash of all inputs: the interactions, the converter with
its vocabulary, and the code. So parts of other inputs are never used by mistake.
"""

import base64
import functools
import hashlib
import itertools
import json
import os
import pathlib
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import tensorflow as tf

import mate_tf
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.files.atomic import write_json
from mate_tf.protos import interaction_pb2
from mate_tf.tables.linearize import ConversionError, Cut

PART = 128
"""Interactions in a part. This many are lost at most if a process is killed."""

CHUNK = 32
"""Interactions converted at a time."""

_CODE = ("data", "protos", "tables")  # sub-packages that examples depend on


class ConversionResult(NamedTuple):
    """Result of the conversion of one question.

    Attributes:
        question_id: id of the question.
        examples: serialized examples. They are compressed, since all examples of a split are in
            memory while it is shuffled.
        cuts: descriptions of the parts that the examples lack.
        error: reason and message, if there is no example.
    """

    question_id: str
    examples: tuple[bytes, ...]
    cuts: tuple[Cut, ...] = ()
    error: tuple[str, str] | None = None


def chunks(items: Iterable, size: int) -> Iterator[list]:
    """Yields lists of `size` items; the last one may be shorter."""
    items = iter(items)
    while chunk := list(itertools.islice(items, size)):
        yield chunk


def convert(converter: ExampleConverter, serialized: Sequence[bytes]) -> list[ConversionResult]:
    """Converts all questions of serialized interactions, in order."""
    interactions = [interaction_pb2.Interaction.FromString(each) for each in serialized]
    questions = (question for interaction in interactions for question in interaction.questions)
    results = []
    for question, outcome in zip(questions, converter.convert_all(*interactions), strict=True):
        if isinstance(outcome, ConversionError):
            error = (outcome.reason, str(outcome))
            results.append(ConversionResult(question.id, (), error=error))
        else:
            examples = tuple(map(_compressed, outcome.examples))
            results.append(ConversionResult(question.id, examples, outcome.cuts))
    return results


class Parts(NamedTuple):
    """Finished parts of a conversion, stored in a folder.

    Attributes:
        folder: folder of the parts.
        fingerprint: hash of converter, vocabulary and code.
    """

    folder: str
    fingerprint: bytes

    @classmethod
    def create(cls, converter: ExampleConverter, folder: str | os.PathLike) -> "Parts":
        """Returns the parts of a converter in a folder that has no other files."""
        state = repr((type(converter).__qualname__, converter.__getstate__()))
        with tf.io.gfile.GFile(converter.vocab_file, "rb") as file:
            made_by = hashlib.sha256(_code() + file.read())
        made_by.update(state.encode())
        return cls(os.fspath(folder), made_by.digest())

    def convert(self, converter: ExampleConverter, part: Sequence[bytes]) -> list[ConversionResult]:
        """Converts all questions of a part; a finished part is read, a new one is stored."""
        path = self._path(part)
        if not tf.io.gfile.exists(path):
            conversions = [convert(converter, chunk) for chunk in chunks(part, CHUNK)]
            _write(list(itertools.chain.from_iterable(conversions)), path)
        return _read(path)

    def remove(self) -> None:
        """Removes all parts."""
        if tf.io.gfile.exists(self.folder):
            tf.io.gfile.rmtree(self.folder)

    def _path(self, part: Sequence[bytes]) -> str:
        made_of = hashlib.sha256(self.fingerprint)
        for interaction in part:
            made_of.update(hashlib.sha256(interaction).digest())
        return os.path.join(self.folder, f"{made_of.hexdigest()}.json")


def _write(converted: Sequence[ConversionResult], path: str) -> None:
    content = [
        each._replace(examples=[base64.b64encode(example).decode() for example in each.examples])
        for each in converted
    ]
    write_json(path, content, indent=None)


def _read(path: str) -> list[ConversionResult]:
    with tf.io.gfile.GFile(path) as file:
        content = json.loads(file.read())
    return [
        ConversionResult(
            question_id,
            tuple(map(base64.b64decode, examples)),
            tuple(Cut(*cut) for cut in cuts),
            error and tuple(error),
        )
        for question_id, examples, cuts, error in content
    ]


def _compressed(example: tf.train.Example) -> bytes:
    """Serializes and compresses an example."""
    # The fastest level is enough, since most values are zeros.
    return zlib.compress(example.SerializeToString(deterministic=True), 1)


@functools.cache
def _code() -> bytes:
    """Returns a hash of the code that examples depend on."""
    package, code = pathlib.Path(mate_tf.__file__).parent, hashlib.sha256()
    for path in sorted(path for name in _CODE for path in (package / name).rglob("*.py")):
        code.update(path.read_bytes())
    return code.digest()
