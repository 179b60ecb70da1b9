"""task.freeze: what is not trained, by name."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import tasks
from mate_tf.data import features as feature_names
from mate_tf.errors import InputError
from mate_tf.layers.keras_namespace import keras

VOCAB = 30
ENCODER = {
    "vocab_size": VOCAB,
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 8,
    "attention": {"name": "tree_fine", "tree_height": 1},
}


def task(freeze, name="SQA"):
    experiment = tasks.experiment(name)
    experiment.task.override({"model": {"encoder": ENCODER}, "freeze": freeze})
    return tasks.create(experiment.task)


@pytest.fixture(scope="module")
def batch():
    rng = np.random.default_rng(0)
    found = {
        spec.name: np.zeros(
            [2, 12 if spec.per_token else spec.size],
            np.float32 if spec.dtype == "float32" else np.int32,
        )
        for spec in (
            *feature_names.MODEL_INPUTS,
            *feature_names.TOKEN_LABELS,
            *feature_names.EXAMPLE_LABELS,
        )
    }
    found["input_ids"] = rng.integers(5, VOCAB, [2, 12]).astype(np.int32)
    found["input_mask"][:] = 1
    for name in ("segment_ids", "column_ids", "row_ids"):
        found[name][:, 6:] = 1
    found["label_ids"][:, 8] = 1
    return {name: tf.constant(value) for name, value in found.items()}


@pytest.mark.parametrize(
    ("freeze", "still"),
    [
        ("attention/self/tree/", {"tree/kernel", "tree/bias"}),  # the reference's names
        (r"blocks/1/|^encoder/embeddings/", {"blocks/1/", "encoder/embeddings/"}),  # paths
    ],
)
def test_frozen_variables_stay(batch, freeze, still):
    of_freeze = task(freeze)
    model = of_freeze.build_model()
    optimizer = keras.optimizers.legacy.Adam(0.1)
    paths = {id(v): name for name, v in _paths(model).items()}
    before = {paths[id(v)]: v.numpy() for v in model.variables}
    of_freeze.train_step(batch, model, optimizer)
    after = {paths[id(v)]: v.numpy() for v in model.variables}
    frozen = {name for name in before if any(part in name for part in still)}
    assert frozen
    assert {paths[id(v)] for v in model.non_trainable_variables} == frozen
    changed = {name for name in before if (before[name] != after[name]).any()}
    assert not changed & frozen
    assert any("attention/query/kernel" in name for name in changed)
    # the iteration, and two moments of each variable that is trained; nothing reads the pooler
    assert len(optimizer.variables()) == 1 + 2 * (len(model.trainable_variables) - 2)
    assert len(model.variables) == len(model.trainable_variables) + len(frozen)


def _paths(model):
    from mate_tf.checkpoints.names import variable_paths

    return variable_paths(model)


def test_nothing_is_frozen_without(batch):
    assert task("").build_model().non_trainable_variables == []
    pretrainer = task("^bert/", "PRETRAIN").build_model()
    trained = {variable.name.split("/")[0] for variable in pretrainer.trainable_variables}
    assert trained == {"masked_words", "random_table"}


def test_patterns_that_freeze_nothing():
    with pytest.raises(InputError, match=r"task\.freeze: 'forest' is in no name of a variable"):
        task("forest").build_model()
    with pytest.raises(InputError, match=r"task\.freeze: '\(' is no regular expression"):
        task("(").build_model()
