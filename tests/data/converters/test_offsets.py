"""Tokens back to the characters they were written with."""

import json
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.data.converters.offsets import Offsets
from mate_tf.data.converters.tokenizer import Tokenizer
from mate_tf.errors import InputError

PIECES = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] [EMPTY] the cafe mull ##er zurich istanbul ( ) , . - 19 99 1999"
)
PIECES += " a b c ##a ##b ##c o ##δ ##ος ## 東 京 ᄒ ##ᅡ ##ᆫ ½ ﬁ ##ne"
LETTERS = "abcABCéÅàñ東京한글ﬁ½İßΣσ.,()- \t\u00a0\u0301\u0323\u200b\u0000☃1९"


@pytest.fixture(scope="module")
def tokenizer(vocabulary_file):
    return Tokenizer(vocabulary_file(PIECES.split()))


@pytest.fixture(scope="module")
def offsets(tokenizer):
    return Offsets(tokenizer)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  Café", ["The", "Café"]),
        ("Cafe\u0301\u0323 (the)", ["Cafe\u0301\u0323", "(", "the", ")"]),
        ("MÜLLER,", ["MÜLL", "ER", ","]),
        ("\u200bzuri\u200bch\u200e.", ["zuri\u200bch", "."]),
        ("東京 İstanbul", ["東", "京", "İstanbul"]),
        ("한", ["한", "한", "한"]),  # three letters, a piece each
        ("ﬁne ½", ["ﬁ", "ne", "½"]),
        ("Xyzzy\u0301-Zürich", ["Xyzzy\u0301", "-", "Zürich"]),  # an unknown word
        ("x" * 401 + " the", ["x" * 401, "the"]),  # a word that is too long
        (" ? ", [" ? "]),  # without a letter or digit: [EMPTY]
        ("N/A", ["N/A"]),
        ("", [""]),
        ("the\ufffd\x00 a\ud800b", ["the", "a", "b"]),  # what cannot be encoded
        ("\u0301the", ["the"]),
    ],
)
def test_by_hand(offsets, tokenizer, text, expected):
    assert [text[begin:end] for begin, end in offsets.ranges(text)] == expected
    assert len(expected) == len(tokenizer.tokenize([text])[0])


def test_slices(offsets):
    text = "the  Café, (Zürich)"
    assert offsets.slice(text, 0, 2) == "the  Café"
    assert offsets.slice(text, 3, 6) == "(Zürich)"
    for begin, end in ((0, 7), (2, 2), (-1, 1)):
        with pytest.raises(InputError, match="has 6"):
            offsets.slice(text, begin, end)


def test_many_texts_at_once(offsets):
    texts = ["the café", "", "(1999)", "the café"]
    for text, ranges in zip(texts, offsets.all_ranges(texts), strict=True):
        np.testing.assert_array_equal(ranges, offsets.ranges(text))
    assert list(offsets.all_ranges([])) == []


def check(offsets, tokenizer, text):
    """Slices are in order, inside, and mean the same tokens again."""
    encoding = tokenizer.encode([text])
    ranges = offsets.ranges(text)
    assert len(ranges) == len(encoding.ids)
    assert (ranges >= 0).all()
    assert (ranges <= len(text)).all()
    assert (ranges[:, 0] <= ranges[:, 1]).all()
    assert (np.diff(ranges, axis=0) >= 0).all()
    starts = np.append(np.flatnonzero(encoding.word_starts), len(ranges))
    runs = [
        (starts[first], starts[min(first + size, len(starts) - 1)])
        for size in (1, 3)
        for first in range(len(starts) - 1)
    ]
    slices = [text[ranges[begin, 0] : ranges[end - 1, 1]] for begin, end in runs]
    for (begin, end), part, own in zip(
        runs, slices, tokenizer.encode_groups([[part] for part in slices]), strict=True
    ):
        # Signs alone are not text, and neither is "n/a".
        if list(own.ids) != [tokenizer.empty_id]:
            assert list(own.ids) == list(encoding.ids[begin:end]), (text, part)
        if tokenizer.empty_id not in encoding.ids:
            assert part == part.strip(" \t\u00a0")


@given(st.text(alphabet=LETTERS, max_size=20) | st.text(max_size=12))
def test_any_text(offsets, tokenizer, text):
    # Whether a sigma is the last letter depends on what follows, also beyond the word.
    check(offsets, tokenizer, text.replace("Σ", "σ"))


@pytest.fixture(scope="module")
def real_texts(shared):
    """Cells that are not plain ASCII, of real tables."""
    path = shared / "goldens" / "tokenization" / "open" / "wtq.jsonl"
    cells = {
        cell
        for line in path.read_text(encoding="utf-8").splitlines()
        for row in json.loads(line)["table"]["rows"]
        for cell in row
    }
    return sorted(cell for cell in cells if not cell.isascii())[:60]


def test_real_cells(bert_vocab, real_texts):
    tokenizer = Tokenizer(bert_vocab)
    assert len(real_texts) > 20
    for text in (*real_texts, *(unicodedata.normalize("NFD", text) for text in real_texts[:10])):
        check(Offsets(tokenizer), tokenizer, text)
