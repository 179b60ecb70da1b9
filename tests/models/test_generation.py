"""Generation: exhaustive search over a small vocabulary, greedy search, repeated sequences."""

import itertools
import re

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.errors import InputError
from mate_tf.models import generation

PAD, CLS, SEP, VOCABULARY = 0, 1, 2, 6
WORDS = range(3, VOCABULARY)
LENGTH = 4
EXAMPLES = 5


@pytest.fixture(scope="module")
def table():
    """Logits of the next token for each example and each hash of the tokens before."""
    return np.random.default_rng(3).normal(0, 1.5, [EXAMPLES, 997, VOCABULARY]).astype(np.float32)


def hashed(ids):
    """Returns a number for each row of ids, which begin with [CLS]."""
    powers = VOCABULARY ** np.arange(ids.shape[-1])
    return (ids * powers).sum(-1) % 997


def searched(table, **options):
    """Searches with the logits of the table; the cache has the number of the example."""

    def next_logits(ids, index, cache):
        rows = hashed(ids.numpy())
        assert ids.shape[1] == int(index) + 1
        examples = cache["example"].numpy()[:, 0].astype(int)
        return tf.constant(table[examples, rows]), cache

    cache = {"example": tf.range(EXAMPLES, dtype=tf.float32)[:, None]}
    options = {"max_length": LENGTH, "start_id": CLS, "end_id": SEP} | options
    found = generation.search(next_logits, cache, EXAMPLES, vocab_size=VOCABULARY, **options)
    assert found["ids"].shape == [EXAMPLES, options["max_length"]]
    return found["ids"].numpy(), found["scores"].numpy()


def log_probs(table, example, ids, max_length=LENGTH, min_length=0):
    """Returns log-probabilities of the tokens after `ids`, of those that are allowed."""
    logits = table[example, hashed(np.array(ids))].astype(np.float64)
    logits[[PAD, CLS]] = -np.inf
    if len(ids) - 1 < min_length:
        logits[SEP] = -np.inf
    if len(ids) == max_length:
        logits[np.arange(VOCABULARY) != SEP] = -np.inf
    return logits - np.log(np.exp(logits).sum())


def score(table, example, target, penalty, **lengths):
    """Returns the score of a target, a tuple of ids after [CLS]."""
    total = sum(
        log_probs(table, example, (CLS, *target[:i]), **lengths)[word]
        for i, word in enumerate(target)
    )
    return total / ((5 + len(target)) / 6) ** penalty


@pytest.mark.parametrize("min_length", [0, 2])
@pytest.mark.parametrize("penalty", [0.0, 0.6, 3.0])
def test_beam_search_is_exhaustive_if_the_beam_is_wide(table, penalty, min_length):
    ids, scores = searched(table, beam_size=27, length_penalty=penalty, min_length=min_length)
    targets = [
        (*words, SEP)
        for number in range(min_length, LENGTH)
        for words in itertools.product(WORDS, repeat=number)
    ]
    best = []
    for example in range(EXAMPLES):
        found = {t: score(table, example, t, penalty, min_length=min_length) for t in targets}
        best.append(max(found, key=found.get))
        assert tuple(ids[example][: len(best[-1])]) == best[-1]
        assert not ids[example][len(best[-1]) :].any()
        np.testing.assert_allclose(scores[example], found[best[-1]], rtol=1e-5)
    if min_length == 0 and penalty in (0.0, 3.0):  # the penalty decides about lengths
        assert min(map(len, best)) == 1 if penalty == 0 else max(map(len, best)) == LENGTH


def test_greedy_search_takes_the_most_probable_token(table):
    ids, scores = searched(table, length_penalty=0.6, max_length=7)
    lengths = set()
    for example in range(EXAMPLES):
        target = ()
        while len(target) < 7 and target[-1:] != (SEP,):
            target += (int(np.argmax(log_probs(table, example, (CLS, *target), 7))),)
        assert tuple(ids[example][: len(target)]) == target
        assert not ids[example][len(target) :].any()
        expected = score(table, example, target, 0.6, max_length=7)
        np.testing.assert_allclose(scores[example], expected, rtol=1e-5)
        lengths.add(len(target))
    assert len(lengths) > 1


@pytest.mark.parametrize("beam", [1, 3])
def test_a_target_without_end(table, beam):
    """It is cut, and preferred to a target that ended early with a probability near zero."""
    endless = table.copy()
    endless[..., SEP] = -30
    ids, scores = searched(endless, beam_size=beam, length_penalty=0.6)
    assert (ids[:, :-1] >= 3).all()
    assert (ids[:, -1] == SEP).all()
    for example in range(EXAMPLES):
        expected = score(endless, example, tuple(ids[example]), 0.6)
        np.testing.assert_allclose(scores[example], expected, rtol=1e-5)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_repetition(size):
    """Compares with all sequences of the ids, also where there are fewer ids than the size."""
    rng = np.random.default_rng(size)
    for length in (0, 1, 2, 3, 9):
        ids = rng.integers(0, 3, [20, length]).astype(np.int32)
        logits = rng.normal(size=[20, 3]).astype(np.float32)
        found = generation.without_repetition(tf.constant(logits), tf.constant(ids), size)
        banned = found.numpy() < -1e8
        np.testing.assert_array_equal(found.numpy()[~banned], logits[~banned])
        for row, text in enumerate(ids.tolist()):
            seen = {tuple(text[i : i + size]) for i in range(length - size + 1)}
            last = text[length - size + 1 :] if size > 1 else []
            expected = [(*last, word) in seen for word in range(3)]
            assert banned[row].tolist() == expected
        assert banned.any() == (length >= size)


@pytest.mark.parametrize("beam", [1, 2])
def test_search_without_repetition(table, beam):
    never = table.copy()
    never[..., SEP] = -5
    never[..., 3] += 5
    ids, _ = searched(never, beam_size=beam, max_length=6)
    assert (ids == 3).sum(axis=1).max() > 2
    ids, _ = searched(never, beam_size=beam, max_length=6, no_repeat_ngram_size=2)
    for row in ids.tolist():
        pairs = [pair for pair in itertools.pairwise(row) if 0 not in pair]
        assert len(set(pairs)) == len(pairs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam_size": 0}, "beam_size is 0, expected 1 or more"),
        ({"length_penalty": -1.0}, "length_penalty is -1.0, expected 0 or more"),
        ({"max_length": 0}, "max_length is 0, expected 1 or more"),
        ({"min_length": -1}, "min_length is -1, expected 0 or more"),
        ({"min_length": 4}, "min_length=4 leaves no room for [SEP] in max_length=4"),
        ({"no_repeat_ngram_size": -2}, "no_repeat_ngram_size is -2, expected 0 or more"),
    ],
)
def test_options_out_of_range(table, options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        searched(table, **options)
