"""Attention probabilities of a model, and how they add up to cells."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.analysis.attention import flow as attention_flow
from mate_tf.attention import AttentionConfig, TableContext, abilities
from mate_tf.data import features as feature_names
from mate_tf.errors import InputError
from mate_tf.layers.framework import keras
from mate_tf.models.encoder import TableEncoder

from ...models.tiny_encoder import tiny

SEQ, ROWS, COLUMNS, HEADS = 22, 5, 3, 4
SMALL = {"global_length": 6, "radius": 3, "tree_height": 2, "length": 32}


@pytest.fixture
def features():
    """A question of four tokens and a table with one token in each cell, header first."""
    row, column = np.divmod(np.arange(SEQ - 4), COLUMNS)
    ids = np.random.default_rng(1).integers(0, 50, [1, SEQ]).astype(np.int32)
    values = {name: np.zeros_like(ids) for name in feature_names.names(feature_names.MODEL_INPUTS)}
    values |= {"input_ids": ids, "input_mask": np.ones_like(ids)}
    for name, table in {"segment_ids": 1, "row_ids": row, "column_ids": column + 1}.items():
        values[name][0, 4:] = table
    return values


def encoder_of(name, layers=2, **options):
    keras.utils.set_random_seed(3)
    config = AttentionConfig(name=name)
    small = {key: value for key, value in SMALL.items() if key in config}
    config.override(small | options)
    return TableEncoder(
        tiny(
            vocab_size=50,
            hidden_size=16,
            num_hidden_layers=layers,
            num_attention_heads=HEADS,
            max_position_embeddings=SEQ,
            initializer_range=0.4,
            attention=config,
        )
    )


@pytest.mark.parametrize("name", ["full", "same_row_or_column", "mate_exact", "mate_efficient"])
def test_probabilities(name, features):
    found = list(attention_flow.probabilities(encoder_of(name), features))
    assert [weights.shape for weights in found] == [[1, HEADS, SEQ, SEQ]] * 2
    for weights in found:
        total = weights.numpy().sum(-1)
        # a tree's query may be in a leaf without keys
        assert np.logical_or(np.isclose(total, 1, atol=1e-5), total == 0).all()
    assert np.abs(found[0] - found[1]).max() > 0.01


def test_importance_changes_the_probabilities(features):
    """What is subtracted from the scores is in the probabilities of the layer's own output."""
    encoder = encoder_of("learned_mask", layers=1, objective="importance")
    (before,) = attention_flow.probabilities(encoder, features)
    (pattern,) = encoder.patterns
    assert not pattern.learns_mask
    draws = np.random.default_rng(4).normal(size=pattern.alpha.shape)
    pattern.alpha.assign(3 * draws)
    (after,) = attention_flow.probabilities(encoder, features)
    assert np.abs(after - before).max() > 0.1
    np.testing.assert_allclose(after.numpy().sum(-1), 1, atol=1e-5)


def test_efficient_and_exact_attend_alike_where_windows_cover_the_table(features):
    exact, efficient = encoder_of("mate_exact"), encoder_of("mate_efficient")
    efficient.set_weights(exact.get_weights())
    left, right = (
        next(attention_flow.probabilities(encoder, features))[0] for encoder in (exact, efficient)
    )
    # Rows of three tokens are within a bucket of three and its neighbours, columns are not.
    np.testing.assert_allclose(left[:2], right[:2], atol=1e-5)
    assert np.abs(left[2:] - right[2:]).max() > 0.01


def test_what_has_no_probabilities_says_so(features):
    with pytest.raises(InputError, match="'tree_coarse' of layer 1 has no probabilities"):
        list(attention_flow.probabilities(encoder_of("tree_coarse"), features))


def test_only_what_the_layer_computes_is_shown(features, monkeypatch):
    encoder = encoder_of("full")
    layer = encoder.blocks[1].attention
    monkeypatch.setattr(layer, "scores", lambda *arguments: tf.eye(SEQ, batch_shape=[1, HEADS]))
    found = attention_flow.probabilities(encoder, features)
    next(found)
    with pytest.raises(InputError, match="'full' of layer 2"):
        next(found)


@pytest.mark.parametrize("name", ["mate_efficient", "full", "tree_fine", "table_etc", "linformer"])
def test_masks(name, features):
    encoder = encoder_of(name)
    found = list(attention_flow.masks(encoder, features))
    assert [mask.shape for mask in found] == [(HEADS, SEQ, SEQ)] * 2
    assert {mask.dtype for mask in found} == {np.dtype(bool)}
    if name in ("mate_efficient", "full", "tree_fine"):
        for mask, weights in zip(
            found, attention_flow.probabilities(encoder, features), strict=True
        ):
            np.testing.assert_array_equal(mask, weights[0].numpy() > 0)
    elif name == "table_etc":  # of the long tokens, those within its radius
        pattern = encoder.patterns[0]
        context = TableContext(*(features[name] for name in TableContext.FEATURES))
        x = tf.zeros([1, SEQ, 16])
        of_all = pattern.mask(abilities.add_tokens(pattern, x, context)[1])[0, 0].numpy()
        own = pattern.config.num_global
        np.testing.assert_array_equal(found[0][0], of_all[own:, own:])
    else:
        assert found[0].all()


def test_row_heads_and_column_heads_to_cells(features):
    encoder = encoder_of("mate_exact")
    in_cell = (features["row_ids"] == 2) & (features["column_ids"] == 3)
    sources = {"cell": in_cell[0], "question": np.arange(SEQ) < 4, "none": np.zeros(SEQ, bool)}
    found = attention_flow.to_cells(encoder, features, sources, (ROWS, COLUMNS))
    assert set(found) == {"cell", "question"}
    groups = attention_flow.head_groups(encoder)
    assert list(groups) == ["all heads", "row heads", "column heads"]
    assert groups["row heads"].tolist() == [[True, True, False, False]] * 2
    for flow in found.values():
        assert flow.cells.shape == (2, HEADS, ROWS + 1, COLUMNS)
        np.testing.assert_allclose(flow.cells.sum((2, 3)) + flow.question, 1, atol=1e-5)
    cells = found["cell"].cells
    of_rows, of_columns = cells[groups["row heads"]], cells[groups["column heads"]]
    assert (of_rows[:, 2] > 0).all()
    assert not of_rows[:, [0, 1, 3, 4, 5]].any()
    assert (of_columns[:, :, 2] > 0).all()
    assert not of_columns[:, :, :2].any()
    assert (found["question"].cells > 0).all()


def test_cells_of_several_tokens_are_added_up(features):
    encoder = encoder_of("full", layers=1)
    features["column_ids"][0, 4:] = 1
    features["row_ids"][0, 4:] = np.repeat([0, 1], 9)
    (weights,) = attention_flow.probabilities(encoder, features)
    source = np.arange(SEQ) == 21
    flow = attention_flow.to_cells(encoder, features, {"last": source}, (1, 1))["last"]
    np.testing.assert_allclose(
        flow.cells[0, :, 1, 0], weights[0, :, 21, 13:].numpy().sum(-1), atol=1e-6
    )
    np.testing.assert_allclose(flow.question[0], weights[0, :, 21, :4].numpy().sum(-1), atol=1e-6)


def test_padding_is_cut_off():
    example = tf.train.Example()
    for name in feature_names.names(feature_names.MODEL_INPUTS):
        example.features.feature[name].int64_list.value[:] = [5, 6, 0]
    example.features.feature["input_mask"].int64_list.value[:] = [1, 1, 0]
    found = attention_flow.example_features(example)
    assert found["input_ids"].tolist() == [[5, 6]]
    assert found["input_ids"].dtype == np.int32
