"""Converts interactions of data sets to files of examples, with a report for each file.

```
<output_dir>/interactions/<split>.tfrecord           all questions and tables
<output_dir>/tf_examples/<split>.tfrecord            examples, the input of models
<output_dir>/tf_examples/<split>.report.json         see `Report`
```

If a conversion is killed and started again, it continues with the unfinished parts. Finished parts
are in <output_dir>/tf_examples/.parts until all splits are converted.
"""

import collections
import concurrent.futures.process
import contextlib
import dataclasses
import itertools
import json
import multiprocessing
import os
import pickle
import random
import signal
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping

import tensorflow as tf
from tqdm import tqdm

from mate_tf.data import records
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.records.locks import writing
from mate_tf.data.records.parts import PART, ConversionResult, Parts, chunks
from mate_tf.errors import InputError
from mate_tf.files.atomic import write_text
from mate_tf.protos import interaction_pb2
from mate_tf.tables.linearize import Cut

TRAIN = "train"
_PARTS_AHEAD = 2  # per process, so that no process waits and memory is limited
_PARTS = ".parts"


@dataclasses.dataclass
class Report:
    """Report about the conversion of the questions of a split.

    Attributes:
        interactions, questions: numbers of interactions and questions.
        examples: number of examples; a question may have several.
        padding_examples: number of examples that only fill the last batch.
        dropped: reason -> ids and messages of the questions without an example.
        cuts: kind -> number of examples in which something was cut, and total count.
        defects: defects of the official files, kind -> messages. Questions left out because of a
            defect are not counted in `questions`.
    """

    interactions: int = 0
    questions: int = 0
    examples: int = 0
    padding_examples: int = 0
    dropped: dict[str, list[dict[str, str]]] = dataclasses.field(default_factory=dict)
    cuts: dict[str, dict[str, int]] = dataclasses.field(default_factory=dict)
    defects: dict[str, list[str]] = dataclasses.field(default_factory=dict)

    @classmethod
    def merged(cls, reports: Iterable["Report"]) -> "Report":
        """Merges reports about different questions."""
        result = cls()
        for report in reports:
            result.interactions += report.interactions
            result.questions += report.questions
            result.examples += report.examples
            result.padding_examples += report.padding_examples
            for reason, total in report.dropped.items():
                result.dropped.setdefault(reason, []).extend(total)
            for kind, cut in report.cuts.items():
                result._count_cut(kind, **cut)
            for kind, messages in report.defects.items():
                result.defects.setdefault(kind, []).extend(messages)
        return result

    @classmethod
    def from_json(cls, text: str) -> "Report":
        """Reads the result of `to_json`; dropped questions are then sorted by id."""
        content = json.loads(text)
        content["dropped"] = content.pop("dropped_questions")
        content["defects"] = content.pop("defect_messages")
        return cls(**content)

    def add(self, converted: ConversionResult) -> None:
        """Counts one question."""
        self.questions += 1
        if converted.error is not None:
            reason, message = converted.error
            entry = {"question_id": converted.question_id, "message": message}
            self.dropped.setdefault(reason, []).append(entry)
            return
        self.examples += len(converted.examples)
        for kind, count in converted.cuts:
            self._count_cut(kind, 1, count)

    def _count_cut(self, kind: str, examples: int, total: int) -> None:
        cut = self.cuts.setdefault(kind, {"examples": 0, "total": 0})
        cut["examples"] += examples
        cut["total"] += total

    def to_json(self) -> str:
        """Returns the report as JSON, which does not depend on the order of the questions."""
        content = dataclasses.asdict(self)
        content["dropped"] = {reason: len(entries) for reason, entries in self.dropped.items()}
        content["dropped_questions"] = {
            reason: sorted(entries, key=lambda entry: (entry["question_id"], entry["message"]))
            for reason, entries in self.dropped.items()
        }
        content["defects"] = {kind: len(messages) for kind, messages in self.defects.items()}
        content["defect_messages"] = self.defects
        return json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True)

    def write(self, path: str | os.PathLike) -> None:
        """Writes the report as JSON."""
        write_text(path, self.to_json())

    def __str__(self):
        kept = self.questions - sum(map(len, self.dropped.values()))
        share = f" ({kept / self.questions:.1%})" if self.questions else ""
        parts = [f"{self.examples} examples of {self.questions} questions{share}"]
        parts += [f"{len(entries)} dropped ({reason})" for reason, entries in self.dropped.items()]
        parts += [f"{len(messages)} {kind}" for kind, messages in self.defects.items()]
        parts += [
            f"{Cut(kind, cut['total'])} in {cut['examples']} examples"
            for kind, cut in self.cuts.items()
        ]
        return "; ".join(parts)


def interactions_path(output_dir: str | os.PathLike, split: str) -> str:
    """Returns the path of the interactions of a split."""
    return os.path.join(output_dir, "interactions", f"{split}.tfrecord")


def examples_path(output_dir: str | os.PathLike, split: str) -> str:
    """Returns the path of the examples of a split."""
    return os.path.join(output_dir, "tf_examples", f"{split}.tfrecord")


def interactions_of_examples(path: str | os.PathLike) -> str:
    """Returns the path of the interactions that a file of `examples_path` was made of."""
    folder, name = os.path.split(path)
    return interactions_path(os.path.dirname(folder), os.path.splitext(name)[0])


def report_path(path: str | os.PathLike) -> str:
    """Returns the path of the report about a file of examples."""
    return f"{os.path.splitext(path)[0]}.report.json"


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

    The examples of "train" are shuffled. Those of other splits keep their order, and empty examples
    are added up to a multiple of the batch size, as accelerators need full batches. A second run
    gives the same files.

    Args:
        splits: name -> interactions. A reader may count defects of its files in an attribute
            `defects`, see `Report`.
        output_dir: folder of the files, see the top of this module.
        test_batch_size: batch size of all splits but "train".
        processes: number of processes. Each process imports TensorFlow first, which takes seconds,
            so 1 is the fastest for a few thousand questions. With more than 1, the main module must
            be importable (`if __name__ == "__main__":`).

    Raises:
        InputError: if a split has no interactions, or none of its questions gives an example.
    """
    reports = {}
    parts = _parts_beside(examples_path(output_dir, TRAIN), converter)
    with (
        writing(examples_path(output_dir, TRAIN)),
        _workers(converter, processes, parts) as convert,
    ):
        for split, interactions in splits.items():
            source = interactions_path(output_dir, split)
            records.write_interactions(interactions, source)
            reports[split] = _convert(
                records.read_interactions(source),
                converter,
                examples_path(output_dir, split),
                convert,
                shuffle_seed=seed if split == TRAIN else None,
                multiple_of=1 if split == TRAIN else test_batch_size,
                defects=getattr(interactions, "defects", {}),
            )
        parts.remove()
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
    """Writes the examples of one split and, next to them, the report.

    Args:
        interactions: interactions with the questions to convert.
        processes: see `create_data`.
        shuffle_seed: seed of the shuffling; None keeps the order.
        multiple_of: empty examples are added up to a multiple of this number.

    Raises:
        InputError: if there is no interaction, or no question gives an example.
    """
    parts = _parts_beside(path, converter)
    with _workers(converter, processes, parts) as convert:
        report = _convert(interactions, converter, path, convert, shuffle_seed, multiple_of)
    parts.remove()
    return report


def check_not_empty(report: Report, path: str | os.PathLike) -> None:
    """Raises InputError if no question gives an example."""
    if not report.examples:
        first = next((f"; {examples[0]}" for examples in report.defects.values() if examples), "")
        raise InputError(f"{path}: no question yields an example: {report}{first}")


def _parts_beside(path: str | os.PathLike, converter: ExampleConverter) -> Parts:
    return Parts.create(converter, os.path.join(os.path.dirname(os.fspath(path)), _PARTS))


def _convert(
    interactions, converter, path, convert, shuffle_seed, multiple_of, defects=()
) -> Report:
    """Converts a split with running workers, see `convert_split`."""
    path, report = os.fspath(path), Report(defects=dict(defects))
    progress = tqdm(desc=os.path.basename(path), unit=" questions", disable=None)
    converted = convert(_serialized(interactions, report))
    examples = _shuffled(_counted(converted, report, progress), shuffle_seed)
    with progress:
        records.write_examples(_padded(examples, converter, report, path, multiple_of), path)
    report.write(report_path(path))
    return report


def _serialized(interactions, report: Report) -> Iterator[bytes]:
    """Yields serialized interactions and counts them in the report."""
    for interaction in interactions:
        report.interactions += 1
        yield interaction.SerializeToString(deterministic=True)


def _counted(parts: Iterable[list[ConversionResult]], report: Report, progress) -> Iterator[bytes]:
    """Yields the examples of all parts and adds their questions to the report."""
    for converted in itertools.chain.from_iterable(parts):
        report.add(converted)
        progress.update()
        yield from converted.examples


def _shuffled(examples: Iterator[bytes], seed: int | None) -> Iterable[bytes]:
    """Shuffles examples in memory; without a seed, returns them unchanged."""
    if seed is None:
        return examples
    shuffled = list(examples)
    random.Random(seed).shuffle(shuffled)
    return shuffled


def _padded(examples, converter, report: Report, path: str, multiple_of: int) -> Iterator[bytes]:
    """Yields the decompressed examples, then empty examples that fill the last batch."""
    for example in examples:
        yield zlib.decompress(example)
    check_not_empty(report, path)
    report.padding_examples = -report.examples % multiple_of
    yield from itertools.repeat(converter.empty_example(), report.padding_examples)


@contextlib.contextmanager
def _workers(converter: ExampleConverter, processes: int, parts: Parts):
    """Yields a function from serialized interactions to lists of `ConversionResult`, in order."""
    if processes == 1:
        yield lambda found: (parts.convert(converter, part) for part in chunks(found, PART))
        return
    executor = concurrent.futures.ProcessPoolExecutor(
        processes,
        # TensorFlow does not work in forked processes.
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start_worker,
        initargs=(pickle.dumps(converter), parts),
    )
    others = multiprocessing.active_children()
    with executor:
        try:
            yield lambda found: _in_order(executor, chunks(found, PART), processes * _PARTS_AHEAD)
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                if process not in others:
                    process.kill()  # it may import TensorFlow or convert for many seconds
            raise


def _in_order(
    executor, result: Iterator[list[bytes]], ahead: int
) -> Iterator[list[ConversionResult]]:
    """Converts parts in the workers, at most `ahead` at a time; yields the results in order."""
    waiting = collections.deque()
    for part in result:
        with _without_interrupts():
            waiting.append((part, executor.submit(_convert_in_worker, part)))
        if len(waiting) >= ahead:
            yield _result(*waiting.popleft())
    while waiting:
        yield _result(*waiting.popleft())


def _result(part: list[bytes], future) -> list[ConversionResult]:
    try:
        return future.result()
    except concurrent.futures.process.BrokenProcessPool as error:
        first, last = (interaction_pb2.Interaction.FromString(part[at]).id for at in (0, -1))
        raise InputError(
            f"a process was killed, perhaps for lack of memory, near interactions {first} "
            f"to {last}; use fewer --num_processes; finished parts are kept"
        ) from error


@contextlib.contextmanager
def _without_interrupts():
    """Keeps signals of the terminal from processes started here, which would print stack traces."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_of_worker: tuple[ExampleConverter, Parts]  # which `_start_worker` sets


def _start_worker(pickled_converter: bytes, parts: Parts) -> None:
    """Builds the converter of this worker, with one thread since other workers use other cores."""
    global _of_worker
    threading.Thread(target=_end_with_parent, daemon=True).start()
    tf.config.set_visible_devices([], "GPU")
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    _of_worker = pickle.loads(pickled_converter), parts


def _end_with_parent() -> None:
    """Ends this worker when its parent ends; otherwise it would wait for work forever."""
    if parent := multiprocessing.parent_process():
        parent.join()
    os._exit(1)


def _convert_in_worker(part: list[bytes]) -> list[ConversionResult]:
    converter, parts = _of_worker
    return parts.convert(converter, part)
