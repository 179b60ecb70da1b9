"""BERT's optimizer against plain numpy."""

import numpy as np
import pytest
import tensorflow as tf
from official.modeling import optimization

from mate_tf.checkpoints import names
from mate_tf.errors import InputError
from mate_tf.models.classifier import ClassifierConfig, TableClassifier
from mate_tf.models.pretrainer import PretrainerConfig, TablePretrainer
from mate_tf.tasks import configs, optimizers

from ..models.tiny_encoder import tiny


def build(learning_rate=None, **adamw):
    config = configs.OptimizationConfig()
    config.override({"optimizer": {"bert_adamw": adamw}})
    config.override({"learning_rate": {"bert": learning_rate or {}}})
    factory = optimization.OptimizerFactory(config)
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


@pytest.mark.parametrize("compiled", [False, True])
def test_repeated_rows_of_a_sparse_gradient_add_up(compiled):
    """In the moment: an update hardly depends on the size of the gradient."""
    optimizer, var = build(RATE, gradient_clip_norm=0.0), tf.Variable(tf.ones([3, 1]))
    rows = tf.IndexedSlices(tf.constant([[0.1], [0.2], [-0.4]]), tf.constant([2, 2, 0]), [3, 1])

    @tf.function(jit_compile=compiled)
    def step():
        optimizer.apply_gradients([(rows, var)])

    step()
    moment = optimizer.get_slot(var, "m").numpy().ravel()
    np.testing.assert_allclose(moment, [-0.04, 0, 0.03], rtol=1e-5)


@pytest.mark.parametrize(
    ("options", "clipped"),
    [
        ({"clipvalue": 10.0}, [0.8, 0.6]),  # the norm of 1 leaves nothing to clip
        ({"clipvalue": None}, [0.8, 0.6]),
        ({"clipvalue": 0.7}, [0.7, 0.6]),
        ({"clipvalue": 10.0, "gradient_clip_norm": 0.0}, [10.0, 10.0]),
    ],
)
def test_clipping_to_10_needs_the_norm_off(options, clipped):
    optimizer, var = build(RATE, **options), tf.Variable([0.0, 0.0])
    optimizer.apply_gradients([(tf.constant([80.0, 60.0]), var)])
    np.testing.assert_allclose(optimizer.get_slot(var, "m"), 0.1 * np.array(clipped), rtol=1e-5)


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
    # A share of 3.8 steps is rounded down.
    by_ratio = optimizers.LinearDecayWithWarmup(0.1, decay_steps=20, warmup_ratio=0.19)
    assert by_ratio.get_config() == rate.get_config()


def test_a_schedule_that_nobody_has_resolved():
    """As in tf-models' own program, which does not know mate-tf's defaults."""
    with pytest.raises(InputError, match=r"^learning_rate.bert.decay_steps=0: must be 1 or more"):
        optimizers.LinearDecayWithWarmup(0.1, decay_steps=0)(1)


def test_tf_models_types_remain():
    config = configs.OptimizationConfig()
    config.override(
        {
            "optimizer": {"type": "lamb"},
            "learning_rate": {"type": "constant", "constant": {"learning_rate": 0.5}},
            "warmup": {"type": "linear", "linear": {"warmup_steps": 2}},
        }
    )
    factory = optimization.OptimizerFactory(config)
    rate = factory.build_learning_rate()
    assert type(factory.build_optimizer(rate)).__name__ == "LAMB"
    assert float(rate(1)) == pytest.approx(0.25)


def test_learning_rate_at_every_step_of_a_task():
    """The reference's numbers for WTQ."""
    steps, ratio, peak = 50_000, 0.128960, 1.93581e-5
    warmup = int(steps * ratio)
    assert warmup == 6448
    rate = optimizers.LinearDecayWithWarmup(peak, decay_steps=steps, warmup_ratio=ratio)
    step = np.arange(steps + 10)
    want = np.where(step < warmup, peak * step / warmup, peak * np.maximum(1 - step / steps, 0))
    np.testing.assert_allclose(rate(tf.constant(step)), want, rtol=1e-5, atol=1e-11)


HEADS = {
    "cells, aggregation, classes": {
        "select_one_column": True,
        "num_aggregation_labels": 4,
        "num_classification_labels": 2,
    },
    "spans": {"span_prediction": "span"},
    "boundaries": {"span_prediction": "boundary"},
    "pretraining": None,
}


@pytest.mark.parametrize("heads", HEADS)
def test_decayed_are_those_of_the_reference(heads):
    """The rule goes by names; on ours it must choose what it chooses on the checkpoints'."""
    encoder = tiny(vocab_size=20)
    if HEADS[heads] is None:
        model = TablePretrainer(PretrainerConfig(encoder=encoder))
    else:
        model = TableClassifier(ClassifierConfig(encoder=encoder, **HEADS[heads]))
    adamw = build()
    variables = names.checkpoint_variables(model)
    assert len(variables) == len(model.trainable_variables)
    decayed = {name for name, var in variables.items() if adamw._do_use_weight_decay(var.name)}
    spared = ("LayerNorm", "layer_norm", "bias")
    assert decayed == {name for name in variables if not any(part in name for part in spared)}
    assert 0 < len(decayed) < len(variables)


def test_alpha_of_learned_masks():
    """Without decay, and at a rate of its own if that is asked for."""
    encoder = tiny(vocab_size=20, attention={"name": "learned_mask", "length": 4})
    model = TablePretrainer(PretrainerConfig(encoder=encoder))
    alpha, kernel = model.encoder.patterns[0].alpha, model.encoder.pooler.kernel
    rate = {"initial_learning_rate": 0.01, "decay_steps": 10**9, "warmup_steps": 0}
    options = {"bias_correction": True, "weight_decay_rate": 0.5, "gradient_clip_norm": 0.0}
    for factor in (1.0, 3.0):
        optimizer = build(rate, pattern_learning_rate_factor=factor, **options)
        assert optimizer.get_config()["pattern_learning_rate_factor"] == factor
        before = alpha.numpy(), kernel.numpy()
        ones = [(tf.ones_like(variable), variable) for variable in (alpha, kernel)]
        optimizer.apply_gradients(ones)
        # The first step of Adam is as long as its rate.
        np.testing.assert_allclose(before[0] - alpha, 0.01 * factor, rtol=1e-3)
        expected = 0.01 * (1 + 0.5 * before[1])
        np.testing.assert_allclose(before[1] - kernel, expected, rtol=1e-3)


def test_gradients_of_alpha_are_clipped_apart():
    encoder = tiny(vocab_size=20, attention={"name": "learned_mask", "length": 4})
    model = TablePretrainer(PretrainerConfig(encoder=encoder))
    alpha, pooler = model.encoder.patterns[0].alpha, model.encoder.pooler
    kernel, bias = pooler.kernel, pooler.bias
    given = [(tf.fill(v.shape, size), v) for v, size in ((kernel, 3.0), (alpha, 50.0), (bias, 0.1))]
    optimizer = build(gradient_clip_norm=1.0)
    clipped = {v.ref(): g.numpy() for g, v in optimizer._transform_gradients(given)}
    others = np.sqrt(9.0 * 64 + 0.01 * 8)
    np.testing.assert_allclose(clipped[kernel.ref()], 3.0 / others, rtol=1e-5)
    np.testing.assert_allclose(clipped[bias.ref()], 0.1 / others, rtol=1e-5)
    np.testing.assert_allclose(clipped[alpha.ref()], 1 / np.sqrt(20), rtol=1e-5)
