"""Interactions converted part by part, so that a conversion that was killed need not begin anew.

Each finished part is a file, named by what it was made of: the interactions, the converter with its
vocabulary, and the code. What was made of something else is never found, and so never mistaken.
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
from mate_tf.data.records.report import Converted
from mate_tf.files.atomic import write_json
from mate_tf.protos import interaction_pb2
from mate_tf.tables.linearize import ConversionError, Cut

PART = 128
"""Interactions in a part: what is lost when a process is killed, and a file each until the end."""

CHUNK = 32
"""Interactions converted at once."""

_CODE = ("data", "protos", "tables")  # sub-packages that examples are made by


def chunks(items: Iterable, size: int) -> Iterator[list]:
    """Lists of `size` items, the last one shorter."""
    items = iter(items)
    while chunk := list(itertools.islice(items, size)):
        yield chunk


def convert(converter: ExampleConverter, serialized: Sequence[bytes]) -> list[Converted]:
    """What becomes of all questions of some interactions, in order."""
    found = [interaction_pb2.Interaction.FromString(each) for each in serialized]
    questions = (question for interaction in found for question in interaction.questions)
    results = []
    for question, outcome in zip(questions, converter.convert_all(*found), strict=True):
        if isinstance(outcome, ConversionError):
            error = (outcome.reason, str(outcome))
            results.append(Converted(question.id, (), error=error))
        else:
            examples = tuple(map(_compressed, outcome.examples))
            results.append(Converted(question.id, examples, outcome.cuts))
    return results


class Parts(NamedTuple):
    """The parts of a conversion that are finished.

    Attributes:
        folder: where they are until all are.
        fingerprint: of what makes them, see `of`.
    """

    folder: str
    fingerprint: bytes

    @classmethod
    def of(cls, converter: ExampleConverter, folder: str | os.PathLike) -> "Parts":
        """Parts that a converter makes, in a folder of their own that need not be there."""
        state = repr((type(converter).__qualname__, converter.__getstate__()))
        with tf.io.gfile.GFile(converter.vocab_file, "rb") as file:
            made_by = hashlib.sha256(_code() + file.read())
        made_by.update(state.encode())
        return cls(os.fspath(folder), made_by.digest())

    def convert(self, converter: ExampleConverter, part: Sequence[bytes]) -> list[Converted]:
        """What becomes of all questions of a part: read if it is finished, else made and kept."""
        path = self._path(part)
        if not tf.io.gfile.exists(path):
            found = [convert(converter, chunk) for chunk in chunks(part, CHUNK)]
            _write(list(itertools.chain.from_iterable(found)), path)
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


def _write(converted: Sequence[Converted], path: str) -> None:
    content = [
        each._replace(examples=[base64.b64encode(example).decode() for example in each.examples])
        for each in converted
    ]
    write_json(path, content, indent=None)


def _read(path: str) -> list[Converted]:
    with tf.io.gfile.GFile(path) as file:
        content = json.loads(file.read())
    return [
        Converted(
            question_id,
            tuple(map(base64.b64decode, examples)),
            tuple(Cut(*cut) for cut in cuts),
            error and tuple(error),
        )
        for question_id, examples, cuts, error in content
    ]


def _compressed(example: tf.train.Example) -> bytes:
    # The fastest level: nearly all of it are zeros.
    return zlib.compress(example.SerializeToString(deterministic=True), 1)


@functools.cache
def _code() -> bytes:
    """A hash of all that examples depend on in this package."""
    package, code = pathlib.Path(mate_tf.__file__).parent, hashlib.sha256()
    for path in sorted(path for name in _CODE for path in (package / name).rglob("*.py")):
        code.update(path.read_bytes())
    return code.digest()
