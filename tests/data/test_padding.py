"""Which tokens and which examples are padding, and examples that fill a batch up."""

import numpy as np
import tensorflow as tf

from mate_tf.data import features as feature_names
from mate_tf.data import padding
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.interactions import PADDING_QUESTION_ID


def batch_of(mask):
    batch, seq = np.shape(mask)
    values = {}
    for feature in feature_names.ALL:
        shape = [batch, seq if feature.per_token else feature.size]
        kind = {"int64": tf.int32, "float32": tf.float32, "string": tf.string}[feature.dtype]
        values[feature.name] = tf.fill(shape, "x") if kind == tf.string else tf.ones(shape, kind)
    return values | {"input_mask": tf.constant(mask)}


def test_padding_examples_of_table_converters_have_no_table(bert_vocab):
    """They have three tokens, as in the reference."""
    converter = ExampleConverter(str(bert_vocab), 8)
    feature = converter.empty_example().features.feature
    columns = [list(feature["column_ids"].int64_list.value), [0, 0, 1, 0, 0, 0, 0, 0]]
    assert sum(feature["input_mask"].int64_list.value) == 3
    found = padding.table_example_mask({"column_ids": tf.constant(columns)})
    assert found.numpy().tolist() == [False, True]


def test_real_tokens_and_examples():
    mask = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 0, 0]])
    found = padding.example_mask({"input_mask": mask}).numpy()
    assert found.tolist() == [True, False, True, False]
    mask = np.array([[1, 1, 0], [1, 0, 0]])
    expected = [[True, True, False], [True, False, False]]
    assert padding.real_tokens(mask).tolist() == expected
    assert padding.real_tokens(tf.constant(mask)).numpy().tolist() == expected


def test_what_fills_up_is_no_example():
    batch = batch_of([[1, 1, 0], [1, 1, 1]])
    filled = padding.fill(batch, 5)
    assert padding.example_mask(filled).numpy().tolist() == [True, True, False, False, False]
    for name, value in filled.items():
        assert value.shape[0] == 5
        np.testing.assert_array_equal(value[:2], batch[name])
    assert filled["question_id"].numpy()[2:].tolist() == [[PADDING_QUESTION_ID.encode()]] * 3
    codes = [chr(code - 1) for code in filled["question_id_ints"][4].numpy() if code]
    assert "".join(codes) == PADDING_QUESTION_ID
    for name in ("label_ids", "column_ids", "input_ids"):
        assert not filled[name].numpy()[2:].any()
    assert np.isnan(filled["answer"].numpy()[2:]).all()
    assert np.isnan(filled["numeric_values"].numpy()[2:]).all()


def test_fill_to_multiple():
    batch = batch_of([[1, 1]] * 3)
    sizes = {n: len(padding.fill_to_multiple(batch, n)["input_ids"]) for n in (1, 2, 3, 4, 5)}
    assert sizes == {1: 3, 2: 4, 3: 3, 4: 4, 5: 5}
