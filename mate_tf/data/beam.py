"""The conversion of `create_data` as an Apache Beam pipeline, for one or many machines.

Interactions are read in the process that starts the pipeline and written to
<output_dir>/interactions. The pipeline does all further steps. Examples and reports equal those of
`create_data`, byte for byte, but the examples are in another order.

Needs the extra `beam`.
"""

import contextlib
import hashlib
import io
import logging
import os
import pickle
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

import tensorflow as tf

from mate_tf.data import records
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.records import create_data as in_process
from mate_tf.data.records import parts
from mate_tf.data.records.create_data import Report
from mate_tf.errors import InputError
from mate_tf.files import paths
from mate_tf.files.atomic import atomic_path
from mate_tf.protos import interaction_pb2

try:
    # The environment that types are checked in lacks Beam, which brings other versions of others.
    import apache_beam as beam  # pyright: ignore[reportMissingImports]
    from apache_beam.io.filesystem import (  # pyright: ignore[reportMissingImports]
        CompressionTypes,
    )
    from apache_beam.options.pipeline_options import (  # pyright: ignore[reportMissingImports]
        PipelineOptions,
    )
except ImportError as error:
    raise InputError(f"Beam cannot be imported ({error}): pip install 'mate-tf[beam]'") from error

RUNNERS = {
    # Not "DirectRunner": with this name, Beam may try to download another runner.
    "DIRECT": "apache_beam.runners.portability.fn_api_runner.FnApiRunner",
    "DATAFLOW": "DataflowRunner",
    "FLINK": "FlinkRunner",
    "SPARK": "SparkRunner",
    "PORTABLE": "PortableRunner",
}
"""Names of the runners in Beam."""

_WORKING = ".beam"  # folder for unfinished files, next to the examples
_REPORT = "report"
_BUCKETS = 64  # groups of examples; a worker shuffles one group in memory


def create_data(
    splits: Mapping[str, Iterable[interaction_pb2.Interaction]],
    output_dir: str | os.PathLike,
    converter: ExampleConverter,
    *,
    test_batch_size: int = 32,
    seed: int = 0,
    runner: str = "DIRECT",
    options: Sequence[str] = (),
) -> dict[str, Report]:
    """Writes the interactions, examples and reports of all splits, like `create_data.create_data`.

    The examples of "train" are shuffled. Those of other splits are in any order, with empty
    examples added up to a multiple of the batch size.

    Args:
        splits, output_dir, converter, test_batch_size: see `create_data.create_data`. All workers
            read the vocabulary and the interactions from the given paths.
        runner: one of `RUNNERS`.
        options: options of the runner, as on a command line, such as "--region=europe-west1".

    Raises:
        InputError: if a split has no interactions or gives no example, if the runner is not
            installed or rejects the options, or if the pipeline fails, such as when a worker ends.
    """
    output_dir = absolute(output_dir)
    paths.check_no_pattern(output_dir, output_dir)  # Beam, too, reads and writes by patterns
    pipeline = _pipeline(runner, options)
    known = {}
    for split, interactions in splits.items():
        source = in_process.interactions_path(output_dir, split)
        count = records.write_interactions(interactions, source)
        known[split] = Report(
            interactions=count, defects=dict(getattr(interactions, "defects", {}))
        )
    multiples = {split: 1 if split == in_process.TRAIN else test_batch_size for split in splits}
    with _working_folder(output_dir) as folder:
        with _failures(runner), pipeline:
            for split, multiple_of in multiples.items():
                source = in_process.interactions_path(output_dir, split)
                shuffle_seed = seed if split == in_process.TRAIN else None
                target = os.path.join(folder, split)
                _ = pipeline | split >> _Split(source, target, converter, shuffle_seed, multiple_of)
        reports = {}
        for split, multiple_of in multiples.items():
            with tf.io.gfile.GFile(os.path.join(folder, split + ".json")) as file:
                reports[split] = Report.merged([known[split], Report.from_json(file.read())])
            in_process.check_not_empty(reports[split], in_process.examples_path(output_dir, split))
            reports[split].padding_examples = _num_padding(reports[split], multiple_of)
        for split, report in reports.items():
            path = in_process.examples_path(output_dir, split)
            with atomic_path(path) as temporary:
                tf.io.gfile.rename(os.path.join(folder, split), temporary, overwrite=True)
            report.write(in_process.report_path(path))
    return reports


def _pipeline(runner: str, options: Sequence[str]) -> beam.Pipeline:
    """Makes a pipeline; raises InputError for unknown runners and wrong options."""
    if runner not in RUNNERS:
        raise InputError(f"runner {runner!r} is not one of {', '.join(RUNNERS)}")
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            parsed = PipelineOptions(list(options))
            parsed.get_all_options(retain_unknown_options=True)  # raises for wrong values
        return beam.Pipeline(RUNNERS[runner], parsed)
    except (ImportError, ValueError, SystemExit) as error:
        if isinstance(error, SystemExit):  # raised by argparse after it printed the reason
            error = said.getvalue().strip().rpartition(": error: ")[2]
        given = f" with {' '.join(options)}" if options else ""
        raise InputError(f"Beam's {runner} runner{given}: {error}") from None


def absolute(path: str | os.PathLike) -> str:
    """Returns an absolute path: workers may run in another folder than the command."""
    path = os.fspath(path)
    return path if "://" in path else os.path.abspath(path)


@contextlib.contextmanager
def _failures(runner: str) -> Iterator[None]:
    """Turns the errors of a running pipeline, of any type, into InputErrors of one line."""
    logger = logging.getLogger()
    logger.addFilter(_is_no_error_of_the_job)
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        *_, reason = str(error).strip().splitlines() or [type(error).__name__]
        raise InputError(
            f"Beam's {runner} runner: the pipeline failed: {reason.strip()}; after a worker was "
            "lost run the same command again"
        ) from error
    finally:
        logger.removeFilter(_is_no_error_of_the_job)


def _is_no_error_of_the_job(record: logging.LogRecord) -> bool:
    """Returns False for errors that Beam logs with their stack trace, and then raises."""
    return record.module != "portable_runner" or record.levelno < logging.ERROR


@contextlib.contextmanager
def _working_folder(output_dir: str | os.PathLike) -> Iterator[str]:
    """Yields a new folder and removes it at the end. The folder of a killed process is emptied."""
    path = os.path.join(os.path.dirname(in_process.examples_path(output_dir, "")), _WORKING)
    if tf.io.gfile.exists(path):
        tf.io.gfile.rmtree(path)
    tf.io.gfile.makedirs(path)
    try:
        yield path
    finally:
        tf.io.gfile.rmtree(path)


def _num_padding(report: Report, multiple_of: int) -> int:
    return -report.examples % multiple_of


class _Split(beam.PTransform):
    """Converts a file of interactions to the examples `target` and the report `target`.json."""

    def __init__(self, source, target, converter, shuffle_seed, multiple_of):
        super().__init__()
        self._source, self._target, self._converter = source, target, converter
        self._seed, self._multiple_of = shuffle_seed, multiple_of

    def expand(self, pipeline):
        """Builds the steps of the pipeline."""
        converted = (
            pipeline
            | "read" >> beam.io.ReadFromTFRecord(self._source)
            | "distribute" >> beam.Reshuffle()
            | "chunks" >> beam.BatchElements(parts.CHUNK, parts.CHUNK)
            | "convert" >> beam.ParDo(_Convert(self._converter)).with_outputs(_REPORT, main="it")
        )
        report = converted[_REPORT] | "merge" >> beam.CombineGlobally(Report.merged)
        _ = (
            report
            | "to json" >> beam.Map(Report.to_json)
            | "write report"
            >> beam.io.WriteToText(f"{self._target}.json", num_shards=1, shard_name_template="")
        )
        empty = self._converter.empty_example().SerializeToString(deterministic=True)
        padding = report | "pad" >> beam.FlatMap(_padding, zlib.compress(empty), self._multiple_of)
        examples = (converted["it"], padding) | beam.Flatten()
        if self._seed is not None:
            examples = (
                examples
                | "key" >> beam.Map(_keyed, self._seed)
                | "group" >> beam.GroupByKey()
                | "shuffle" >> beam.FlatMap(_in_order_of_keys)
            )
        return (
            examples
            | "decompress" >> beam.Map(zlib.decompress)
            | "write"
            >> beam.io.WriteToTFRecord(
                self._target,
                num_shards=1,
                shard_name_template="",
                compression_type=CompressionTypes.GZIP,
            )
        )


class _Convert(beam.DoFn):
    """Converts lists of interactions to compressed examples, with a report for each list."""

    def __init__(self, converter: ExampleConverter):
        self._pickled = pickle.dumps(converter)

    def setup(self):
        """Builds the converter of this worker."""
        self._converter = pickle.loads(self._pickled)

    def process(self, chunk: list[bytes]):
        """Yields the examples of serialized interactions, then their report."""
        report = Report()
        for converted in parts.convert(self._converter, chunk):
            report.add(converted)
            yield from converted.examples
        yield beam.pvalue.TaggedOutput(_REPORT, report)


def _padding(report: Report, empty: bytes, multiple_of: int) -> list[bytes]:
    """Returns the empty examples to add."""
    return [empty] * _num_padding(report, multiple_of)


def _keyed(example: bytes, seed: int) -> tuple[int, tuple[bytes, bytes]]:
    """Returns a bucket, and a pair of sort key and example; both are random, by a hash."""
    key = hashlib.sha256(b"%d " % seed + example).digest()
    return int.from_bytes(key[:4], "big") % _BUCKETS, (key, example)


def _in_order_of_keys(bucket: tuple[int, Iterable[tuple[bytes, bytes]]]) -> list[bytes]:
    return [example for _, example in sorted(bucket[1])]
