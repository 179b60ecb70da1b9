"""Associative recall: what is generated can be answered, and only from far away."""

import collections

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.data.converters import sequences
from mate_tf.data.datasets import associative_recall
from mate_tf.errors import InputError


@st.composite
def rules(draw):
    joined = draw(st.booleans())
    num_pairs = draw(st.integers(1, 6))
    width = 1 if joined else 2
    length = draw(st.integers(num_pairs * width + 1, 60))
    return associative_recall.Rules(
        length=length,
        num_pairs=num_pairs,
        num_keys=draw(st.integers(num_pairs, 9)),
        num_values=draw(st.integers(2, 5)),
        min_distance=draw(st.integers(0, length - width)),
        joined=joined,
    )


def drawn(seed, rule, split="train", number=4):
    found = associative_recall.generate(seed, split, number, rule)
    return [
        (sequences.texts(question)[0].split(), question.answer.class_index)
        for interaction in found
        for question in interaction.questions
    ]


@given(st.integers(0, 9), rules())
def test_the_answer_is_there_and_far_away(seed, rule):
    vocabulary = set(associative_recall.symbols(rule))
    for symbols, value in drawn(seed, rule):
        assert len(symbols) == rule.length
        assert vocabulary.issuperset(symbols)
        *body, asked = symbols
        if rule.joined:
            places = [i for i, symbol in enumerate(body) if symbol.startswith(f"{asked}=")]
            pairs = [symbol for symbol in body if "=" in symbol]
            assert body[places[0]] == f"{asked}=v{value}"
        else:
            places = [i + 1 for i, symbol in enumerate(body) if symbol == asked]
            pairs = [symbol for symbol in body if symbol.startswith("k")]
            assert body[places[0]] == f"v{value}"
        assert len(places) == 1
        assert len(pairs) == rule.num_pairs
        assert len(symbols) - 1 - places[0] >= rule.min_distance
    assert drawn(seed, rule) == drawn(seed, rule)


def test_splits_and_seeds_differ_and_answers_are_uniform():
    rule = associative_recall.Rules(length=20, num_pairs=4, num_values=4, min_distance=5)
    train = drawn(0, rule, number=2000)
    assert train[:5] != drawn(0, rule, "dev", 5)
    assert train[:5] != drawn(1, rule, number=5)
    counts = collections.Counter(value for _, value in train)
    assert set(counts) == set(range(4))
    assert all(abs(count - 500) < 80 for count in counts.values())
    # Where the answer stands is not a hint: all places that are far enough.
    places = {symbols.index(f"{symbols[-1]}=v{value}") for symbols, value in train}
    assert places == set(range(15))


@pytest.mark.parametrize(
    "options",
    [
        {"length": 16},
        {"num_pairs": 0},
        {"num_keys": 15},
        {"num_values": 1},
        {"length": 32, "joined": False, "min_distance": 0},
    ],
)
def test_rules_without_sequences(options):
    with pytest.raises(InputError, match="no sequence of associative recall follows these rules"):
        associative_recall.Rules(**options)


def test_too_far():
    with pytest.raises(InputError, match="min_distance=512: must be from 0 to"):
        associative_recall.Rules(min_distance=512)
