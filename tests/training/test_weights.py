"""Masks that a training has learned are written as files that `static_mask` reads."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import tasks
from mate_tf.attention import mask_files
from mate_tf.layers.framework import keras
from mate_tf.models.encoder import TableEncoder
from mate_tf.training import weights

LEARNED = {"name": "learned_mask", "objective": "dam", "length": 6}


@pytest.fixture
def trained(tmp_path):
    """trained(attention): an experiment and a folder with a checkpoint of its encoder."""

    def make(attention):
        experiment = tasks.experiment("SQA")
        sizes = {"hidden_size": 4, "num_attention_heads": 2, "intermediate_size": 4}
        sizes |= {"vocab_size": 10, "num_hidden_layers": 2, "attention": attention}
        experiment.task.override({"model": {"encoder": sizes}})
        keras.utils.set_random_seed(1)
        encoder = TableEncoder(experiment.task.model.encoder)
        for pattern in encoder.patterns:
            if pattern.learns_importance:
                alpha = np.random.default_rng(0).normal(size=pattern.alpha.shape)
                pattern.alpha.assign(alpha)
        tf.train.Checkpoint(model=encoder).save(str(tmp_path / "ckpt"))
        return experiment, encoder

    return make


def test_one_file_for_each_pattern_that_learns_a_mask(trained, tmp_path, capsys):
    experiment, encoder = trained([{"name": "full"}, LEARNED])
    paths = weights.save_masks(experiment, str(tmp_path))
    assert paths == [str(tmp_path / "masks" / "patterns_1.npz")]
    expected = encoder.patterns[1].final_mask()
    mask = mask_files.load(paths[0], num_heads=2)
    np.testing.assert_array_equal(mask, expected)
    assert 0 < mask.mean() < 1
    assert f"sparsity {1 - mask.mean():.1%}" in capsys.readouterr().out


@pytest.mark.parametrize("attention", [{"name": "full"}, LEARNED | {"objective": "importance"}])
def test_nothing_is_written_if_no_mask_is_learned(trained, tmp_path, attention):
    experiment, _ = trained(attention)
    assert weights.save_masks(experiment, str(tmp_path)) == []
    assert not (tmp_path / "masks").exists()
