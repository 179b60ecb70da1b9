"""BERT's optimizer against plain numpy."""

import json

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.checkpoints import names
from mate_tf.layers.cells import Cells
from mate_tf.models import classifier
from mate_tf.training import optimizers


def build(learning_rate=None, **adamw):
    config = optimizers.OptimizationConfig()
    config.override({"optimizer": {"bert_adamw": adamw}})
    config.override({"learning_rate": {"bert": learning_rate or {}}})
    factory = optimizers.optimization.OptimizerFactory(config)
    return factory.build_optimizer(factory.build_learning_rate())


def schedule(step, initial=0.1, steps=20, warmup=3):
    return initial * (step / warmup if step < warmup else 1 - step / steps)


RATE = {"initial_learning_rate": 0.1, "decay_steps": 20, "warmup_steps": 3}


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", ["kernel", "bias"])
def test_steps_equal_numpy(sparse, name):
    """Decoupled decay that spares biases, no bias correction, the learning rate of the old step."""
    optimizer = build(RATE, gradient_clip_norm=1.0, clipvalue=0.5)
    rng = np.random.default_rng(0)
    value = rng.normal(size=(4, 2)).astype(np.float32)
    var = tf.Variable(value, name=name)
    m, v = np.zeros_like(value), np.zeros_like(value)
    for step in range(6):
        gradient = rng.normal(size=value.shape).astype(np.float32)
        given = tf.IndexedSlices(gradient, tf.range(4)) if sparse else tf.constant(gradient)
        optimizer.apply_gradients([(given, var), (None, tf.Variable(1.0))])
        gradient = gradient / max(np.linalg.norm(gradient), 1.0)
        gradient = np.clip(gradient, -0.5, 0.5)
        m = 0.9 * m + 0.1 * gradient
        v = 0.999 * v + 0.001 * gradient**2
        decay = 0.01 * value if name == "kernel" else 0.0
        value = value - schedule(step) * (m / (np.sqrt(v) + 1e-6) + decay)
        np.testing.assert_allclose(var, value, rtol=1e-4, atol=1e-5)


def test_bias_correction_is_adams():
    """The first step of Adam is the learning rate in the direction of the sign."""
    rate = {"initial_learning_rate": 0.1, "decay_steps": 10**9, "warmup_steps": 0}
    optimizer = build(rate, bias_correction=True, weight_decay_rate=0.0)
    assert optimizer.get_config()["bias_correction"]
    var = tf.Variable([1.0, 1.0])
    optimizer.apply_gradients([(tf.constant([0.3, -0.01]), var)])
    np.testing.assert_allclose(var, [0.9, 1.1], atol=1e-3)


def test_learning_rate():
    rate = optimizers.LinearDecayWithWarmup(0.1, decay_steps=20, warmup_steps=3)
    got = [float(rate(step)) for step in range(25)]
    want = [max(schedule(step), 0.0) for step in range(25)]
    np.testing.assert_allclose(got, want, atol=1e-7)
    by_ratio = optimizers.LinearDecayWithWarmup(0.1, decay_steps=20, warmup_ratio=0.15)
    assert by_ratio.get_config() == rate.get_config()


def test_tf_models_types_remain():
    config = optimizers.OptimizationConfig()
    config.override(
        {
            "optimizer": {"type": "lamb"},
            "learning_rate": {"type": "constant", "constant": {"learning_rate": 0.5}},
            "warmup": {"type": "linear", "linear": {"warmup_steps": 2}},
        }
    )
    factory = optimizers.optimization.OptimizerFactory(config)
    rate = factory.build_learning_rate()
    assert type(factory.build_optimizer(rate)).__name__ == "LAMB"
    assert float(rate(1)) == pytest.approx(0.25)


def test_training_run_equals_the_reference(goldens, monkeypatch):
    """Six steps of the recorded SQA run: losses, gradient norms and the variables afterwards.

    Its loss contains the logit of column 0, which the reference averages over padding too; so
    must we here.
    """
    folder = goldens / "classifier" / "open"
    run = json.loads((folder / "train.json").read_text())["sqa_adamw"]
    base = json.loads((folder / "config.json").read_text())
    features = {k: v for k, v in np.load(folder / "features.npz").items() if v.dtype == np.int32}
    recorded = np.load(folder / "train_sqa_adamw.npz")
    monkeypatch.setattr(
        classifier,
        "Cells",
        lambda rows, columns, mask, *limits: Cells(rows, columns, tf.ones_like(mask), *limits),
    )
    options = {**base["base_config"], **run["overrides"]}
    config = classifier.ClassifierConfig.from_tapas(base["bert_config"], **options)
    model = classifier.TableClassifier(config)
    variables = names.reference_variables(model)
    reader = tf.train.load_checkpoint(str(folder / "model.ckpt"))
    for name, variable in variables.items():
        variable.assign(reader.get_tensor(name))
    optimizer = build(
        {
            "initial_learning_rate": options["learning_rate"],
            "decay_steps": options["num_train_steps"],
            "warmup_steps": options["num_warmup_steps"],
        }
    )

    @tf.function
    def gradients():
        with tf.GradientTape() as tape:
            loss = model(features, training=False)["total_loss"]
        return loss, tape.gradient(loss, model.trainable_variables)

    for step in range(run["num_train_op_calls"]):
        loss, grads = gradients()
        assert float(loss) == pytest.approx(run["losses_before_each_call"][step], rel=1e-3)
        norm = float(tf.linalg.global_norm(grads))
        assert norm == pytest.approx(run["global_grad_norm_before_each_call"][step], rel=1e-3)
        optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
    assert float(gradients()[0]) == pytest.approx(run["final_loss"], rel=1e-3)
    compared = [name for name in recorded.files if name.startswith("final/")]
    assert len(compared) > 8
    for name in compared:
        value = variables[name.removeprefix("final/")]
        np.testing.assert_allclose(value, recorded[name], rtol=1e-3, atol=1e-4, err_msg=name)
