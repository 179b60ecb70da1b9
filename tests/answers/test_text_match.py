"""Exact match and F1 as the official scripts compute them."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.answers import text_match

WORDS = st.lists(
    st.sampled_from(["the", "The", "a", "an", "cat", "cat's", "U.S.", "1,000", "--", "Ärger", "9"]),
    max_size=5,
).map(" ".join)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The  Cat's  pyjamas!", "cats pyjamas"),
        ("1,000 m", "1000 m"),
        ("an A the", ""),
        ("a-b", "ab"),  # the sign goes first: no article is left
        ("Anthem", "anthem"),
        ("a–b", "–b"),  # no ASCII sign
        ("\ta\u00a0b\n", "b"),
    ],
)
def test_normal_form(text, normal):
    assert text_match.normalize_answer(text) == normal


@pytest.mark.parametrize(
    ("gold", "predicted", "exact", "f1"),
    [
        ("the cat", "Cat.", 1, 1.0),
        ("black cat", "cat", 0, 2 / 3),
        ("cat cat dog", "cat dog dog", 0, 2 / 3),
        ("cat", "dog", 0, 0.0),
        ("the", "", 1, 1.0),
        ("cat", "", 0, 0.0),
        ("the", "cat", 0, 0.0),
    ],
)
def test_scores_by_hand(gold, predicted, exact, f1):
    assert text_match.exact_match(gold, predicted) == exact
    assert text_match.f1(gold, predicted) == pytest.approx(f1)


@given(WORDS, WORDS)
def test_scores_are_shares_and_symmetric(one, other):
    assert 0 <= text_match.exact_match(one, other) <= text_match.f1(one, other) <= 1
    assert text_match.f1(one, other) == text_match.f1(other, one)
    decorated = one.upper() + string.punctuation
    assert text_match.exact_match(one, decorated) == text_match.f1(one, decorated) == 1
