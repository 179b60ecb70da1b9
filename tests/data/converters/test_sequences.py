"""Sequences to examples: tokens, segments, towers, what is cut, and records read back."""

import functools
import itertools
import pickle

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.data import features, records
from mate_tf.data.converters import sequences
from mate_tf.errors import InputError
from mate_tf.tables.linearize import ConversionError

from ..conftest import values

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory):
    """vocabulary(kind): path of a vocabulary for it."""
    folder = tmp_path_factory.mktemp("vocabularies")
    pieces = {
        "symbols": ["a", "b", "[MAX"],
        "bytes": sequences.BYTE_PIECES,
        "word_pieces": ["plane", "##s", "fly"],
    }
    for kind, own in pieces.items():
        sequences.make_vocabulary(folder / kind, own)
    return lambda kind: folder / kind


@pytest.fixture(scope="module")
def converted(vocabulary):
    """converted(kind, *texts, **options): lists of input_ids, input_mask, segment_ids, and cuts."""

    @functools.cache
    def converter(kind, length, **options):
        return sequences.SequenceConverter(vocabulary(kind), length, tokens=kind, **options)

    def convert(kind, *texts, length=8, **options):
        (found,) = converter(kind, length, **options).convert_all(sequences.interaction("x", texts))
        if isinstance(found, ConversionError):
            raise found
        names = ("input_ids", "input_mask", "segment_ids")
        return [values(found.example, name) for name in names], found.cuts

    return convert


def test_vocabulary_file(vocabulary):
    assert vocabulary("symbols").read_text().split() == [*SPECIAL, "a", "b", "[MAX"]


def test_symbols(converted):
    (ids, mask, segments), cuts = converted("symbols", "a [MAX  b z")
    assert ids == [2, 4, 6, 5, 1, 0, 0, 0]
    assert mask == [1, 1, 1, 1, 1, 0, 0, 0]
    assert segments == [0] * 8
    assert cuts == ()


def test_bytes(converted):
    (ids, mask, _), cuts = converted("bytes", "aé\n")
    assert ids == [2, *(4 + byte for byte in (0x61, 0xC3, 0xA9, 0x0A)), 0, 0, 0]
    assert sum(mask) == 5
    assert cuts == ()


def test_word_pieces_as_bert(converted):
    (ids, mask, segments), _ = converted("word_pieces", "Planes fly")
    assert ids == [2, 4, 5, 6, 3, 0, 0, 0]
    (ids, mask, segments), _ = converted("word_pieces", "planes", "FLY")
    assert ids == [2, 4, 5, 3, 6, 3, 0, 0]
    assert mask == [1] * 6 + [0] * 2
    assert segments == [0, 0, 0, 0, 1, 1, 0, 0]


def test_two_towers(converted):
    (ids, mask, segments), cuts = converted("symbols", "a", "b b a a", num_towers=2)
    assert ids == [2, 4, 0, 0, 2, 5, 5, 4]
    assert mask == [1, 1, 0, 0, 1, 1, 1, 1]
    assert segments == [0, 0, 0, 0, 1, 1, 1, 1]
    assert [(cut.kind, cut.count) for cut in cuts] == [("sequence tokens", 1)]


def test_choices(converted):
    """Each is a pair with the first text, of which the longer one is cut."""
    (ids, mask, segments), cuts = converted(
        "word_pieces", "fly", "planes", "fly fly planes", length=12, num_choices=2
    )
    # [CLS] fly [SEP] plane ##s [SEP], and of the second choice two of four
    assert ids == [2, 6, 3, 4, 5, 3, 2, 6, 3, 6, 6, 3]
    assert mask == [1] * 12
    assert segments == [0, 0, 0, 1, 1, 1] * 2
    assert [(cut.kind, cut.count) for cut in cuts] == [("sequence tokens", 2)]
    (ids, mask, _), cuts = converted(
        "word_pieces", "fly", "fly", "planes", length=14, num_choices=2
    )
    assert ids == [2, 6, 3, 6, 3, 0, 0, 2, 6, 3, 4, 5, 3, 0]
    assert mask == [1] * 5 + [0] * 2 + [1] * 6 + [0]
    assert cuts == ()


@pytest.mark.parametrize(("kind", "piece"), [("symbols", "a"), ("word_pieces", "fly")])
def test_what_is_cut(converted, kind, piece):
    """All that fits is kept; of a pair the longer one loses, down to the length of the other."""
    some = (1, 2, 4, 5, 6, 12)
    for room in (8, 11, 16):
        for lengths in (*itertools.product(some), *itertools.product(some, some)):
            check_cuts(converted, kind, piece, room, lengths)


def check_cuts(converted, kind, piece, room, lengths):
    texts = (" ".join([piece] * length) for length in lengths)
    (_, mask, segments), cuts = converted(kind, *texts, length=room)
    ends = len(lengths) if kind == "word_pieces" else 0
    free = room - 1 - ends
    lost = max(0, sum(lengths) - free)
    assert sum(cut.count for cut in cuts) == lost
    assert sum(mask) == 1 + ends + sum(lengths) - lost
    if len(lengths) == 2:
        second = sum(segments) - bool(ends)
        first = sum(lengths) - lost - second
        for kept, length, other in ((first, *lengths), (second, *lengths[::-1])):
            assert kept == length or kept >= max(free // 2, free - other)


def test_no_example(converted, vocabulary):
    with pytest.raises(ConversionError, match="question x-0_0: No text"):
        converted("symbols", " ")
    with pytest.raises(ConversionError, match="No text"):
        converted("bytes", "a", "")
    with pytest.raises(ConversionError, match="No pair of texts"):
        converted("symbols", "a", num_towers=2)
    with pytest.raises(ConversionError, match="question x-0_0: Another number of choices: 1"):
        converted("symbols", "a", "b", num_choices=2)
    converter = sequences.SequenceConverter(vocabulary("symbols"), 8, tokens="symbols")
    with pytest.raises(ConversionError, match="Question id too long: 104 characters"):
        converter.convert(sequences.interaction("x" * 100, ["a"]))


def test_arguments_that_make_no_sense(vocabulary):
    path = vocabulary("symbols")
    with pytest.raises(InputError, match="'chars' is not one of word_pieces, bytes, symbols"):
        sequences.SequenceConverter(path, tokens="chars")
    with pytest.raises(InputError, match="max_seq_length=9 cannot be divided among 2 towers"):
        sequences.SequenceConverter(path, 9, tokens="symbols", num_towers=2)
    with pytest.raises(InputError, match="max_seq_length=8 cannot be divided among 3 choices"):
        sequences.SequenceConverter(path, 8, tokens="symbols", num_choices=3)
    with pytest.raises(InputError, match="cannot be divided among 0 choices"):
        sequences.SequenceConverter(path, 8, tokens="symbols", num_choices=0)
    with pytest.raises(InputError, match="symbols: is not a byte vocabulary: it lacks <0x00>"):
        sequences.SequenceConverter(path, tokens="bytes")


def test_it_can_be_sent_to_other_processes(vocabulary):
    converter = sequences.SequenceConverter(
        vocabulary("symbols"), 8, tokens="symbols", num_towers=2
    )
    pair = sequences.interaction("x", ["a b", "b"], class_index=1)
    again = pickle.loads(pickle.dumps(converter))
    assert again.convert(pair) == converter.convert(pair)


def test_records_and_back(vocabulary, tmp_path):
    """What a sequence has not is filled with the padding of the features of tables."""
    converter = sequences.SequenceConverter(vocabulary("symbols"), 8, tokens="symbols")
    examples = [
        converter.convert(sequences.interaction("x", ["a b"], class_index=1)),
        converter.convert(sequences.interaction("y", ["b"], value=2.5)),
        converter.empty_example(),
    ]
    assert set(examples[0].features.feature) == set(features.names(features.SEQUENCE))
    path = tmp_path / "a.tfrecord"
    records.write_examples(examples, path)
    (batch,) = records.dataset(path, 4, seq_length=10, fill_remainder=True).as_numpy_iterator()
    assert set(batch) == set(features.names(features.ALL))
    np.testing.assert_array_equal(batch["input_ids"][0], [2, 4, 5] + [0] * 7)
    np.testing.assert_array_equal(batch["input_mask"].sum(axis=1), [3, 2, 1, 1])
    for name in ("row_ids", "column_ids", "label_ids", "column_ranks"):
        assert batch[name].dtype == np.int32
        np.testing.assert_array_equal(batch[name], np.zeros([4, 10]))
    assert np.isnan(batch["numeric_values"]).all()
    np.testing.assert_array_equal(batch["classification_class_index"].ravel(), [1, 0, 0, 0])
    np.testing.assert_array_equal(batch["answer"].ravel(), [np.nan, 2.5, np.nan, np.nan])
    short, *_ = records.dataset(path, 1, buckets=[4, 8]).as_numpy_iterator()
    assert short["row_ids"].shape == (1, 4)


def test_records_of_tables_and_sequences_do_not_mix(vocabulary, tmp_path):
    converter = sequences.SequenceConverter(vocabulary("symbols"), 8, tokens="symbols")
    example = converter.empty_example()
    records.write_examples([example], tmp_path / "a.tfrecord")
    for name in features.names(features.ALL):
        if name not in example.features.feature:
            example.features.feature[name].int64_list.value.extend([0] * 8)
    records.write_examples([example], tmp_path / "b.tfrecord")
    with pytest.raises(InputError, match="only one of them has examples of tables"):
        records.dataset(tmp_path / "*.tfrecord", 1)
    example = tf.train.Example()
    example.CopyFrom(converter.empty_example())
    del example.features.feature["segment_ids"]
    records.write_examples([example], tmp_path / "a.tfrecord")
    with pytest.raises(InputError, match="its examples lack segment_ids, column_ids"):
        records.dataset(tmp_path / "a.tfrecord", 1)


PAD, UNK, CLS, SEP, A, B, C = range(7)


@pytest.fixture
def with_target(tmp_path):
    """with_target(length, target): a converter of the symbols a, b, c."""
    sequences.make_vocabulary(tmp_path / "vocab.txt", "abc")

    def converter(length=8, target=5):
        options = {"max_target_length": target, "tokens": "symbols"}
        return sequences.TargetConverter(tmp_path / "vocab.txt", length, **options)

    return converter


def text_pair(text, target=None, name="x"):
    found = sequences.interaction(name, [text])
    if target is not None:
        found.questions[0].answer.answer_texts.append(target)
    return found


def test_text_and_target(with_target):
    first, second = with_target().convert_all(text_pair("a b c", "c a"), text_pair("b", "a"))
    assert values(first.example, "input_ids") == [CLS, A, B, C, PAD, PAD, PAD, PAD]
    assert values(first.example, "target_ids") == [CLS, C, A, SEP, PAD]
    assert not first.cuts
    assert values(second.example, "input_ids")[:3] == [CLS, B, PAD]
    assert values(second.example, "target_ids") == [CLS, A, SEP, PAD, PAD]


def test_long_texts_are_cut_and_end(with_target):
    (found,) = with_target(length=8).convert_all(text_pair("a " * 10, "b c b c b"))
    assert values(found.example, "input_ids") == [CLS, *[A] * 7]
    assert values(found.example, "target_ids") == [CLS, B, C, B, SEP]
    assert {cut.kind: cut.count for cut in found.cuts}[sequences.TARGET_CUT] == 2


def test_no_target(with_target):
    """In a test set without gold texts there is nothing to write, but the text is read."""
    example = with_target().convert(text_pair("a b"))
    assert values(example, "input_ids")[:3] == [CLS, A, B]
    assert values(example, "target_ids") == [CLS, SEP, PAD, PAD, PAD]
    assert values(with_target().empty_example(), "target_ids") == [PAD] * 5


def test_pickled_with_target(with_target):
    before = with_target()
    after = pickle.loads(pickle.dumps(before))
    one, other = (each.convert(text_pair("a b", "c")) for each in (before, after))
    assert one == other
    assert after.max_target_length == 5


def test_batches_with_targets(with_target, tmp_path):
    converter = with_target()
    found = converter.convert_all(
        text_pair("a b", "c"), text_pair("a", "b b", "y"), text_pair("c", "a", "z")
    )
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


def test_lengths_of_targets_that_cannot_be(with_target, tmp_path):
    for length in (5, 6):
        example = with_target(target=length).empty_example()
        records.write_examples([example], tmp_path / f"{length}.tfrecord")
    with pytest.raises(InputError, match="texts to write, or of texts of this length"):
        records.dataset(tmp_path / "*.tfrecord", 1)
    with pytest.raises(InputError, match="max_target_length=2: must be more than 2"):
        with_target(target=2)
