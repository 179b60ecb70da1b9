"""Training runs of the reference, call by call: losses, gradients, steps, variables."""

import json

import numpy as np
import pytest
import tensorflow as tf
from official.modeling import optimization

from mate_tf.checkpoints import names
from mate_tf.data import features as feature_names
from mate_tf.models import classifier
from mate_tf.tasks import configs

from .. import reference_padding


def build_optimizer(options, accumulation_steps):
    config = configs.OptimizationConfig()
    adamw = {
        "clipvalue": options["grad_clipping"],
        "gradient_accumulation_steps": accumulation_steps,
    }
    rate = {
        "initial_learning_rate": options["learning_rate"],
        "decay_steps": options["num_train_steps"],
        "warmup_steps": options["num_warmup_steps"],
    }
    config.override({"optimizer": {"bert_adamw": adamw}, "learning_rate": {"bert": rate}})
    factory = optimization.OptimizerFactory(config)
    return factory.build_optimizer(factory.build_learning_rate())


RUNS = ["sqa_adamw", "sqa_adamw_clipvalue", "wtq_adamw_clip10", "tabfact_accum2"]


def test_all_runs_are_compared(goldens):
    runs = json.loads((goldens / "classifier" / "open" / "train.json").read_text())
    assert sorted(RUNS) == sorted(runs)


@pytest.mark.parametrize("name", RUNS)
def test_training_run(goldens, monkeypatch, name):
    folder = goldens / "classifier" / "open"
    run = json.loads((folder / "train.json").read_text())[name]
    base = json.loads((folder / "config.json").read_text())
    recorded = np.load(folder / f"train_{name}.npz")
    options = {**base["base_config"], **run["overrides"]}
    config = classifier.ClassifierConfig.from_tapas(base["bert_config"], **options)
    read = [*feature_names.names(feature_names.MODEL_INPUTS), *classifier.label_features(config)]
    stored = np.load(folder / "features.npz")
    features = {feature: stored[feature] for feature in read}
    if options["allow_empty_column_selection"]:
        # Then the loss holds the reference's logit of column 0, a mean over padding too.
        reference_padding.emulate(monkeypatch, features)
    model = classifier.TableClassifier(config)
    variables = names.checkpoint_variables(model)
    reader = tf.train.load_checkpoint(str(folder / "model.ckpt"))
    for key, variable in variables.items():
        variable.assign(reader.get_tensor(key))
    optimizer = build_optimizer(options, run["gradient_accumulation_steps"])

    @tf.function(autograph=False)
    def gradients():
        with tf.GradientTape() as tape:
            loss = model(features, training=False)["total_loss"]
        return loss, tape.gradient(loss, list(variables.values()))

    steps = [0]
    for call in range(run["num_train_op_calls"]):
        loss, grads = gradients()
        assert float(loss) == pytest.approx(run["losses_before_each_call"][call], rel=1e-4)
        norm = float(tf.linalg.global_norm(grads))
        assert norm == pytest.approx(run["global_grad_norm_before_each_call"][call], rel=1e-3)
        if call == 0:
            compare("grad0/", recorded, dict(zip(variables, grads, strict=True)), 1e-5)
        optimizer.apply_gradients(zip(grads, variables.values(), strict=True))
        steps.append(int(optimizer.iterations))
    assert steps == run["global_step_trace"]
    assert float(gradients()[0]) == pytest.approx(run["final_loss"], rel=1e-4)
    compare("final/", recorded, variables, 1e-4)


def compare(prefix, recorded, values, atol):
    """Compares what was recorded under a prefix; `grad0/` are gradients of the first call."""
    keys = [key for key in recorded.files if key.startswith(prefix)]
    assert len(keys) > 8
    for key in keys:
        value = values[key.removeprefix(prefix)]
        np.testing.assert_allclose(value, recorded[key], rtol=1e-3, atol=atol, err_msg=key)
