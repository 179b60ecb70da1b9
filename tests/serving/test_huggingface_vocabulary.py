"""Vocabularies of fast tokenizers as text files."""

import json

import pytest

from mate_tf.errors import InputError
from mate_tf.serving import huggingface_vocabulary


def write(path, content):
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)


def test_pieces_in_the_order_of_their_ids(tmp_path):
    ids = {"##s": 1, "[PAD]": 0, "ä": 2}
    path = write(tmp_path / "tokenizer.json", {"model": {"type": "WordPiece", "vocab": ids}})
    with open(huggingface_vocabulary.text_file(path), encoding="utf-8") as file:
        assert file.read() == "[PAD]\n##s\nä\n"
    assert huggingface_vocabulary.text_file("vocab.txt") == "vocab.txt"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"model": {"type": "WordPiece", "vocab": {"a": 1}}}, "is not a WordPiece vocabulary with"),
        ({"model": {"type": "BPE", "vocab": {"a": 0}}}, "is not a WordPiece vocabulary with"),
        ({"model": []}, "has no vocabulary that can be read"),
        ({}, "has no vocabulary that can be read"),
    ],
)
def test_what_is_refused(tmp_path, content, message):
    path = write(tmp_path / "tokenizer.json", content)
    with pytest.raises(InputError, match=message):
        huggingface_vocabulary.text_file(path)
