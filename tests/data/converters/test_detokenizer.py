"""Word pieces to texts: joined pieces, punctuation, the end of a text."""

import pytest

from mate_tf.data.converters.tokenizer import Detokenizer, Tokenizer

PIECES = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "plane", "##s", "fly", "high", "the", "bird"),
    *("'", "s", "wing", "(", "19", "##77", ")", "-", ".", ",", "3", "&", ";", "old", "a"),
]


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory):
    path = tmp_path_factory.mktemp("vocabulary") / "vocab.txt"
    path.write_text("\n".join(PIECES))
    return path


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
def test_texts(vocabulary, text, expected):
    ids = Tokenizer(vocabulary).encode([text]).ids
    assert Detokenizer(vocabulary)(ids) == expected


def test_the_end_and_special_pieces(vocabulary):
    name = {piece: index for index, piece in enumerate(PIECES)}
    ids = [name[each] for each in ("[CLS]", "##s", "fly", "[MASK]", "high", "[SEP]", "bird")]
    detokenize = Detokenizer(vocabulary)
    assert detokenize(ids) == "s fly [MASK] high"
    assert detokenize([name["fly"], 0, 0]) == "fly"
    assert detokenize([]) == ""
