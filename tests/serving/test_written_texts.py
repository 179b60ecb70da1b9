"""Texts in the graph: those of the Detokenizer, also of sequences that nobody would write."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.data.converters.tokenizer import Detokenizer, Tokenizer
from mate_tf.serving.summarizer import WrittenTexts

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
PIECES = [*SPECIAL, "plane", "##s", "##.", "##(", *"abé3s'’-/.,;%()[]{}"]


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory):
    path = tmp_path_factory.mktemp("vocabulary") / "vocab.txt"
    path.write_text("\n".join(PIECES), "utf-8")
    return path


@pytest.fixture(scope="module")
def written(vocabulary):
    texts = WrittenTexts(Tokenizer(vocabulary))
    return lambda ids: [text.decode() for text in texts(tf.constant(ids, tf.int32)).numpy()]


def test_equal_the_detokenizer(vocabulary, written):
    rng = np.random.default_rng(0)
    ids = rng.integers(0, len(PIECES), [2000, 14])
    ids[:1000][ids[:1000] == PIECES.index("[SEP]")] = PIECES.index("a")
    ids[:14] *= np.tri(14, dtype=int)  # short ones
    detokenize = Detokenizer(vocabulary)
    assert written(ids) == [detokenize(row) for row in ids]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ("( a ) . b", "(a). b"),
        ("a ( [ b", "a ([b"),
        ("a - b - a / b", "a-b-a/b"),
        ("[CLS] plane ##s , ( 3 % ) ; é [SEP] a", "planes, (3%); é"),
        ("plane ' s [UNK]", "plane's [UNK]"),
        ("[SEP]", ""),
    ],
)
def test_texts(vocabulary, written, pieces, expected):
    ids = [PIECES.index(piece) for piece in pieces.split()]
    assert written([ids]) == [expected]
    assert Detokenizer(vocabulary)(ids) == expected
