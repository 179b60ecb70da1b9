"""Marks on words that question and table share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.data.converters.example_features import shared_words
from mate_tf.data.converters.tokenizer import Tokenizer

PIECES = ["[PAD]", "[EMPTY]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "team", "teams", "win"]
PIECES += ["##s", "##ner", "5", ",", "city", "cities", "-"]


@pytest.fixture(scope="module")
def tokenizer(vocabulary_file):
    return Tokenizer(vocabulary_file(PIECES))


def marked(tokenizer, question, table):
    """Marked pieces of each side, a word per item."""
    before = ["[CLS]", *question.split(), "[SEP]"]
    pieces = before + table.split()
    ids = np.array([PIECES.index(piece) for piece in pieces])
    segments = np.array([0] * len(before) + [1] * len(table.split()))
    marks = shared_words(ids, segments, tokenizer)
    assert marks.dtype == np.int32
    assert marks.shape == ids.shape
    chosen = [piece if mark else "_" for piece, mark in zip(pieces, marks, strict=True)]
    return " ".join(chosen[: len(before)]), " ".join(chosen[len(before) :])


@pytest.mark.parametrize(
    ("question", "table", "expected"),
    [
        ("the team", "team 5", ("_ _ team _", "team _")),
        ("the team", "5 the the", ("_ the _ _", "_ the the")),
        # All pieces of a word or none: "wins" is a plural of "win", "winner" is another word.
        ("win ##s", "win ##ner win", ("_ win ##s _", "_ _ win")),
        ("win ##ner", "win ##s", ("_ _ _ _", "_ _")),
        ("cities teams", "city team", ("_ cities teams _", "city team")),
        # Neither punctuation nor what stands for any or no word says anything.
        (", - 5", ", - 5", ("_ _ _ 5 _", "_ _ 5")),
        ("[UNK] 5", "[UNK] [EMPTY] [SEP]", ("_ _ _ _", "_ _ _")),
        # A continuation without a beginning, as where a cell was cut, belongs to nothing.
        ("5", "5", ("_ 5 _", "5")),
        ("team 5", "", ("_ _ _ _", "")),
    ],
)
def test_marks(tokenizer, question, table, expected):
    assert marked(tokenizer, question, table) == expected


words = st.lists(st.sampled_from(["the", "team", "teams", "win", "5", "[UNK]", ","]), max_size=6)


@given(words, words)
def test_both_sides_are_marked_alike(tokenizer, question, table):
    """A word is marked on one side if and only if it is on the other, and then everywhere."""
    sides = marked(tokenizer, " ".join(question), " ".join(table))
    found = [{piece.rstrip("s") for piece in side.split()} - {"_"} for side in sides]
    assert found[0] == found[1]
    same = {word.rstrip("s") for word in question} & {word.rstrip("s") for word in table}
    assert found[0] == same - {"[UNK]", ","}
