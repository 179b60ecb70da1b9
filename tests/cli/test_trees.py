"""Decision trees in the table encoder, from training to the SavedModel."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.serving import export
from mate_tf.serving.served_model import ExportedModel
from mate_tf.serving.signatures import parse_examples
from mate_tf.training import experiments, layer_log, trainer

pytestmark = pytest.mark.usefixtures("without_graphs")
VARIANTS = ("tree_fine", "tree_coarse")


def test_tables_with_all_kinds_of_trees(command, config_file, created, tmp_path, monkeypatch):
    """One layer each: they learn, are evaluated, and say the same as a SavedModel."""
    layers = ", ".join(f"{{name: {name}, tree_height: 2}}" for name in VARIANTS)
    model_dir = str(tmp_path / "model")
    flags = (
        f"--config_file={config_file}",
        f"--output_dir={created}",
        f"--model_dir={model_dir}",
        "--params_override=task: {model: {encoder: {num_hidden_layers: 2,"
        f" attention: [{layers}]}}}}}}",
        "--params_override=trainer.layer_log_interval=1",
    )
    assert "trained | " in command("--mode=train", *flags)
    lines = layer_log.read(model_dir)
    (evaluated,) = (line["validation"] for line in lines if "validation" in line)
    assert all(map(np.isfinite, evaluated.values()))
    logged = [line["layers"] for line in lines if "layers" in line]
    assert len(logged) == 3  # before the first step and after each of two
    for layers in logged:
        assert [layer["attention"] for layer in layers] == list(VARIANTS)
        for layer in layers:
            assert layer["tree_gradient_norm"] > 0
            assert len(layer["leaf_shares"]) == 4

    # Without the signature on texts: its graph has nothing of an attention.
    monkeypatch.setattr(export, "_reader", lambda *_: None)
    assert "exported | " in command("--mode=export", *flags)
    records = tf.data.TFRecordDataset(created / "tf_examples" / "dev.tfrecord", "GZIP")
    serialized = [each.numpy() for each in records]
    answers = ExportedModel(f"{model_dir}/export")(*map(tf.train.Example.FromString, serialized))
    model = trainer.load_model(experiments.load(f"{model_dir}/params.yaml"), model_dir)
    direct = model(parse_examples(tf.constant(serialized)), training=False)["probs"].numpy()
    assert len(direct) >= 18  # of 18 questions; the others fill a batch
    assert direct.std() > 0
    for answer, expected in zip(answers, direct, strict=True):
        np.testing.assert_allclose(answer["probabilities"], expected, atol=1e-5)
