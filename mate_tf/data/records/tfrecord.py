"""Reads and writes TFRecord files of interactions and examples, and makes batches.

Files are written atomically, so a reader never sees an incomplete file. Interactions are stored
without compression and examples with GZIP, as in google-research/tapas. Readers detect this.
"""

import contextlib
import dataclasses
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf
from google.protobuf.message import DecodeError, Message

from mate_tf import errors
from mate_tf.data import features as feature_names
from mate_tf.data import padding
from mate_tf.data.records import record_frames
from mate_tf.errors import InputError
from mate_tf.files import paths
from mate_tf.files.atomic import atomic_path
from mate_tf.protos import interaction_pb2

PREFETCHED = 4
"""Number of batches that are made before a step asks for them."""

_SHARD = re.compile(r"(?P<base>.*)-(?P<index>\d{5})-of-(?P<count>\d{5})(?P<extension>\.\w+)?")


def write_examples(
    examples: Iterable[tf.train.Example | bytes], path: str | os.PathLike, shards: int = 1
) -> int:
    """Writes examples to each of the shards in turn; returns their number.

    With one shard the file is `path`. Otherwise the names of the shards are derived from `path`,
    such as train-00000-of-00002.tfrecord from train.tfrecord.
    """
    return _write(examples, path, shards, record_frames.GZIP)


def write_interactions(
    interactions: Iterable[interaction_pb2.Interaction | bytes], path: str | os.PathLike
) -> int:
    """Writes interactions to one file; returns their number."""
    return _write(interactions, path, 1, record_frames.PLAIN)


def read_examples(pattern: str | os.PathLike) -> Iterator[tf.train.Example]:
    """Reads the examples of a file, or of all files that match a pattern, in order.

    Raises:
        InputError: if there is no such file, or it is damaged; names the file and the record.
    """
    return _read(pattern, tf.train.Example)


def read_interactions(
    pattern: str | os.PathLike | list[str],
) -> Iterator[interaction_pb2.Interaction]:
    """Reads interactions, with errors as for `read_examples`; each has a table or questions.

    Takes also a list of files.
    """
    return _read(pattern, interaction_pb2.Interaction)


def count_records(pattern: str | os.PathLike) -> int:
    """Reads all files and returns the number of records.

    Raises:
        InputError: if there is no such file, or it is damaged; names the file and the record.
    """
    return sum(record_frames.count(path) for path in _files(pattern))


class Curriculum(NamedTuple):
    """Curriculum with short examples first.

    Models learn sooner on short examples what they also need for long tables: which tokens match,
    and what a column is.

    Attributes:
        length: largest number of tokens of an example in the first batches.
        num_batches: number of these batches.
    """

    length: int
    num_batches: int


def dataset(
    pattern: str | os.PathLike,
    batch_size: int,
    *,
    seq_length: int | None = None,
    buckets: Sequence[int] | None = None,
    max_batch_tokens: int | None = None,
    curriculum: Curriculum | None = None,
    shuffle: int = 0,
    seed: int | None = None,
    repeat: bool = False,
    drop_remainder: bool = False,
    fill_remainder: bool = False,
    multiple_of: int = 1,
    skip: int = 0,
) -> tf.data.Dataset:
    """Makes a dataset of batches of examples.

    Args:
        pattern: TFRecord files of examples, a path or pattern.
        seq_length: tokens per example, at least those of the records; shorter examples are padded.
            None: the length in the records.
        buckets: sequence lengths of batches, up to `seq_length`, which is always added. An example
            is put into the smallest bucket that holds its tokens, and its padding is cut. A batch
            has examples of one bucket only. None: all batches have `seq_length` tokens.
        max_batch_tokens: largest number of examples times tokens of a batch. Batches of long
            buckets get fewer examples, at least one. None: all have `batch_size`.
        curriculum: limit for the first batches; None for no limit.
        shuffle: size of the buffer of the shuffling; 0 keeps the order.
        seed: seed of the shuffling; None for another order each time.
        repeat: repeat the examples without end.
        drop_remainder: drop the last, incomplete batch.
        fill_remainder: fill up incomplete batches with padding examples, which have the
            question_id "EMPTY-0_0".
        multiple_of: the size of all batches is a multiple of this number. For `max_batch_tokens`
            sizes are rounded down, and incomplete batches are filled up.
        skip: number of batches to leave out at the start.

    Returns:
        tf.data.Dataset of dicts with all of `features.ALL`: <int32>, <float32> or <string>, with
        shape [batch, seq] or [batch, size]; `table_id_hash` is <int64>. And `target_ids` <int32>
        [batch, target], if the records have it.

    Raises:
        InputError: if there is no such file, it is damaged, or it has examples of another kind or
            length.
    """
    files = _files(pattern)
    count_records(pattern)  # finds damage at the start, not after hours of training
    stored_length, stored = _stored(files)
    seq_length = seq_length or stored_length
    if stored_length > seq_length:
        raise InputError(
            f"{files[0]}: its examples have {stored_length} tokens, more than {seq_length};"
            " create them again with this max_seq_length"
        )
    lengths = sorted({length for length in buckets or () if length < seq_length} | {seq_length})
    sizes = [_fitting(batch_size, length, max_batch_tokens) for length in lengths]
    sizes = [max(multiple_of, size - size % multiple_of) for size in sizes]
    curriculum = curriculum if curriculum and curriculum.num_batches > 0 else None
    # Batches of one size need not be parsed to be left out.
    num_unparsed = skip * sizes[0] if repeat and len(lengths) == 1 and not curriculum else 0
    skip = 0 if num_unparsed else skip

    def examples(seed):
        """Examples in an order that follows from the seed alone."""
        records = _serialized(files, shuffle, seed)
        if shuffle:
            records = records.shuffle(shuffle, seed=seed)
        if repeat:
            records = records.repeat()
        return records.skip(num_unparsed).map(
            lambda record: _pad_tokens(_parse(record, stored_length, stored), seq_length),
            num_parallel_calls=tf.data.AUTOTUNE,
        )

    def batched(examples):
        if len(lengths) == 1:
            return examples.batch(sizes[0], drop_remainder=drop_remainder)
        return _bucket(examples, lengths, sizes, drop_remainder)

    batches = batched(examples(seed))
    if curriculum:
        # Shuffles of their own: with a common one, the order after the curriculum would depend on
        # how far ahead the last epoch of the curriculum has been read.
        own_seed = None if seed is None else seed + 1
        short = examples(own_seed).filter(lambda each: _num_tokens(each) <= curriculum.length)
        batches = batched(short).take(curriculum.num_batches).concatenate(batches)
    if skip:
        batches = batches.skip(skip)
    if fill_remainder:
        batches = batches.map(lambda batch: padding.fill(batch, batch_size))
    elif multiple_of > 1 and not drop_remainder:
        batches = batches.map(lambda batch: padding.fill_to_multiple(batch, multiple_of))
    return without_autotuning(batches.prefetch(PREFETCHED))


def without_autotuning(batches: tf.data.Dataset) -> tf.data.Dataset:
    """Returns batches whose iterators can be freed at once.

    The thread of tf.data's autotuning sleeps between two rounds, up to a minute in long trainings,
    and whoever frees the iterator waits for it.
    """
    options = tf.data.Options()
    options.autotune.enabled = False
    return batches.with_options(options)


def _write(messages, path, shards: int, compression: str) -> int:
    """Writes messages or serialized messages; returns their number."""
    path, count = os.fspath(path), 0
    with contextlib.ExitStack() as stack:
        targets = _shard_paths(path, shards)
        writers = [stack.enter_context(_atomic_writer(name, compression)) for name in targets]
        for count, message in enumerate(messages, start=1):
            if isinstance(message, Message):
                message = message.SerializeToString(deterministic=True)
            writers[(count - 1) % shards].write(message)
    return count


@contextlib.contextmanager
def _atomic_writer(path: str, compression: str):
    with atomic_path(path) as temporary, tf.io.TFRecordWriter(temporary, compression) as writer:
        yield writer


def _shard_paths(path: str, shards: int) -> list[str]:
    if shards == 1:
        return [path]
    base, extension = os.path.splitext(path)
    return [f"{base}-{index:05d}-of-{shards:05d}{extension}" for index in range(shards)]


def files_of(pattern: str | os.PathLike) -> list[str]:
    """Returns the files that match, sorted.

    Raises:
        InputError: if there are none, or shards are missing.
    """
    return _files(pattern)


def _files(pattern) -> list[str]:
    """Returns the files that match, sorted; raises InputError for incomplete sets of shards."""
    files = pattern if isinstance(pattern, list) else paths.matching(pattern)
    if not files:
        raise InputError(f"{pattern}: no such file")
    for path in files:
        paths.check_regular(path)
    shards = [match for match in map(_SHARD.fullmatch, files) if match]
    for base in {match["base"] for match in shards}:
        of_base = [match for match in shards if match["base"] == base]
        expected = max(int(match["count"]) for match in of_base)
        if [int(match["index"]) for match in of_base] != list(range(expected)):
            raise InputError(f"{base}-*: {len(of_base)} shards found, expected {expected}")
    return files


def _read(pattern, message_type) -> Iterator[Any]:
    """Yields the messages of all files that match."""
    kind = message_type.DESCRIPTOR.name
    for path in _files(pattern):
        for number, record in enumerate(record_frames.records(path), start=1):
            with contextlib.suppress(DecodeError):
                message = message_type.FromString(record)
                # Other messages can be parsed as an interaction, then with a strange id only.
                if kind != "Interaction" or (
                    (message.questions or message.HasField("table")) and _is_text(message)
                ):
                    yield message
                    continue
            raise InputError(f"{path}: record {number} is not an {kind}")


def _is_text(value) -> bool:
    """Returns whether all strings of a message are UTF-8. Protobuf gives others as bytes."""
    if isinstance(value, str | bytes):  # first, as most parts are
        return isinstance(value, str)
    if isinstance(value, Message):
        return all(_is_text(part) for _, part in value.ListFields())
    if isinstance(value, Mapping):
        return all(_is_text(part) for pair in value.items() for part in pair)
    return all(map(_is_text, value)) if isinstance(value, Iterable) else True


def _stored(files: Sequence[str]) -> tuple[int, tuple[feature_names.Feature, ...]]:
    """Returns length and features of all files; InputError if these differ or are empty."""
    kinds = {}
    for path in files:
        record = next(record_frames.unscanned_records(path), None)
        if record is not None:
            kinds[path] = _kind(path, record)
    if not kinds:
        raise InputError(f"{files[0]}: no records")
    (first, kind), *others = kinds.items()
    for path, (length, features) in others:
        if length != kind[0]:
            raise InputError(
                f"{path}: its examples have {length} tokens, those of {first} have {kind[0]};"
                " create them again with one max_seq_length"
            )
        if features != kind[1]:
            raise InputError(
                f"{first} and {path}: their examples differ: only one of them has examples of "
                "tables, or of texts to write, or of texts of this length"
            )
    return kind


def _kind(path: str, record: bytes) -> tuple[int, tuple[feature_names.Feature, ...]]:
    """Returns length and features of an example: ALL or SEQUENCE, with TARGET if there is one."""
    try:
        stored = tf.train.Example.FromString(record).features.feature
    except DecodeError as error:
        raise InputError(f"{path}: its records are not tf.train.Examples") from error
    target = feature_names.TARGET
    of_sequence = set(stored) - {target.name} == set(feature_names.names(feature_names.SEQUENCE))
    features = feature_names.SEQUENCE if of_sequence else feature_names.ALL
    missing = [feature.name for feature in features if feature.name not in stored]
    if missing:
        raise InputError(f"{path}: its examples lack {', '.join(missing)}")
    if target.name in stored:
        size = len(stored[target.name].int64_list.value)
        features = (*features, dataclasses.replace(target, size=size))
    return len(stored["input_ids"].int64_list.value), features


def _serialized(files: Sequence[str], shuffle: int, seed: int | None) -> tf.data.Dataset:
    """Returns a dataset of serialized examples; with shuffling, files are read in turns."""
    compression = record_frames.compression(files[0])
    if shuffle and len(files) > 1:
        names = tf.data.Dataset.from_tensor_slices(files).shuffle(len(files), seed=seed)
        return names.interleave(lambda name: tf.data.TFRecordDataset(name, compression))
    return tf.data.TFRecordDataset(files, compression)


def _parse(record, length: int, stored: Sequence[feature_names.Feature]) -> dict[str, tf.Tensor]:
    """Parses an example to <int32>, <float32> and <string>; missing features are padding."""
    spec = {
        feature.name: tf.io.FixedLenFeature(
            [length if feature.per_token else feature.size], feature.dtype
        )
        for feature in stored
    }
    parsed = tf.io.parse_single_example(record, spec)
    mask = parsed["input_mask"]
    is_mask = tf.reduce_all((mask == 0) | (mask == 1))  # its sum is the number of tokens
    with tf.control_dependencies([tf.debugging.Assert(is_mask, [errors.NO_MASK])]):
        parsed["input_mask"] = tf.identity(mask)
    parsed |= {
        feature.name: tf.fill([length], tf.cast(feature.padding, feature.dtype))
        for feature in feature_names.ALL
        if feature.name not in parsed
    }
    return {
        # The hash is an unsigned number of 32 bits; all other integers fit into int32.
        name: tf.cast(value, tf.int32)
        if value.dtype == tf.int64 and name != "table_id_hash"
        else value
        for name, value in parsed.items()
    }


def _pad_tokens(example: dict, length: int) -> dict[str, tf.Tensor]:
    """Pads features per token to `length`."""
    for feature in feature_names.ALL:
        if feature.per_token and example[feature.name].shape[0] < length:
            value = example[feature.name]
            padding = [[0, length - value.shape[0]]]
            example[feature.name] = tf.pad(
                value, padding, constant_values=tf.cast(feature.padding, value.dtype)
            )
    return example


def _fitting(batch_size: int, length: int, max_batch_tokens: int | None) -> int:
    """Returns the batch size for examples of `length` tokens."""
    return min(batch_size, max(1, max_batch_tokens // length)) if max_batch_tokens else batch_size


def _num_tokens(example):
    return tf.reduce_sum(example["input_mask"])


def _bucket(examples, lengths: Sequence[int], batch_sizes: Sequence[int], drop_remainder: bool):
    """Makes batches of examples of one bucket; examples are cut to the length of their bucket."""
    per_token = {feature.name for feature in feature_names.ALL if feature.per_token}

    def cut(example):
        bucket = tf.searchsorted(lengths, _num_tokens(example)[None], side="left")[0]
        length = tf.gather(lengths, bucket)
        return {
            name: value[:length] if name in per_token else value for name, value in example.items()
        }

    return examples.map(cut, num_parallel_calls=tf.data.AUTOTUNE).bucket_by_sequence_length(
        _num_tokens,
        bucket_boundaries=[length + 1 for length in lengths[:-1]],
        bucket_batch_sizes=batch_sizes,
        no_padding=True,
        drop_remainder=drop_remainder,
    )
