"""Masks: whole words or cells, as many as asked for, never special tokens, 80/10/10."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.data.pretraining.masking import Masking, MaskingConfig
from mate_tf.errors import InputError

SPECIAL = ["[PAD]", "[EMPTY]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
NUM_WORDS, NUM_PIECES = 40, 20
PIECES = [
    *SPECIAL,
    *(f"word{i}" for i in range(NUM_WORDS)),
    *(f"##piece{i}" for i in range(NUM_PIECES)),
]
PAD, EMPTY, _, CLS, SEP, MASK = range(len(SPECIAL))
FIRST_PIECE = len(SPECIAL) + NUM_WORDS
LENGTH = 40


@pytest.fixture(scope="module")
def vocabulary(vocabulary_file):
    return vocabulary_file(PIECES)


@pytest.fixture(scope="module")
def masking(vocabulary):
    """masking(batch, seed, **config): traced once a config, as in tf.data."""
    traced = {}

    def run(batch, seed=(0, 0), **config):
        key = tuple(config.items())
        if key not in traced:
            traced[key] = tf.function(
                Masking(vocabulary, MaskingConfig(**config)), reduce_retracing=True
            )
        outputs = traced[key](
            {name: tf.constant(value) for name, value in batch.items()}, tf.constant(seed)
        )
        return {name: value.numpy() for name, value in outputs.items()}

    return run


def example(question, cells, columns=2):
    """The features of an example whose texts are lists of words, which are lists of piece ids; and
    the number of each token's word, -1 for none."""
    texts = [(question, 0, 0), *((c, i // columns, i % columns + 1) for i, c in enumerate(cells))]
    tokens = [
        (piece, 1, row, column, (index, number))
        for index, (words, row, column) in enumerate(texts)
        for number, word in enumerate(words)
        for piece in word
    ]
    tokens.insert(sum(map(len, question)), (SEP, 1, 0, 0, None))
    tokens.insert(0, (CLS, 1, 0, 0, None))
    numbers = {
        word: index for index, word in enumerate(dict.fromkeys(t[4] for t in tokens if t[4]))
    }
    values = np.zeros([5, LENGTH], np.int32)
    values[4] = -1
    values[:, : len(tokens)] = np.transpose([(*t[:4], numbers.get(t[4], -1)) for t in tokens])
    names = ("input_ids", "input_mask", "row_ids", "column_ids")
    return dict(zip(names, values, strict=False)), values[4]


def batch_of(examples):
    features = {name: np.stack([e[name] for e, _ in examples]) for name in examples[0][0]}
    return features, np.stack([words for _, words in examples])


word = st.builds(
    lambda first, rest: [first, *rest],
    st.integers(len(SPECIAL), FIRST_PIECE - 1),
    st.lists(st.integers(FIRST_PIECE, len(PIECES) - 1), max_size=3),
)
text = st.one_of(st.lists(word, min_size=1, max_size=2), st.just([[EMPTY]]))
table = st.builds(example, st.lists(word, min_size=1, max_size=2), st.lists(text, max_size=3))


@given(
    examples=st.lists(table, min_size=1, max_size=3),
    seed=st.integers(0, 2**31 - 1),
    probability=st.sampled_from([0.15, 0.5]),
)
def test_properties(masking, examples, seed, probability):
    batch, words = batch_of(examples)
    masked = masking(batch, (seed, 1), masked_lm_prob=probability, max_predictions_per_seq=5)
    weights, positions = masked["masked_lm_weights"], masked["masked_lm_positions"]
    assert weights.shape == positions.shape == masked["masked_lm_ids"].shape == (len(examples), 5)
    assert set(np.unique(weights)) <= {0.0, 1.0}
    for row in range(len(examples)):
        count = int(weights[row].sum())
        # The real entries come first, in the order of the sequence; the others are zero.
        assert (weights[row, :count] == 1).all()
        chosen = positions[row, :count]
        assert (np.diff(chosen) > 0).all()
        assert not positions[row, count:].any()
        assert not masked["masked_lm_ids"][row, count:].any()
        before = batch["input_ids"][row]
        assert (masked["masked_lm_ids"][row, :count] == before[chosen]).all()
        rest = np.setdiff1d(np.arange(LENGTH), chosen)
        assert (masked["input_ids"][row, rest] == before[rest]).all()
        assert (words[row, chosen] >= 0).all()  # neither special nor padding
        after = masked["input_ids"][row, chosen]
        kept = after == before[chosen]
        assert (kept | (after == MASK) | (after >= len(SPECIAL))).all()
        # Whole words, and no other would fit in what is left.
        sizes = np.bincount(words[row][words[row] >= 0])
        hidden = np.bincount(words[row, chosen], minlength=len(sizes))
        assert ((hidden == 0) | (hidden == sizes)).all()
        has_table = batch["column_ids"][row].any()
        wanted = min(5, max(1, round(batch["input_mask"][row].sum() * probability)))
        assert count <= wanted * has_table
        if has_table:
            assert (sizes[hidden == 0] > wanted - count).all()
    # What is not for the masks goes through.
    assert (masked["column_ids"] == batch["column_ids"]).all()


def long_examples(count):
    rng = np.random.default_rng(3)
    sample = rng.integers(len(SPECIAL), FIRST_PIECE, [count, 18])
    return batch_of([example([[w] for w in row[:2]], [[[w]] for w in row[2:]]) for row in sample])


def test_shares_of_mask_random_and_kept(masking):
    """Of 12,000 chosen tokens; the bounds are five standard deviations wide."""
    batch, _ = long_examples(2000)
    masked = masking(batch, masked_lm_prob=0.3)
    where = masked["masked_lm_weights"] > 0
    after = np.take_along_axis(masked["input_ids"], masked["masked_lm_positions"], 1)[where]
    before = masked["masked_lm_ids"][where]
    total = len(after)
    assert total == 2000 * 6
    ordinary = len(PIECES) - len(SPECIAL)
    shares = {
        "mask": ((after == MASK).mean(), 0.8),
        "random": (((after != MASK) & (after != before)).mean(), 0.1 * (1 - 1 / ordinary)),
        "kept": ((after == before).mean(), 0.1 * (1 + 1 / ordinary)),
    }
    for name, (share, expected) in shares.items():
        assert abs(share - expected) < 5 * np.sqrt(expected * (1 - expected) / total), name
    drawn = after[(after != MASK) & (after != before)]
    assert len(np.unique(drawn)) == ordinary


def test_every_word_is_chosen_as_often_as_any_other(masking):
    batch, _ = long_examples(3000)
    masked = masking(batch, masked_lm_prob=0.15)
    assert (masked["masked_lm_weights"].sum(axis=1) == 3).all()
    counts = np.bincount(masked["masked_lm_positions"][masked["masked_lm_weights"] > 0])
    eligible = counts[[1, 2, *range(4, 20)]]
    assert counts.sum() == eligible.sum() == 9000
    assert (abs(eligible - 500) < 5 * np.sqrt(500)).all()


def test_same_seed_same_masks(masking):
    batch, _ = long_examples(50)
    first, again, other = (masking(batch, seed) for seed in ((7, 1), (7, 1), (7, 2)))
    assert all((first[name] == again[name]).all() for name in first)
    assert (first["masked_lm_positions"] != other["masked_lm_positions"]).any(axis=1).mean() > 0.9


def test_whole_cells(masking):
    """A cell's words go together, words of the question alone, equal neighbours apart."""
    cells = [[[6], [7]], [[8], [9]], [[6], [7]], [[10, FIRST_PIECE], [11]]]
    features, _ = batch_of([example([[6], [7], [8]], cells)] * 300)
    masked = masking(features, masked_lm_prob=0.3, mask_whole_cells=True)
    seen = set()
    for row in range(300):
        real = masked["masked_lm_weights"][row] > 0
        seen.add(tuple(masked["masked_lm_positions"][row][real].tolist()))
    groups = [{1}, {2}, {3}, {5, 6}, {7, 8}, {9, 10}, {11, 12, 13}]
    for positions in seen:
        # 30 % of 14 tokens; after the question's three words nothing fits but one of its kind.
        assert len(positions) == 4 or positions == (1, 2, 3)
        for group in groups:
            assert not group & set(positions) or group <= set(positions)
    assert {position for positions in seen for position in positions} == set().union(*groups)
    by_words = masking(features, masked_lm_prob=0.3)
    assert any({5} <= set(row) and 6 not in row for row in by_words["masked_lm_positions"].tolist())


def test_sequences_shorter_than_the_number_of_masks(masking):
    features, _ = batch_of([example([[6]], [[[7]]])])
    features = {name: value[:, :4] for name, value in features.items()}
    masked = masking(features, masked_lm_prob=1.0)
    assert masked["masked_lm_weights"].shape == (1, 20)
    assert masked["masked_lm_positions"][0, :3].tolist() == [1, 3, 0]


def test_vocabulary_without_mask(vocabulary_file):
    with pytest.raises(InputError, match=r"vocab\.txt: the vocabulary lacks \[MASK\]"):
        Masking(vocabulary_file(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a"]), MaskingConfig())
