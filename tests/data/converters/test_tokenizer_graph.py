"""The tokenizer as a graph gives the ids of the tokenizer in Python, for every text."""

import sys
import unicodedata

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import example, given
from hypothesis import strategies as st

from mate_tf.data.converters.tokenizer import MAX_WORD_CHARACTERS, Tokenizer
from mate_tf.data.converters.tokenizer_graph import TokenizerGraph, clean, separate_words

HARD = [
    *(
        "",
        " ",
        "?",
        "_",
        "n/a",
        " N/A  ",
        " N/A\x1c",
        "\xa0n/a",
        "n/a.",
        "n /a",
        "n\x00/a",
        "ñ/a",
        "n/a n/a",
    ),
    *("½ ² Ⅷ ﬁ ß ẞ", "２０ ＡＢ", "naïve café", "e\u0301\u200bx\u00adb", "a\x0bb\tc\x85d\u2028e"),
    *(
        "ΑΣ ΑΣΑ ΑΣ.Α Α\u00adΣ Α\x00Σ ΑΣ\x00Α",
        "İstanbul ǅ",
        "북한 한국어",
        "北京2008 𠀀 豈",
        "\ufffd",
        "\ufffe\uffff",
    ),
    *("[CLS] [UNK] [EMPTY] [unused1] ##b", "[EMPTY]", "[UNK]", "##", "🙂 ok", "a\x00\x01b"),
    *("a" * MAX_WORD_CHARACTERS, "a" * (MAX_WORD_CHARACTERS + 1), "x" * 5000 + " b"),
    *("é" * (MAX_WORD_CHARACTERS + 1) + "-b", "e\u0301" * MAX_WORD_CHARACTERS, "𠀀" * 500),
]
_UNKNOWN_SCRIPT = 103  # USCRIPT_UNKNOWN


@pytest.fixture(scope="module")
def tokenizer(bert_vocab):
    return Tokenizer(bert_vocab)


@pytest.fixture(scope="module")
def graph(tokenizer):
    return TokenizerGraph(tokenizer)


@pytest.fixture(scope="module")
def known():
    """Characters that the Unicode tables of TensorFlow have, or that no later ones can change."""
    scripts = tf.strings.unicode_script(tf.range(sys.maxunicode + 1)).numpy()
    return {
        char
        for char, script in zip(map(chr, range(sys.maxunicode + 1)), scripts, strict=True)
        if script != _UNKNOWN_SCRIPT or unicodedata.category(char) in ("Co", "Cs")
    }


def same(tokenizer, graph, texts):
    expected = graph.to_ids(
        tf.constant([text.encode("utf-8", "ignore") for text in texts], tf.string)
    )
    found = tokenizer.encode(texts)
    np.testing.assert_array_equal(found.row_splits, expected.row_splits)
    np.testing.assert_array_equal(found.ids, expected.flat_values)
    assert found.ids.dtype == np.int32
    assert found.row_splits.dtype == np.int64


def test_hard_texts(tokenizer, graph, vocabulary_file):
    same(tokenizer, graph, HARD)
    pieces = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "a",
        "##a",
        "é",
        "b##",
        "##/",
        "[",
        "北",
        "##\u0301",
    ]
    own = Tokenizer(vocabulary_file(pieces))
    same(own, TokenizerGraph(own), HARD)


def test_every_character(tokenizer, graph, known):
    """As pieces of one vocabulary may be [UNK] for different reasons, normal forms too."""
    characters = sorted(char for char in known if unicodedata.category(char) != "Cs")
    normal = separate_words(clean(tf.constant([char.encode() for char in characters]))).numpy()
    assert tokenizer.normalize(characters) == [text.decode() for text in normal]
    same(tokenizer, graph, characters[::5])
    same(tokenizer, graph, [f"a{char}1 b" for char in characters[::5]])


ODD = st.sampled_from(
    [
        *("Σ", "σ", "Α", "İ", "I", "\u0307", "\u0345", "\u0301", "\u0327", "\u302e", "é", "ﬁ"),
        *(
            " ",
            "\t",
            "\n",
            "\r",
            "\x00",
            "\x0b",
            "\x1c",
            "\x85",
            "\xa0",
            "\xad",
            "\u200d",
            "\u3000",
        ),
        *(
            "[",
            "]",
            "[EMPTY]",
            "[UNK]",
            "[SEP]",
            "##",
            "n/a",
            "n",
            "/",
            "a",
            "7",
            "_",
            ".",
            "·",
            "€",
        ),
        *(
            "北",
            "𠀀",
            "\uf900",
            "한",
            "\u1112",
            "\ud800",
            "\udfff",
            "\ufffd",
            "\U0001d165",
            "x" * 399,
        ),
    ]
)


@given(st.lists(st.text(st.characters(exclude_categories=())) | st.lists(ODD).map("".join)))
def test_any_texts(tokenizer, graph, known, texts):
    same(tokenizer, graph, ["".join(filter(known.__contains__, text)) for text in texts])


@given(st.lists(st.lists(ODD).map("".join)))
@example(HARD)
def test_any_normal_forms(tokenizer, texts):
    expected = separate_words(
        clean(tf.constant([text.encode("utf-8", "ignore") for text in texts], tf.string))
    )
    assert tokenizer.normalize(texts) == [text.decode() for text in expected.numpy()]


def test_works_inside_a_saved_model(tokenizer, graph, tmp_path):
    tf.saved_model.save(graph, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    texts = tf.constant([text.encode() for text in HARD])
    assert loaded.to_ids(texts).to_list() == graph.to_ids(texts).to_list()
    assert loaded.to_ids(texts).dtype == tf.int32


def test_invalid_characters(tokenizer, graph):
    assert graph.to_ids(tf.constant([b"a\xffb"])).to_list() == [tokenizer.ids(["ab"])]
