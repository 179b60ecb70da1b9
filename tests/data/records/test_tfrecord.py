"""Record files: complete or not there; damage is named; batches."""

import math
import os

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import errors
from mate_tf.data import features, records
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.errors import InputError
from mate_tf.protos import interaction_pb2
from mate_tf.tables.table import Table

VOCABULARY = ["[PAD]", "[EMPTY]", "[UNK]", "[CLS]", "[SEP]", "red", "who"]
LENGTH = 24


@pytest.fixture(scope="module")
def examples(vocabulary_file):
    """Eleven examples of 4 to 14 tokens: question i has i cells of one token."""
    converter = ExampleConverter(vocabulary_file(VOCABULARY), LENGTH)
    found = []
    for number in range(11):
        table = Table.from_rows(["red"], [["red"]] * number, table_id=f"table{number}")
        question = Question(f"q{number}-0_0", "who", float_value=number)
        found.append(converter.convert(interaction_from_table(table, "q", [question]), 0))
    return found


@pytest.fixture
def path(examples, tmp_path):
    path = tmp_path / "train.tfrecord"
    assert records.write_examples(examples, path) == 11
    return path


def ids(batch):
    return [question_id[0].decode() for question_id in batch["question_id"].numpy()]


def all_ids(dataset):
    return [question_id for batch in dataset for question_id in ids(batch)]


def test_round_trip(examples, path, tmp_path):
    assert list(records.read_examples(path)) == examples
    assert records.count_records(path) == 11
    assert path.read_bytes()[:2] == b"\x1f\x8b"
    asked = [interaction_pb2.Question(id="q")]
    interactions = [interaction_pb2.Interaction(id=each, questions=asked) for each in "abc"]
    plain = tmp_path / "new" / "dev.tfrecord"
    assert records.write_interactions(interactions, plain) == 3
    assert list(records.read_interactions(plain)) == interactions
    assert [os.path.basename(found) for found in os.listdir(plain.parent)] == ["dev.tfrecord"]


def test_no_records(tmp_path):
    assert records.write_examples([], tmp_path / "none") == 0
    assert list(records.read_examples(tmp_path / "none")) == []
    with pytest.raises(InputError, match="no records"):
        records.dataset(tmp_path / "none", 2)
    with pytest.raises(InputError, match="no such file"):
        records.dataset(tmp_path / "absent*", 2)


def test_names_of_folders_are_no_patterns(examples, tmp_path):
    for folder in ("r*", "r1", "lr=[1]"):
        records.write_examples(examples, tmp_path / folder / "train.tfrecord")
    assert records.count_records(tmp_path / "r*" / "train.tfrecord") == len(examples)
    assert records.count_records(tmp_path / "lr=[1]" / "t*") == len(examples)
    assert records.count_records(tmp_path / "r?" / "train.tfrecord") == 2 * len(examples)


def test_a_pipe_is_refused_at_once(tmp_path):
    path = tmp_path / "train.tfrecord"
    os.mkfifo(path)
    for function in (records.count_records, lambda path: records.dataset(path, 1)):
        with pytest.raises(InputError, match=r"train.tfrecord: cannot .*: not a regular file"):
            function(path)


@pytest.mark.parametrize("value", [10**6, -1, 2])
@pytest.mark.parametrize("buckets", [None, [8]])
def test_a_mask_that_is_none(examples, tmp_path, value, buckets):
    """Its sum would be a number of tokens."""
    broken = tf.train.Example.FromString(examples[1].SerializeToString())
    broken.features.feature["input_mask"].int64_list.value[0] = value
    records.write_examples([examples[0], broken], tmp_path / "broken")
    batches = records.dataset(tmp_path / "broken", 2, buckets=buckets)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        list(batches)
    assert errors.is_of_files(caught.value)
    assert errors.on_one_line(caught.value).endswith(errors.NO_MASK)


def test_shards(examples, tmp_path):
    records.write_examples(examples, tmp_path / "train.tfrecord", shards=3)
    names = [f"train-0000{index}-of-00003.tfrecord" for index in range(3)]
    assert sorted(os.listdir(tmp_path)) == names
    pattern = tmp_path / "train-*"
    assert records.count_records(pattern) == 11
    assert all_ids(records.dataset(pattern, 4))[:3] == ["q0-0_0", "q3-0_0", "q6-0_0"]
    shuffled = all_ids(records.dataset(pattern, 4, shuffle=11, seed=1))
    assert sorted(shuffled) == sorted(f"q{number}-0_0" for number in range(11))
    (tmp_path / names[1]).unlink()
    with pytest.raises(InputError, match=r"train-\*: 2 shards found, expected 3"):
        records.dataset(pattern, 4)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.7, 0.99, 1])
@pytest.mark.parametrize("compressed", [True, False])
def test_damaged_file(examples, path, share, compressed):
    """Cut off behind a share of its bytes, or with a changed one."""
    if not compressed:
        records.write_interactions([e.SerializeToString() for e in examples], path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x55 if share == 1 else 0
    path.write_bytes(content[: int(len(content) * share)])
    for read in (records.count_records, lambda name: list(records.read_examples(name))):
        with pytest.raises(InputError, match=rf"{path}: damaged at record \d+"):
            read(path)
    with pytest.raises(InputError, match="damaged at record"):
        records.dataset(path, 2)


def test_record_number_of_the_damage(examples, path):
    records.write_interactions([e.SerializeToString() for e in examples], path)
    one = len(examples[0].SerializeToString()) + 16
    path.write_bytes(path.read_bytes()[: one * 3 + 40])
    with pytest.raises(InputError, match="record 4: the file ends within it"):
        records.count_records(path)


def test_other_files(tmp_path, examples):
    text = tmp_path / "text"
    text.write_text("this is not a file of records, but some text", encoding="utf-8")
    with pytest.raises(InputError, match="not a TFRecord file"):
        records.count_records(text)
    interactions = tmp_path / "interactions"
    records.write_interactions([interaction_pb2.Interaction(id="x")], interactions)
    with pytest.raises(InputError, match=r"not tf\.train\.Examples|lack input_ids"):
        records.dataset(interactions, 2)
    other = tf.train.Example()
    other.CopyFrom(examples[0])
    del other.features.feature["row_ids"]
    records.write_examples([other], tmp_path / "other")
    with pytest.raises(InputError, match="its examples lack row_ids"):
        records.dataset(tmp_path / "other", 2)
    with pytest.raises(InputError, match="cannot be read"):
        records.count_records(tmp_path)
    records.write_examples([b"\xff\xff\xff"], tmp_path / "bytes")
    with pytest.raises(InputError, match="record 1 is not an Example"):
        list(records.read_examples(tmp_path / "bytes"))
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file/below: cannot create the folder"):
        records.write_examples([b"x"], tmp_path / "file" / "below" / "train.tfrecord")


def test_batches(path):
    batches = list(records.dataset(path, 4))
    assert [len(ids(batch)) for batch in batches] == [4, 4, 3]
    assert all_ids(batches) == [f"q{number}-0_0" for number in range(11)]
    batch = batches[1]
    assert set(batch) == set(features.names(features.ALL))
    for spec in features.ALL:
        assert batch[spec.name].shape == (4, LENGTH if spec.per_token else spec.size), spec.name
        if spec.dtype == "int64" and spec.name != "table_id_hash":
            assert batch[spec.name].dtype == tf.int32
    assert batch["table_id_hash"].dtype == tf.int64
    assert batch["numeric_values"].dtype == tf.float32
    assert batch["input_mask"].numpy().sum(axis=1).tolist() == [8, 9, 10, 11]
    assert batch["answer"].numpy().ravel().tolist() == [4, 5, 6, 7]


def test_iterators_are_freed_at_once(path):
    """Autotuning would let whoever frees one wait, up to a minute."""
    assert records.dataset(path, 4).options().autotune.enabled is False


def test_longer_and_shorter_batches(path):
    batch = next(iter(records.dataset(path, 4, seq_length=40)))
    for spec in features.ALL:
        if spec.per_token:
            added = batch[spec.name].numpy()[:, LENGTH:]
            np.testing.assert_array_equal(added, np.full((4, 16), spec.padding))
    with pytest.raises(InputError, match="24 tokens, more than 10; create them again"):
        records.dataset(path, 4, seq_length=10)


def test_shards_of_different_lengths(examples, tmp_path):
    """As when one of them is left from an earlier conversion."""
    shorter = tf.train.Example()
    shorter.CopyFrom(examples[0])
    del shorter.features.feature["input_ids"].int64_list.value[16:]
    names = [str(tmp_path / f"train-0000{index}-of-00002.tfrecord") for index in (0, 1)]
    records.write_examples([examples[0]], names[0])
    records.write_examples([shorter], names[1])
    message = f"{names[1]}: its examples have 16 tokens, those of {names[0]} have {LENGTH}"
    with pytest.raises(InputError, match=message):
        records.dataset(tmp_path / "train-*", 2)


def test_buckets(path):
    # Examples have 4 to 14 tokens: 4 5 6 | 7 8 9 10 | 11 12 13 14.
    batches = list(records.dataset(path, 2, buckets=[10, 6, 99]))
    shapes = sorted(tuple(batch["input_ids"].shape) for batch in batches)
    assert shapes == [(1, 6), (2, 6), (2, 10), (2, 10), (2, 24), (2, 24)]
    for batch in batches:
        length = batch["input_ids"].shape[1]
        tokens = batch["input_mask"].numpy().sum(axis=1)
        assert tokens.max() <= length
        assert tokens.min() > {6: 0, 10: 6, 24: 10}[length]
    assert sorted(all_ids(batches)) == sorted(f"q{number}-0_0" for number in range(11))
    whole = {
        name: batch["row_ids"][index].numpy()
        for batch in records.dataset(path, 2)
        for index, name in enumerate(ids(batch))
    }
    for batch in batches:
        for index, name in enumerate(ids(batch)):
            cut = batch["row_ids"][index].numpy()
            np.testing.assert_array_equal(cut, whole[name][: len(cut)])


def test_batches_of_long_examples_are_smaller(path):
    batches = list(records.dataset(path, 4, buckets=[6, 10], max_batch_tokens=20))
    shapes = sorted(tuple(batch["input_ids"].shape) for batch in batches)
    # 20 tokens are three examples of 6, two of 10, and not even one of 24.
    assert shapes == [(1, 24)] * 4 + [(2, 10)] * 2 + [(3, 6)]


def test_curriculum_begins_with_short_examples(path):
    dataset = records.dataset(path, 2, repeat=True, curriculum=records.Curriculum(6, 5))
    longest = [int(batch["input_mask"].numpy().sum(axis=1).max()) for batch in dataset.take(12)]
    assert max(longest[:5]) <= 6
    assert max(longest[5:]) == 14
    without = records.dataset(path, 2, repeat=True, curriculum=records.Curriculum(6, 0))
    assert max(batch["input_mask"].numpy().sum(axis=1).max() for batch in without.take(6)) == 14


@pytest.mark.parametrize("buckets", [None, [8]])
def test_fill_remainder(path, buckets):
    batches = list(records.dataset(path, 4, buckets=buckets, fill_remainder=True))
    assert {batch["input_ids"].shape[0] for batch in batches} == {4}
    found = all_ids(batches)
    assert sorted(i for i in found if i != "EMPTY-0_0") == sorted(
        f"q{number}-0_0" for number in range(11)
    )
    last = next(batch for batch in batches if "EMPTY-0_0" in ids(batch))
    assert last["input_mask"][-1].numpy().sum() == 1
    assert last["input_mask"][-1, 0] == 1
    assert bytes(i - 1 for i in last["question_id_ints"][-1].numpy() if i) == b"EMPTY-0_0"
    assert math.isnan(last["answer"][-1, 0])
    assert last["table_id"].numpy()[-1, 0] == b""


def test_drop_remainder(path):
    batches = list(records.dataset(path, 4, drop_remainder=True))
    assert [len(ids(batch)) for batch in batches] == [4, 4]
    spec = records.dataset(path, 4, drop_remainder=True).element_spec
    assert spec["input_ids"].shape == (4, LENGTH)
    assert spec["answer"].shape == (4, 1)


def test_shuffling_and_repeating(path):
    first = all_ids(records.dataset(path, 4, shuffle=11, seed=3))
    assert first == all_ids(records.dataset(path, 4, shuffle=11, seed=3))
    assert first != all_ids(records.dataset(path, 4, shuffle=11, seed=4))
    assert first != sorted(first)
    repeated = records.dataset(path, 11, shuffle=11, seed=3, repeat=True, drop_remainder=True)
    rounds = [ids(batch) for batch in repeated.take(3)]
    assert rounds[0] != rounds[1]
    assert sorted(rounds[0]) == sorted(rounds[1]) == sorted(rounds[2])


@pytest.mark.parametrize("buckets", [None, [8]])
@pytest.mark.parametrize("curriculum", [None, records.Curriculum(6, 3)])
def test_skipped_batches(path, buckets, curriculum):
    def batches(skip):
        options = {"shuffle": 11, "seed": 3, "repeat": True, "skip": skip, "multiple_of": 2}
        data = records.dataset(path, 2, buckets=buckets, curriculum=curriculum, **options)
        return [ids(batch) for batch in data.take(20 - skip)]

    assert batches(7) == batches(0)[7:]


def test_order_after_the_curriculum_is_that_of_the_seed(path):
    """Whatever has been read of the curriculum's last epoch, and how far ahead."""

    def batches(num_batches):
        curriculum = records.Curriculum(6, num_batches)
        options = {"shuffle": 11, "seed": 3, "repeat": True, "curriculum": curriculum}
        data = records.dataset(path, 2, **options)
        return [ids(batch) for batch in data.skip(num_batches).take(6)]

    assert batches(1) == batches(20)


def test_reads_records_of_the_reference(goldens):
    path = goldens / "tokenization" / "open" / "wtq6.examples_s128_drop.tfrecord"
    batch = next(iter(records.dataset(path, 8)))
    assert batch["input_ids"].shape == (8, 128)
    assert ids(batch)[-2:] == ["EMPTY-0_0"] * 2
