"""Word pieces equal those of BERT's Python tokenizer."""

import csv
import json
import sys
import unicodedata

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st
from official.nlp.tools import tokenization

from mate_tf.data.converters import tokenizer as tokenizer_module
from mate_tf.data.converters.tokenizer import (
    MAX_WORD_CHARACTERS,
    Detokenizer,
    Tokenizer,
    read_vocabulary,
)
from mate_tf.errors import InputError
from mate_tf.tables.text import EMPTY, format_text

PIECES = ["[PAD]", "[EMPTY]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##b", "b", "1", "#", "/"]
HARD = [
    "",
    "n/a",
    " N/A\x1c",
    "n/a.",
    "?",
    "_",
    "½ ² Ⅷ ﬁ ß ẞ",
    "２０ ＡＢ",
    "naïve café",
    "e\u0301\u200bx\u00adb",
    "a\x00b\ufffdc\x85d\u2028e\xa0f",
    "ΑΣ ΑΣΑ İstanbul ǅ",
    "北京2008 𠀀 豈",
    "[CLS] [UNK] [EMPTY] [unused1] ##b",
    "🙂 ok",
    "a" * MAX_WORD_CHARACTERS,
    "a" * (MAX_WORD_CHARACTERS + 1),
    "é" * (MAX_WORD_CHARACTERS + 1) + "-b",
    "x" * 5000 + " b",
]


@pytest.fixture(scope="module")
def tokenizer(bert_vocab):
    return Tokenizer(bert_vocab)


@pytest.fixture(scope="module")
def reference(bert_vocab):
    """BERT's tokenizer as TAPAS uses it: word by word, and [EMPTY] for nothing."""
    full = tokenization.FullTokenizer(str(bert_vocab))

    def tokenize(text):
        if format_text(text) == EMPTY:
            return ["[unused0]"]
        return [
            piece for word in full.basic_tokenizer.tokenize(text) for piece in full.tokenize(word)
        ]

    return tokenize


@pytest.fixture
def vocab_file(tmp_path):
    """A function that writes a vocabulary."""

    def write(pieces):
        path = tmp_path / "vocab.txt"
        path.write_bytes(pieces if isinstance(pieces, bytes) else "\n".join(pieces).encode())
        return path

    return write


@pytest.fixture(scope="module")
def recorded(goldens):
    return json.loads((goldens / "tokenization/open/text_utils.json").read_text(encoding="utf-8"))


def test_equals_the_goldens(goldens, recorded):
    tokenizer = Tokenizer(goldens / "tokenization" / "vocab.txt")
    pieces = tokenizer.tokenize([entry["text"] for entry in recorded])
    assert pieces == [entry["pieces"] for entry in recorded]
    assert [tokenizer.ids(found) for found in pieces] == [entry["ids"] for entry in recorded]


def test_words_can_be_recovered(goldens, recorded):
    tokenizer = Tokenizer(goldens / "tokenization" / "vocab.txt")
    encoding = tokenizer.encode([entry["text"] for entry in recorded])
    for entry, begin, end in zip(
        recorded, encoding.row_splits, encoding.row_splits[1:], strict=False
    ):
        number, numbers = 0, []
        for starts in encoding.word_starts[begin:end]:
            number += starts
            numbers.append(number)
        words = entry["original_words"]
        for first, second, word, next_word in zip(
            numbers, numbers[1:], words, words[1:], strict=False
        ):
            # Equal words may follow one another.
            assert first != second or word == next_word
            assert first == second or encoding.word_starts[begin + numbers.index(second)]
        assert numbers[0] == 1


def test_equals_the_reference_on_real_cells(tokenizer, reference, sqa_dir):
    cells = set()
    for path in sorted((sqa_dir / "table_csv").glob("*.csv"))[::40]:
        with open(path, encoding="utf-8", newline="") as file:
            cells.update(cell for row in csv.reader(file) for cell in row)
    cells = sorted(cells)
    assert len(cells) > 1000
    assert tokenizer.tokenize(cells) == [reference(cell) for cell in cells]


@pytest.fixture(scope="module")
def known():
    """known(character): the tables of Python and of TensorFlow Text both have it. Those of
    TensorFlow Text are of Unicode 14, as Python 3.11's. A later Python has characters that no
    script of TensorFlow has."""
    newer = set()
    if unicodedata.unidata_version >= "15":
        scripts = tf.strings.unicode_script(tf.range(sys.maxunicode + 1))
        newer = set(np.flatnonzero(scripts.numpy() == 103))  # USCRIPT_UNKNOWN

    def found(character):
        return unicodedata.category(character) not in ("Cs", "Cn") and ord(character) not in newer

    return found


def test_equals_the_reference_on_every_kind_of_character(tokenizer, reference, known):
    # The whole of Unicode was compared once; here, every 23rd character.
    chars = [char for char in map(chr, range(1, 0x30000, 23)) if known(char)]
    texts = [*HARD, *chars, *(f"x{char}y" for char in chars)]
    assert tokenizer.tokenize(texts) == [reference(text) for text in texts]


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=20), max_size=5))
def test_equals_the_reference_on_any_text(tokenizer, reference, known, texts):
    texts = ["".join(filter(known, text)) for text in texts]
    assert tokenizer.tokenize(texts) == [reference(text) for text in texts]


def test_no_texts_and_invalid_characters(tokenizer):
    assert tokenizer.tokenize([]) == []
    assert tokenizer.tokenize(["a\ud800b"]) == [["ab"]]
    assert tokenizer.encode([]).ids.dtype == tokenizer.encode(["a"]).ids.dtype == np.int32


def test_a_full_cache_changes_nothing(vocab_file, monkeypatch):
    texts = ["ab a", "b", "é/a", "?", "aé b1"]
    expected = Tokenizer(vocab_file(PIECES)).tokenize(texts)
    monkeypatch.setattr(tokenizer_module, "_MOST_CACHED", 2)
    monkeypatch.setattr(tokenizer_module, "_TEXTS_AT_A_TIME", 2)
    own = Tokenizer(vocab_file(PIECES))
    for _ in range(2):
        assert own.tokenize(texts) == expected
        assert len(own._split) <= 2
    own.tokenize(["1"])
    assert "1" in own._split
    assert expected == [["a", "##b", "a"], ["b"], ["[UNK]", "/", "a"], ["[EMPTY]"], ["[UNK]"] * 2]


def test_empty_piece(vocab_file, tokenizer):
    own = Tokenizer(vocab_file(PIECES))
    assert own.empty_id == 1
    assert own.encode(["-"]).ids.tolist() == [1]
    # BERT's vocabulary has [unused0] where TAPAS's has [EMPTY].
    assert tokenizer.pieces[tokenizer.empty_id] == "[unused0]"
    assert tokenizer.empty_id == 1
    bare = Tokenizer(vocab_file([piece for piece in PIECES if piece != "[EMPTY]"]))
    assert bare.empty_id == bare.unk_id
    assert bare.tokenize(["?", "ab"]) == [["[UNK]"], ["a", "##b"]]


def test_special_ids(vocab_file):
    tokenizer = Tokenizer(vocab_file(PIECES))
    ids = [tokenizer.pad_id, tokenizer.unk_id, tokenizer.cls_id, tokenizer.sep_id]
    assert ids == [0, 2, 3, 4]
    assert tokenizer.mask_id == 5
    without = Tokenizer(vocab_file([piece for piece in PIECES if piece != "[MASK]"]))
    assert without.mask_id is None


def test_unknown_piece_is_named(vocab_file):
    with pytest.raises(InputError, match=r"vocab\.txt.*nonsense"):
        Tokenizer(vocab_file(PIECES)).ids(["a", "nonsense"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"\n\n", "empty"),
        ([p for p in PIECES if p not in ("[CLS]", "[UNK]")], r"lacks \[UNK\], \[CLS\]"),
        (["[PAD]"], r"lacks \[UNK\], \[CLS\], \[SEP\]"),
        ([*PIECES, "c", "b"], "'b' is in lines 9 and 14"),
        ([*PIECES, "", "c"], "line 13 of the vocabulary is empty"),
        (b"\x1f\x8b\x08\x00\xff\xfe", "not UTF-8"),
        (b"[PAD]\x00\x00", "binary"),
    ],
)
def test_wrong_vocabulary(vocab_file, content, message):
    path = vocab_file(content)
    with pytest.raises(InputError, match=message) as raised:
        Tokenizer(path)
    assert str(path) in str(raised.value)


def test_missing_vocabulary(tmp_path):
    for path in (tmp_path / "absent.txt", tmp_path):
        with pytest.raises(InputError, match=str(path)):
            read_vocabulary(path)


def test_windows_line_ends(vocab_file):
    assert read_vocabulary(vocab_file("\r\n".join(PIECES).encode() + b"\r\n")) == tuple(PIECES)


WRITTEN = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "plane", "##s", "fly", "high", "the", "bird"),
    *("'", "s", "wing", "(", "19", "##77", ")", "-", ".", ",", "3", "&", ";", "old", "a"),
]


@pytest.fixture(scope="module")
def vocabulary(vocabulary_file):
    return vocabulary_file(WRITTEN)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Planes fly high.", "planes fly high."),
        ("the bird's wing ( 1977 ), high", "the bird's wing (1977), high"),
        ("a 19-a old plane", "a 19-a old plane"),
        ("3 & 19; fly", "3 & 19; fly"),
        ("strange", "[UNK]"),
    ],
)
def test_texts_of_pieces(vocabulary, text, expected):
    ids = Tokenizer(vocabulary).encode([text]).ids
    assert Detokenizer(vocabulary)(ids) == expected


def test_the_end_of_texts_and_special_pieces(vocabulary):
    name = {piece: index for index, piece in enumerate(WRITTEN)}
    ids = [name[each] for each in ("[CLS]", "##s", "fly", "[MASK]", "high", "[SEP]", "bird")]
    detokenize = Detokenizer(vocabulary)
    assert detokenize(ids) == "s fly [MASK] high"
    assert detokenize([name["fly"], 0, 0]) == "fly"
    assert detokenize([]) == ""
