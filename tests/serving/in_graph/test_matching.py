"""Marks in the graph are those of the converter; test_table_reader.py compares whole examples."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.data.converters import example_features as in_python
from mate_tf.data.converters.tokenizer import Tokenizer
from mate_tf.serving.in_graph.matching import SharedWords

PIECES = ["[PAD]", "[EMPTY]", "[UNK]", "[CLS]", "[SEP]", "city", "##s", "bus", "cit", "##ies"]
PIECES += ["##y", "pad", "-", "unk", "1", "##0"]
CLS, SEP = 3, 4
ids = st.lists(st.sampled_from([2, *range(5, len(PIECES))]), max_size=8)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    path = tmp_path_factory.mktemp("vocabulary") / "vocab.txt"
    path.write_text("\n".join(PIECES) + "\n")
    return Tokenizer(path)


@given(st.lists(st.tuples(ids, ids), min_size=1, max_size=3))
def test_equals_the_converter(tokenizer, examples):
    length = max(len(question) + len(table) for question, table in examples) + 3
    batch = np.zeros([3, len(examples), length], np.int32)  # ids, mask, segments
    expected = np.zeros([len(examples), length], np.int32)
    for index, (question, table) in enumerate(examples):
        tokens = [CLS, *question, SEP, *table]
        batch[0, index, : len(tokens)] = tokens
        batch[1, index, : len(tokens)] = 1
        batch[2, index, len(question) + 2 : len(tokens)] = 1
        found = in_python.shared_words(
            batch[0, index, : len(tokens)], batch[2, index, : len(tokens)], tokenizer
        )
        expected[index, : len(tokens)] = found
    marks = SharedWords(tokenizer)(*map(tf.constant, batch))
    np.testing.assert_array_equal(marks, expected)


def test_plurals_and_examples_apart(tokenizer):
    """ "cities" is "city" in the same example only; padding is no word."""
    cities, bus, pad = [8, 9], [7], [11]
    batch = np.zeros([3, 2, 7], np.int32)
    for index, (question, table) in enumerate(((cities, [5]), (bus, pad))):
        tokens = [CLS, *question, SEP, *table]
        batch[0, index, : len(tokens)] = tokens
        batch[1, index, : len(tokens)] = 1
        batch[2, index, len(question) + 2 : len(tokens)] = 1
    marks = SharedWords(tokenizer)(*map(tf.constant, batch)).numpy()
    assert marks.tolist() == [[0, 1, 1, 0, 1, 0, 0], [0] * 7]
