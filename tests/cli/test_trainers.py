"""--trainer=tpu_estimator: what it says here, and what it does with TensorFlow 2.15.

The latter runs in an environment of its own, whose interpreter MATE_TF_ESTIMATOR_PYTHON names:

    python3.11 -m venv .venv-estimator
    .venv-estimator/bin/pip install -r requirements-estimator.txt
    MATE_TF_ESTIMATOR_PYTHON=.venv-estimator/bin/python pytest tests/cli/test_trainers.py
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import time

import numpy as np
import pytest
import tensorflow as tf

import mate_tf
from mate_tf.training import estimator, trainer

from ..estimator import run

ESTIMATOR = "--trainer=tpu_estimator"
# Without chance, so that both trainers can be compared step by step.
PLAIN = (
    "--tf_random_seed=1",
    "--params_override=task.train_data.seed=3",
    "--params_override=task.model.sequence_dropout_prob=0.0",
    "--params_override=task.model.encoder.hidden_dropout_prob=0.0",
    "--params_override=task.model.encoder.attention_probs_dropout_prob=0.0",
)


def test_needs_an_environment_of_its_own(refused, config_file, tmp_path):
    flags = (f"--config_file={config_file}", f"--output_dir={tmp_path}", f"--model_dir={tmp_path}")
    for mode in ("train", "eval", "predict", "export"):
        message = refused(f"--mode={mode}", ESTIMATOR, *flags)
        assert message.startswith("--trainer=tpu_estimator needs TensorFlow 2.15")
        assert tf.__version__ in message
        assert "requirements-estimator.txt" in message
    assert not list(tmp_path.iterdir())


def test_flags(refused):
    message = refused("--mode=train", "--num_tpu_cores=0")
    assert "num_tpu_cores" in message
    assert "iterations_per_loop" in refused("--mode=train", "--iterations_per_loop=x")


def test_input_without_autotuning():
    """The end of a training would wait for its thread."""
    batches = estimator._input_fn(lambda: iter([[1.0]]), tf.TensorSpec([1]))({})
    assert batches.options().autotune.enabled is False
    assert [batch.tolist() for batch in batches.as_numpy_iterator()] == [[1.0]]


@pytest.fixture(scope="module")
def python(interpreter):
    return interpreter("ESTIMATOR", "TensorFlow 2.15")


@pytest.fixture(scope="module")
def environment(project):
    return os.environ | {"PYTHONPATH": str(project), "TF_CPP_MIN_LOG_LEVEL": "3"}


@pytest.fixture(scope="module")
def there(python, environment, tmp_path_factory):
    """there(*jobs): runs what tests/estimator/run.py takes; returns what it printed."""

    def start(*jobs):
        path = tmp_path_factory.mktemp("jobs") / "jobs.json"
        path.write_text(json.dumps([[list(map(str, job[0])), *map(str, job[1:])] for job in jobs]))
        done = subprocess.run(
            [python, run.__file__, path], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stdout

    return start


@pytest.fixture(scope="module")
def folders(there, invoked, config_file, created, tmp_path_factory):
    """Folders by name, with what was trained, predicted and exported there; and the output.

    strategy: 2 steps here. here: its copy, 2 more steps here. there: another, 2 more steps there.
    estimator: 2 steps there, evaluated, predicted, exported. back: its copy, 2 more steps here.
    """
    root = tmp_path_factory.mktemp("trainers")
    common = (f"--config_file={config_file}", f"--output_dir={created}", *PLAIN)

    def arguments(name, mode, *others):
        return (f"--mode={mode}", *common, f"--model_dir={root / name}", *others)

    assert invoked(*arguments("strategy", "train")) == 0
    for name in ("here", "there"):
        shutil.copytree(root / "strategy", root / name)
    output = there(
        (arguments("estimator", "train", ESTIMATOR), ""),
        (arguments("estimator", "eval", ESTIMATOR), ""),
        (arguments("estimator", "predict_and_evaluate", ESTIMATOR), ""),
        (arguments("estimator", "export", ESTIMATOR), ""),
        (arguments("estimator", "predict", ESTIMATOR), root / "estimator.npz"),
        (arguments("strategy", "predict", ESTIMATOR), root / "strategy.npz"),
        (arguments("there", "train", ESTIMATOR, "--num_train_steps=4"), ""),
    )
    assert invoked(*arguments("here", "train", "--num_train_steps=4")) == 0
    shutil.copytree(root / "estimator", root / "back")
    assert invoked(*arguments("back", "train", "--num_train_steps=4")) == 0
    return root, arguments, output


@pytest.mark.parametrize("name", ["estimator", "strategy"])
def test_same_logits_of_each_others_checkpoints(folders, name):
    root, arguments, _ = folders
    here = run.logits(arguments(name, "predict"))
    with np.load(root / f"{name}.npz") as stored:
        assert sorted(stored) == sorted(here)
        for question, logits in here.items():
            np.testing.assert_allclose(stored[question], logits, rtol=1e-5, atol=1e-5)
            assert np.ptp(logits) > 0.01


def test_goes_on_as_the_other_would(folders):
    """From the same checkpoint, the same gradients for the same batches."""
    root, _, _ = folders
    stored = {}
    for name in ("strategy", "here", "there"):
        reader = tf.train.load_checkpoint(str(root / name))
        keys = reader.get_variable_to_shape_map()
        stored[name] = {key: reader.get_tensor(key) for key in keys if "OBJECT_GRAPH" not in key}
    for key, value in stored["there"].items():
        np.testing.assert_allclose(value, stored["here"][key], rtol=1e-4, atol=1e-5, err_msg=key)
    moments = [key for key in stored["there"] if "OPTIMIZER_SLOT/optimizer/m" in key]
    assert len(moments) > 10
    change = max(np.abs(stored["there"][key] - stored["strategy"][key]).max() for key in moments)
    assert change > 1e-3
    assert trainer.global_step(str(root / "there")) == 4
    assert trainer.global_step(str(root / "back")) == 4


def test_same_metrics(folders, command):
    _, arguments, output = folders
    here = command(*arguments("estimator", "eval")).partition("evaluated | ")[2].rstrip()
    assert re.search(r"\n  answer accuracy +[\d.]+ %", here)
    assert f"evaluated | {here}\n" in output


def test_predicts_and_exports(folders):
    root, _, output = folders
    assert "predicted | " in output
    for name in ("dev.tsv", "dev.json", "metrics.json", "params.yaml"):
        assert (root / "estimator" / name).stat().st_size
    predictor = mate_tf.Predictor(root / "estimator" / "export")
    table = mate_tf.Table.from_rows(["city", "people"], [["Bern", "134"], ["Genf", "203"]])
    answer = predictor.ask(table, "which city has 203 people?")
    assert 0 <= answer.probability <= 1
    signatures = tf.saved_model.load(str(root / "estimator" / "export")).signatures
    assert set(signatures) == {"serving_default", "serving_examples"}


def test_killed_and_run_again(python, environment, project, there, config_file, created, tmp_path):
    model_dir = tmp_path / "model"
    arguments = (
        *("--mode=train", ESTIMATOR, f"--config_file={config_file}", f"--output_dir={created}"),
        *(f"--model_dir={model_dir}", "--params_override=trainer.validation_interval=1000000"),
    )
    with subprocess.Popen(
        [python, project / "run_task_main.py", *arguments, "--num_train_steps=100000"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            while len(list(pathlib.Path(model_dir).glob("model.ckpt-*.index"))) < 3:
                assert process.poll() is None
                time.sleep(0.1)
        finally:
            process.kill()
    before = trainer.global_step(str(model_dir))
    assert 0 < before < 100000
    last = before + 3
    output = there(((*arguments, f"--num_train_steps={last}"), ""))
    steps = [int(step) for step in re.findall(r"^step (\d+)/", output, re.MULTILINE)]
    assert steps[0] > before
    assert steps[-1] == trainer.global_step(str(model_dir)) == last
