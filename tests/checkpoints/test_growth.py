"""Warm start of trees that have grown, and of an optimizer's moments with them."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import checkpoints
from mate_tf.checkpoints.growth import load_moments
from mate_tf.errors import InputError
from mate_tf.layers.framework import keras
from mate_tf.models.encoder import EncoderConfig, TableEncoder

from .conftest import SIZES

NODES = {"tree_fine": ("kernel", "bias"), "tree_coarse": ("kernel", "bias", "alpha")}


def encoder(*attention):
    config = EncoderConfig(**SIZES | {"num_hidden_layers": len(attention)})
    config.attention = [dict(each) for each in attention]
    return TableEncoder(config)


def filled(model, value=0.5):
    for variable in model.variables:
        variable.assign(value + tf.random.stateless_uniform(variable.shape, [1, 2]))
    return model


def tree(model, layer=0):
    """Its variables by name."""
    attention = model.blocks[layer].attention
    names = {"kernel": attention.tree.kernel, "bias": attention.tree.bias}
    return names | ({"alpha": attention.alpha} if hasattr(attention, "alpha") else {})


@pytest.mark.parametrize("name", NODES)
@pytest.mark.parametrize(
    ("low", "high", "kept"),
    [
        ({"tree_height": 2}, {"tree_height": 3}, 3),
        ({"tree_height": 1}, {"tree_height": 3}, 1),
        ({"branching": [3]}, {"branching": [3, 2]}, 3),
    ],
)
def test_lower_trees_are_the_beginning(tmp_path, name, low, high, kept):
    before = filled(encoder({"name": name, **low}))
    path = tf.train.Checkpoint(model=before).write(str(tmp_path / "model"))
    model = encoder({"name": name, **high})
    own = {key: variable.numpy() for key, variable in tree(model).items()}
    report = checkpoints.load(model, path)
    assert len(report.loaded) == len(model.variables)
    assert report.missing == report.unused == ()
    assert {part.rsplit("/", 1)[1] for part in report.partial} == set(NODES[name])
    for key, variable in tree(model).items():
        stored = tree(before)[key].numpy()
        size = stored.shape[1]
        assert key == "alpha" or size == kept
        if key == "alpha":
            stored = stored * size / variable.shape[1]
        np.testing.assert_allclose(variable[:, :size], stored, rtol=1e-6)
        np.testing.assert_array_equal(variable[:, size:], own[key][:, size:])
    np.testing.assert_array_equal(
        model.blocks[0].attention.query.kernel, before.blocks[0].attention.query.kernel
    )


def test_alpha_that_has_learned_nothing_is_that_of_a_new_tree(tmp_path):
    before = encoder({"name": "tree_coarse", "tree_height": 2})
    path = tf.train.Checkpoint(model=before).write(str(tmp_path / "model"))
    model = encoder({"name": "tree_coarse", "tree_height": 5})
    checkpoints.load(model, path)
    alpha = tree(model)["alpha"].numpy()
    assert alpha.shape[1] == 6
    np.testing.assert_allclose(alpha, 1 / 6, rtol=1e-6)


def test_trees_of_another_shape_are_refused(tmp_path):
    path = tf.train.Checkpoint(
        model=filled(encoder({"name": "tree_fine", "tree_height": 2}))
    ).write(str(tmp_path / "model"))
    for other in (
        {"tree_height": 1},  # would lose decisions
        {"branching": [2, 2]},  # two scores a node
        {"tree_height": 3, "num_trees": 2},
    ):
        with pytest.raises(InputError, match=r"tree/(kernel|bias) has the shape"):
            checkpoints.load(encoder({"name": "tree_fine", **other}), path)


@pytest.mark.parametrize(
    ("before", "name"), [("full", "tree_coarse"), ("mate_efficient", "tree_fine")]
)
def test_trees_come_into_layers_without(tmp_path, before, name):
    before = filled(encoder({"name": before}))
    path = tf.train.Checkpoint(model=before).write(str(tmp_path / "model"))
    model = encoder({"name": name, "tree_height": 2})
    report = checkpoints.load(model, path)
    assert {part.rsplit("/", 1)[1] for part in report.missing} == set(NODES[name])
    assert report.partial == ()


def test_moments_grow_with_the_trees(tmp_path):
    low = {"name": "tree_coarse", "tree_height": 1}
    high = low | {"tree_height": 2}
    before = filled(encoder({"name": "full"}, low))
    optimizer = keras.optimizers.legacy.Adam()
    optimizer.apply_gradients([(0.1 * v, v) for v in before.trainable_variables])
    path = tf.train.Checkpoint(
        model=before, optimizer=optimizer, global_step=tf.Variable(7, dtype=tf.int64)
    ).write(str(tmp_path / "model"))

    model = encoder(low, high)
    frozen = model.pooler.kernel
    model.freeze([frozen])
    new = keras.optimizers.legacy.Adam()
    count = load_moments(new, model, path)
    assert count == 2 * (len(before.trainable_variables) - 1)
    for slot in ("m", "v"):
        for theirs, ours in (
            (before.embeddings.word_embeddings, model.embeddings.word_embeddings),
            (before.blocks[0].attention.key.kernel, model.blocks[0].attention.key.kernel),
        ):
            want = optimizer.get_slot(theirs, slot).numpy()
            assert want.any()
            np.testing.assert_array_equal(new.get_slot(ours, slot), want)
        assert not new.get_slot(model.blocks[0].attention.tree.kernel, slot).numpy().any()
        for key, variable in tree(model, 1).items():
            want = optimizer.get_slot(tree(before, 1)[key], slot).numpy()
            size = want.shape[1]
            np.testing.assert_array_equal(new.get_slot(variable, slot)[:, :size], want)
            assert not new.get_slot(variable, slot)[:, size:].numpy().any()
    with pytest.raises(KeyError):
        new.get_slot(frozen, "m")


def test_positions_are_repeated(tmp_path):
    """Also those of a longer checkpoint are compared: they are refused, as without the option."""
    before = filled(TableEncoder(EncoderConfig(**SIZES)))
    path = tf.train.Checkpoint(model=before).write(str(tmp_path / "model"))
    config = EncoderConfig(**SIZES | {"max_position_embeddings": 40, "repeat_positions": True})
    model = TableEncoder(config)
    report = checkpoints.load(model, path)
    assert [name.rsplit("/", 1)[1] for name in report.partial] == ["position_embeddings"]
    assert report.missing == report.mismatched == ()
    table = before.embeddings.position_embeddings.numpy()
    expected = np.concatenate([table, table, table[:8]])
    np.testing.assert_array_equal(model.embeddings.position_embeddings, expected)
    fewer = EncoderConfig(**SIZES | {"max_position_embeddings": 8, "repeat_positions": True})
    with pytest.raises(InputError, match=r"\[16, 8\].*\[8, 8\]: max_position_embeddings differs"):
        checkpoints.load(TableEncoder(fewer), path)


def test_types_of_the_previous_answer_start_as_those_without_it(tmp_path):
    """`mark_previous` has four types of prev_label_ids, and most models have two."""
    before = filled(TableEncoder(EncoderConfig(**SIZES)))
    path = tf.train.Checkpoint(model=before).write(str(tmp_path / "model"))
    sizes = EncoderConfig(**SIZES).type_vocab_sizes
    assert sizes[3] == 2
    model = TableEncoder(EncoderConfig(**SIZES | {"type_vocab_sizes": [*sizes[:3], 4, *sizes[4:]]}))
    report = checkpoints.load(model, path)
    assert [name.rsplit("/", 1)[1] for name in report.partial] == ["token_type_embeddings_3"]
    table = before.embeddings.token_type_embeddings[3].numpy()
    found = model.embeddings.token_type_embeddings[3].numpy()
    np.testing.assert_array_equal(found, np.concatenate([table, table]))
