"""Variables of attention patterns out of checkpoints of encoders, models and trainings."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import checkpoints
from mate_tf.errors import InputError
from mate_tf.models.classifier import ClassifierConfig, TableClassifier

from ..models.tiny_encoder import tiny

LEARNED = {"name": "learned_mask", "length": 6}


@pytest.fixture(scope="module")
def model():
    """With three patterns, of which the second one learns nothing."""
    attention = [LEARNED, {"name": "full"}, LEARNED | {"objective": "dam"}]
    encoder = tiny(num_hidden_layers=3, attention=attention)
    return TableClassifier(ClassifierConfig(encoder=encoder))


@pytest.mark.parametrize("saved", ["encoder", "model", "training"])
def test_variables(model, saved, tmp_path):
    first, _, last = model.encoder.patterns
    first.alpha.assign(np.random.default_rng(0).normal(size=[2, 21]))
    last.step.assign(5)
    if saved == "training":
        checkpoint = tf.train.Checkpoint(model=model, global_step=tf.Variable(3))
    else:
        checkpoint = tf.train.Checkpoint(model.encoder if saved == "encoder" else model)
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), 1)
    path = manager.save()
    for source in (path, tmp_path):
        found = checkpoints.pattern_variables(source)
        assert {index: sorted(variables) for index, variables in found.items()} == {
            0: ["alpha"],
            2: ["alpha", "step"],
        }
        np.testing.assert_array_equal(found[0]["alpha"], first.alpha)
        assert found[2]["step"] == 5


def test_what_has_none(tmp_path):
    with pytest.raises(InputError, match="no checkpoint in this directory"):
        checkpoints.pattern_variables(tmp_path)
    path = tf.train.Checkpoint(a=tf.Variable(1.0)).save(str(tmp_path / "other"))
    assert checkpoints.pattern_variables(path) == {}
