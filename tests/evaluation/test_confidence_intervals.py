"""The paired bootstrap: against theory, and what it must not depend on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mate_tf.errors import InputError
from mate_tf.evaluation.confidence_intervals import paired_difference


def test_interval_is_that_of_the_normal_approximation():
    random = np.random.default_rng(3)
    first, second = random.random(2000) < 0.7, random.random(2000) < 0.6
    found = paired_difference(first, second)
    differences = first.astype(float) - second
    error = 1.96 * differences.std() / np.sqrt(2000)
    assert found.mean == pytest.approx(differences.mean())
    assert found.low == pytest.approx(found.mean - error, abs=0.1 * error)
    assert found.high == pytest.approx(found.mean + error, abs=0.1 * error)


def test_pairs_matter():
    """The same scores in another order: the same means, another interval."""
    scores = np.arange(200) % 2
    same = paired_difference(scores + 0.1, scores)
    assert (same.low, same.high) == (pytest.approx(0.1), pytest.approx(0.1))
    shuffled = paired_difference(scores + 0.1, scores[::-1])
    assert shuffled.high - shuffled.low > 0.1


@settings(max_examples=20)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30))
def test_turned_round(pairs):
    first, second = map(list, zip(*pairs, strict=True))
    found = paired_difference(first, second, samples=200)
    turned = paired_difference(second, first, samples=200)
    assert found.low <= found.high
    assert turned.mean == pytest.approx(-found.mean)
    assert turned.low == pytest.approx(-found.high, abs=1e-9)
    assert turned.high == pytest.approx(-found.low, abs=1e-9)


def test_seeds_and_text():
    first, second = [1, 0, 1, 1, 0, 1], [0, 0, 1, 0, 1, 1]
    assert paired_difference(first, second) == paired_difference(first, second)
    assert str(paired_difference([1] * 4, [0.5] * 4)) == "+50.0% [+50.0%, +50.0%]"
    wide = paired_difference(first, second, confidence=0.99)
    narrow = paired_difference(first, second, confidence=0.5)
    assert wide.high - wide.low > narrow.high - narrow.low


@pytest.mark.parametrize(("first", "second"), [([1], [1, 0]), ([], []), ([[1]], [[0]])])
def test_refuses_what_is_not_paired(first, second):
    with pytest.raises(InputError, match="one score of each system for each question"):
        paired_difference(first, second)
