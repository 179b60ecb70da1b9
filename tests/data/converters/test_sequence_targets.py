"""Texts with a text to write: target_ids, what is cut, padding, and records read back."""

import pickle

import numpy as np
import pytest

from mate_tf.data import records
from mate_tf.data.converters import sequences
from mate_tf.data.converters.sequences import TARGET_CUT, TargetConverter
from mate_tf.errors import InputError

PAD, UNK, CLS, SEP, A, B, C = range(7)


@pytest.fixture
def make(tmp_path):
    """make(length, target): a converter of the symbols a, b, c."""
    sequences.make_vocabulary(tmp_path / "vocab.txt", "abc")

    def converter(length=8, target=5):
        options = {"max_target_length": target, "tokens": "symbols"}
        return TargetConverter(tmp_path / "vocab.txt", length, **options)

    return converter


def pair(text, target=None, name="x"):
    found = sequences.interaction(name, [text])
    if target is not None:
        found.questions[0].answer.answer_texts.append(target)
    return found


def ids(example, name):
    return list(example.features.feature[name].int64_list.value)


def test_text_and_target(make):
    first, second = make().convert_all(pair("a b c", "c a"), pair("b", "a"))
    assert ids(first.example, "input_ids") == [CLS, A, B, C, PAD, PAD, PAD, PAD]
    assert ids(first.example, "target_ids") == [CLS, C, A, SEP, PAD]
    assert not first.cuts
    assert ids(second.example, "input_ids")[:3] == [CLS, B, PAD]
    assert ids(second.example, "target_ids") == [CLS, A, SEP, PAD, PAD]


def test_long_texts_are_cut_and_end(make):
    (found,) = make(length=8).convert_all(pair("a " * 10, "b c b c b"))
    assert ids(found.example, "input_ids") == [CLS, *[A] * 7]
    assert ids(found.example, "target_ids") == [CLS, B, C, B, SEP]
    assert {cut.kind: cut.count for cut in found.cuts}[TARGET_CUT] == 2


def test_no_target(make):
    """In a test set without gold texts there is nothing to write, but the text is read."""
    example = make().convert(pair("a b"))
    assert ids(example, "input_ids")[:3] == [CLS, A, B]
    assert ids(example, "target_ids") == [CLS, SEP, PAD, PAD, PAD]
    assert ids(make().empty_example(), "target_ids") == [PAD] * 5


def test_pickled(make):
    before = make()
    after = pickle.loads(pickle.dumps(before))
    one, other = (each.convert(pair("a b", "c")) for each in (before, after))
    assert one == other
    assert after.max_target_length == 5


def test_no_room(make):
    with pytest.raises(InputError, match="max_target_length=2: must be more than 2"):
        make(target=2)


def test_batches(make, tmp_path):
    converter = make()
    found = converter.convert_all(pair("a b", "c"), pair("a", "b b", "y"), pair("c", "a", "z"))
    path = tmp_path / "a.tfrecord"
    records.write_examples([each.example for each in found], path)
    first, second = records.dataset(path, 2, fill_remainder=True).as_numpy_iterator()
    assert first["target_ids"].dtype == np.int32
    np.testing.assert_array_equal(first["target_ids"], [[CLS, C, SEP, 0, 0], [CLS, B, B, SEP, 0]])
    np.testing.assert_array_equal(second["target_ids"], [[CLS, A, SEP, 0, 0], [0] * 5])
    np.testing.assert_array_equal(first["row_ids"], np.zeros([2, 8]))
    # Targets keep their length in a batch of short inputs.
    short, *_ = records.dataset(path, 1, buckets=[4, 8]).as_numpy_iterator()
    assert short["input_ids"].shape == (1, 4)
    assert short["target_ids"].shape == (1, 5)


def test_targets_of_different_lengths_do_not_mix(make, tmp_path):
    for length in (5, 6):
        example = make(target=length).empty_example()
        records.write_examples([example], tmp_path / f"{length}.tfrecord")
    with pytest.raises(InputError, match="texts to write, or of texts of this length"):
        records.dataset(tmp_path / "*.tfrecord", 1)
