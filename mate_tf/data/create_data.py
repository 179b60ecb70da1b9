"""Converts data sets: interactions in, files of examples and a report of what was left out.

```
<output_dir>/interactions/<split>.tfrecord           what was asked, complete
<output_dir>/tf_examples/<split>.tfrecord            what the model reads
<output_dir>/tf_examples/<split>.report.json         see `Report`
```
"""

import collections
import concurrent.futures
import contextlib
import dataclasses
import itertools
import json
import multiprocessing
import os
import pickle
import random
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import tensorflow as tf
from tqdm import tqdm

from mate_tf.data import records
from mate_tf.data.atomic import atomic_path
from mate_tf.data.examples import ExampleConverter
from mate_tf.errors import InputError
from mate_tf.protos import interaction_pb2
from mate_tf.tables.linearize import ConversionError, Cut

TRAIN = "train"
_CHUNK = 32  # interactions sent to a process at once
_CHUNKS_AHEAD = 4  # per process, so that none waits and memory stays bounded


class _Converted(NamedTuple):
    """What became of one question.

    Attributes:
        examples: serialized and compressed; many are in memory while a split is shuffled.
        error: reason and message if there is no example.
    """

    question_id: str
    examples: tuple[bytes, ...]
    cuts: tuple[Cut, ...] = ()
    error: tuple[str, str] | None = None


@dataclasses.dataclass
class Report:
    """What became of the questions of a split.

    Attributes:
        interactions, questions: how many there are.
        examples: how many there are; a question may have several.
        padding_examples: examples that only fill the last batch.
        dropped: reason -> ids and messages of the questions that gave no example.
        cuts: kind -> in how many examples something was cut, and how much in all.
        defects: what is wrong with the official files, kind -> messages; questions that are left
            out for that are not among `questions`.
    """

    interactions: int = 0
    questions: int = 0
    examples: int = 0
    padding_examples: int = 0
    dropped: dict[str, list[dict[str, str]]] = dataclasses.field(default_factory=dict)
    cuts: dict[str, dict[str, int]] = dataclasses.field(default_factory=dict)
    defects: dict[str, list[str]] = dataclasses.field(default_factory=dict)

    def add(self, converted: _Converted) -> None:
        """Counts one question."""
        self.questions += 1
        if converted.error is not None:
            reason, message = converted.error
            entry = {"question_id": converted.question_id, "message": message}
            self.dropped.setdefault(reason, []).append(entry)
            return
        self.examples += len(converted.examples)
        for kind, count in converted.cuts:
            cut = self.cuts.setdefault(kind, {"examples": 0, "total": 0})
            cut["examples"] += 1
            cut["total"] += count

    def write(self, path: str | os.PathLike) -> None:
        """Writes all of it as JSON, the reasons with their counts first."""
        content = dataclasses.asdict(self)
        content["dropped"] = {reason: len(found) for reason, found in self.dropped.items()}
        content["dropped_questions"] = self.dropped
        content["defects"] = {kind: len(messages) for kind, messages in self.defects.items()}
        content["defect_messages"] = self.defects
        with atomic_path(path) as temporary, tf.io.gfile.GFile(temporary, "w") as file:
            json.dump(content, file, indent=1, ensure_ascii=False, sort_keys=True)

    def __str__(self):
        kept = self.questions - sum(map(len, self.dropped.values()))
        share = f" ({kept / self.questions:.1%})" if self.questions else ""
        parts = [f"{self.examples} examples of {self.questions} questions{share}"]
        parts += [f"{len(found)} dropped ({reason})" for reason, found in self.dropped.items()]
        parts += [f"{len(messages)} {kind}" for kind, messages in self.defects.items()]
        parts += [
            f"{Cut(kind, cut['total'])} in {cut['examples']} examples"
            for kind, cut in self.cuts.items()
        ]
        return "; ".join(parts)


def interactions_path(output_dir: str | os.PathLike, split: str) -> str:
    """Where the interactions of a split are."""
    return os.path.join(output_dir, "interactions", f"{split}.tfrecord")


def examples_path(output_dir: str | os.PathLike, split: str) -> str:
    """Where the examples of a split are."""
    return os.path.join(output_dir, "tf_examples", f"{split}.tfrecord")


def create_data(
    splits: Mapping[str, Iterable[interaction_pb2.Interaction]],
    output_dir: str | os.PathLike,
    converter: ExampleConverter,
    *,
    test_batch_size: int = 32,
    processes: int = 1,
    seed: int = 0,
) -> dict[str, Report]:
    """Writes the interactions, examples and reports of all splits.

    The examples of "train" are shuffled; those of other splits keep their order and are filled up
    with empty ones to a multiple of the batch size, as accelerators need it. Running it again
    gives the same files.

    Args:
        splits: name -> interactions. Readers that count what is wrong with their files have it in
            an attribute `defects`, see `Report`.
        output_dir: see the top of this module.
        converter: makes the examples.
        test_batch_size: of all splits but "train".
        processes: that convert at the same time. Each imports TensorFlow first, which takes
            seconds, so 1 is the fastest for a few thousand questions. With more, the main module
            must be one that can be imported (`if __name__ == "__main__":`).
        seed: of the shuffling.

    Raises:
        InputError: a split has no interactions, or none of its questions gives an example.
    """
    reports = {}
    with _workers(converter, processes) as convert:
        for split, found in splits.items():
            source = interactions_path(output_dir, split)
            records.write_interactions(found, source)
            reports[split] = _convert(
                records.read_interactions(source),
                converter,
                examples_path(output_dir, split),
                convert,
                shuffle_seed=seed if split == TRAIN else None,
                multiple_of=1 if split == TRAIN else test_batch_size,
                defects=getattr(found, "defects", {}),
            )
    return reports


def convert_split(
    interactions: Iterable[interaction_pb2.Interaction],
    converter: ExampleConverter,
    path: str | os.PathLike,
    *,
    processes: int = 1,
    shuffle_seed: int | None = None,
    multiple_of: int = 1,
) -> Report:
    """Writes the examples of one split and, beside them, the report.

    Args:
        interactions: whose questions become examples.
        converter: makes the examples.
        path: of the examples.
        processes: see `create_data`.
        shuffle_seed: of the shuffling; None keeps the order.
        multiple_of: fill up with empty examples to a multiple of this.

    Raises:
        InputError: there is no interaction, or no question gives an example.
    """
    with _workers(converter, processes) as convert:
        return _convert(interactions, converter, path, convert, shuffle_seed, multiple_of)


def _convert(
    interactions, converter, path, convert, shuffle_seed, multiple_of, defects=()
) -> Report:
    """As `convert_split`, with workers that are running already."""
    path, report = os.fspath(path), Report(defects=dict(defects))
    progress = tqdm(desc=os.path.basename(path), unit=" questions", disable=None)
    chunks = convert(_serialized(interactions, report))
    examples = _shuffled(_counted(chunks, report, progress), shuffle_seed)
    with progress:
        records.write_examples(_padded(examples, converter, report, path, multiple_of), path)
    report.write(f"{os.path.splitext(path)[0]}.report.json")
    return report


def _serialized(interactions, report: Report) -> Iterator[bytes]:
    for interaction in interactions:
        report.interactions += 1
        yield interaction.SerializeToString()


def _counted(chunks: Iterable[list[_Converted]], report: Report, progress) -> Iterator[bytes]:
    """The examples, each question being counted."""
    for converted in itertools.chain.from_iterable(chunks):
        report.add(converted)
        progress.update()
        yield from converted.examples


def _shuffled(examples: Iterator[bytes], seed: int | None) -> Iterable[bytes]:
    if seed is None:
        return examples
    found = list(examples)
    random.Random(seed).shuffle(found)
    return found


def _padded(examples, converter, report: Report, path: str, multiple_of: int) -> Iterator[bytes]:
    """Uncompressed examples and, behind them, what fills the last batch."""
    for example in examples:
        yield zlib.decompress(example)
    if not report.examples:
        raise InputError(f"{path}: no question gives an example: {report}")
    report.padding_examples = -report.examples % multiple_of
    yield from itertools.repeat(converter.empty_example(), report.padding_examples)


@contextlib.contextmanager
def _workers(converter: ExampleConverter, processes: int):
    """A function from serialized interactions to lists of `_Converted`, in order."""
    if processes == 1:
        yield lambda found: (_convert_chunk(converter, chunk) for chunk in _chunks(found))
        return
    executor = concurrent.futures.ProcessPoolExecutor(
        processes,
        # TensorFlow does not survive a fork.
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start_worker,
        initargs=(pickle.dumps(converter),),
    )
    with executor:
        try:
            yield lambda found: _in_order(executor, _chunks(found), processes * _CHUNKS_AHEAD)
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            raise


def _chunks(found: Iterable[bytes]) -> Iterator[list[bytes]]:
    found = iter(found)
    while chunk := list(itertools.islice(found, _CHUNK)):
        yield chunk


def _in_order(executor, chunks: Iterator[list[bytes]], ahead: int) -> Iterator[list[_Converted]]:
    waiting = collections.deque()
    for chunk in chunks:
        waiting.append(executor.submit(_convert_in_worker, chunk))
        if len(waiting) >= ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


_worker_converter: ExampleConverter | None = None


def _start_worker(pickled_converter: bytes) -> None:
    """Builds the converter of this process; its siblings use the other cores."""
    global _worker_converter
    threading.Thread(target=_end_with_parent, daemon=True).start()
    tf.config.set_visible_devices([], "GPU")
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    _worker_converter = pickle.loads(pickled_converter)


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for work for ever."""
    multiprocessing.parent_process().join()
    os._exit(1)


def _convert_in_worker(chunk: list[bytes]) -> list[_Converted]:
    return _convert_chunk(_worker_converter, chunk)


def _convert_chunk(converter: ExampleConverter, chunk: list[bytes]) -> list[_Converted]:
    found = [interaction_pb2.Interaction.FromString(serialized) for serialized in chunk]
    questions = (question for interaction in found for question in interaction.questions)
    results = []
    for question, outcome in zip(questions, converter.convert_all(*found), strict=True):
        if isinstance(outcome, ConversionError):
            error = (outcome.reason, str(outcome))
            results.append(_Converted(question.id, (), error=error))
        else:
            examples = tuple(map(_compressed, outcome.examples))
            results.append(_Converted(question.id, examples, outcome.cuts))
    return results


def _compressed(example: tf.train.Example) -> bytes:
    # The fastest level: nearly all of it are zeros.
    return zlib.compress(example.SerializeToString(deterministic=True), 1)
