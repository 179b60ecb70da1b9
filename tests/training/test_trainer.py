"""Training: it learns, resumes where it was, and refuses what it cannot use."""

import os
import shutil
import threading

import numpy as np
import pytest
import tensorflow as tf
from official.core import train_lib

from mate_tf import tasks
from mate_tf.data import records
from mate_tf.data.records import locks
from mate_tf.errors import InputError
from mate_tf.layers.framework import keras
from mate_tf.training import experiments, progress, steps, trainer

from .. import graphs
from ..event_files import summaries

FROM_SCRATCH = "task.model.encoder.initializer_range=0.15"


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory):
    return str(tmp_path_factory.mktemp("model"))


def save_untrained(experiment, model_dir):
    keras.utils.set_random_seed(experiment.tf_random_seed)
    model = tasks.create(experiment.task).build_model()
    step = tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(model=model, global_step=step)
    tf.train.CheckpointManager(checkpoint, model_dir, 1).save()


def test_train_leaves_everything_behind(
    toy_experiment, with_evaluation, mixed_lengths, tmp_path, capsys, monkeypatch
):
    """One graph is traced for batches of 16 and of 32 tokens."""
    traces = []
    train_step = tasks.get("SYNTHETIC").train_step

    def counted(self, inputs, *args, **kwargs):
        traces.append(inputs["input_ids"].shape)
        return train_step(self, inputs, *args, **kwargs)

    monkeypatch.setattr(tasks.get("SYNTHETIC"), "train_step", counted)
    experiment = toy_experiment(with_evaluation, mixed_lengths)
    metrics = trainer.train(experiment, str(tmp_path))
    assert len(traces) <= 2  # while_loop may trace its body a second time
    assert traces[0][1] is None
    assert metrics["global_step"] == 8
    assert 0 < metrics["validation_loss"] < 10
    assert os.path.basename(trainer.latest_checkpoint(str(tmp_path))) == "ckpt-8"
    saved = experiments.load(str(tmp_path / "params.yaml"))
    assert saved.as_dict() == experiments.resolve(experiment).as_dict()
    assert [step for step, _ in summaries(tmp_path / "train")["training_loss"]] == [4, 8]
    assert [step for step, _ in summaries(tmp_path / "validation")["answer_accuracy"]] == [8]
    printed = capsys.readouterr().out
    assert "step 8/8  loss " in printed
    assert "step 8/8  evaluation  loss " in printed
    assert "{" not in printed  # no dicts of Orbit
    # Evaluation alone gives the same figures. A finished training only evaluates.
    evaluated, evaluate = [], trainer.evaluate

    def watched(*args):
        evaluated.append(evaluate(*args))
        return evaluated[-1]

    monkeypatch.setattr(trainer, "evaluate", watched)
    assert trainer.train(experiment, str(tmp_path)) == pytest.approx(metrics, rel=1e-5)
    [again] = evaluated
    assert again == pytest.approx(metrics, rel=1e-5)
    assert len(traces) <= 2


def test_resumed_training_ends_with_the_same_weights(
    toy_experiment, large_steps, tmp_path, monkeypatch
):
    """Shuffling and dropout go on where they were."""
    experiment = toy_experiment(
        large_steps,
        "trainer.max_to_keep=2",
        "task.model.sequence_dropout_prob=0.2",
        "task.model.encoder.hidden_dropout_prob=0.2",
        "task.model.encoder.attention_probs_dropout_prob=0.2",
    )
    read = records.dataset
    orders = []

    def watched(*args, **kwargs):
        batches = read(*args, **kwargs)
        orders.append([batch["question_id"].numpy().tolist() for batch in batches.take(5)])
        return batches

    monkeypatch.setattr(records, "dataset", watched)
    whole, resumed = tmp_path / "whole", tmp_path / "resumed"
    trainer.train(experiment, str(whole))
    resumed.mkdir()
    for path in whole.glob("ckpt-4.*"):
        shutil.copy(path, resumed)
    assert trainer.train(experiment, str(resumed))["global_step"] == 8
    assert orders[1][0] == orders[0][4]
    assert orders[1][0] not in orders[0][:4]
    assert [step for step, _ in summaries(whole / "train")["training_loss"]] == [4, 8]
    saved, again, before = (
        tf.train.load_checkpoint(str(path))
        for path in (whole / "ckpt-8", resumed / "ckpt-8", whole / "ckpt-4")
    )
    names = [name for name, shape in saved.get_variable_to_shape_map().items() if shape]
    change = 0
    for name in names:
        if name.startswith(("model/", "optimizer/")):
            np.testing.assert_allclose(
                again.get_tensor(name), saved.get_tensor(name), rtol=1e-5, atol=1e-7, err_msg=name
            )
            change = max(change, np.abs(saved.get_tensor(name) - before.get_tensor(name)).max())
    assert change > 1e-3


def test_data_of_a_resumed_training(toy_experiment):
    """Without any seed the order is another one in each process, so only the curriculum goes on."""
    seeded = toy_experiment("task: {train_data: {curriculum_steps: 6}}")
    data = steps.continued(seeded, 4).task.train_data
    assert (data.seed, data.skip_batches, data.curriculum_steps) == (1, 4, 6)
    seeded.task.train_data.seed = 3
    assert steps.continued(seeded, 4).task.train_data.seed == 3
    unseeded = toy_experiment("task: {train_data: {curriculum_steps: 6}}", "tf_random_seed=null")
    data = steps.continued(unseeded, 4).task.train_data
    assert (data.seed, data.skip_batches, data.curriculum_steps) == (None, 0, 2)
    assert steps.continued(unseeded, 8).task.train_data.curriculum_steps == 0
    assert (seeded.task.train_data.skip_batches, seeded.tf_random_seed) == (0, 1)


@pytest.mark.parametrize(
    ("strategy", "precision"), [("'off'", "bfloat16"), ("one_device", "float16")]
)
def test_other_strategies_and_mixed_precision(
    toy_experiment, large_steps, tmp_path, strategy, precision
):
    """The weights are close to those of float32; a training goes on in another precision."""

    def train(strategy, precision, steps, folder):
        experiment = toy_experiment(
            f"runtime: {{distribution_strategy: {strategy}, mixed_precision_dtype: {precision}}}",
            "task: {train_data: {seed: 3, shuffle_buffer_size: 1}}",
            large_steps,
            f"trainer.train_steps={steps}",
        )
        assert trainer.train(experiment, str(folder)) == {"global_step": steps}
        assert keras.mixed_precision.global_policy().name == "float32"  # put back
        return trainer.load_model(experiment, str(folder)).get_weights()

    low = train(strategy, precision, 2, tmp_path / "low")
    with graphs.avoided():
        full = train("mirrored", "float32", 2, tmp_path / "full")
    differences = [np.abs(a - b).mean() for a, b in zip(low, full, strict=True)]
    assert np.mean(differences) < 1.5e-3  # a step is 6e-3 or 3e-3
    with graphs.avoided():
        train("mirrored", "float32", 3, tmp_path / "low")


def test_loss_scaling(toy_experiment):
    """The loss is scaled in float16 only, whose smallest number is 6e-8."""

    def optimizer(**runtime):
        experiment = experiments.resolve(toy_experiment(f"runtime: {runtime}"))
        config = experiment.trainer.optimizer_config
        return tasks.create(experiment.task).create_optimizer(config, experiment.runtime)

    scaled = optimizer(mixed_precision_dtype="float16")
    assert isinstance(scaled, keras.mixed_precision.LossScaleOptimizer)
    assert scaled.dynamic
    assert scaled.initial_scale == 2**15
    fixed = optimizer(mixed_precision_dtype="float16", loss_scale=128.0)
    assert (fixed.dynamic, float(fixed.loss_scale)) == (False, 128)
    plain = optimizer(mixed_precision_dtype="bfloat16")
    assert not isinstance(plain, keras.mixed_precision.LossScaleOptimizer)


@pytest.mark.parametrize(
    "override",
    [
        "task.model.encoder.hidden_size=64",
        "task.model.encoder.num_hidden_layers=2",
        "task.model.encoder.vocab_size=51",
    ],
)
def test_checkpoint_of_another_size(toy_experiment, with_evaluation, model_dir, override):
    if not os.listdir(model_dir):
        save_untrained(toy_experiment(), model_dir)
    before = sorted(os.listdir(model_dir))
    other = toy_experiment(with_evaluation, override)
    for use in (trainer.train, trainer.evaluate, trainer.load_model):
        with pytest.raises(InputError, match="ckpt-1: checkpoint of a model of another size"):
            use(other, model_dir)
    assert sorted(os.listdir(model_dir)) == before


def test_another_model_of_the_same_size(toy_experiment, with_evaluation, tmp_path):
    """Weights of one attention fit another one too; only params.yaml tells."""
    experiment = toy_experiment(with_evaluation)
    save_untrained(experiment, str(tmp_path))
    experiments.save(experiment, str(tmp_path))
    before = sorted(os.listdir(tmp_path))
    other = toy_experiment(with_evaluation, "task.model.encoder.attention.name=full")
    for use in (trainer.train, trainer.evaluate, trainer.load_model):
        with pytest.raises(InputError, match=r"attention\.name=mate_efficient, not full"):
            use(other, str(tmp_path))
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("damage", ["data", "index", "no data"])
def test_damaged_checkpoint(toy_experiment, with_evaluation, tmp_path, damage):
    experiment = toy_experiment(with_evaluation)
    save_untrained(experiment, str(tmp_path))
    ending = ".index" if damage == "index" else ".data-00000-of-00001"
    path = tmp_path / f"ckpt-1{ending}"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    if damage == "no data":
        path.unlink()
    for use in (trainer.train, trainer.evaluate, trainer.load_model):
        with pytest.raises(InputError, match=f"{tmp_path}.*cannot be read"):
            use(experiment, str(tmp_path))


def test_weights_that_are_not_finite(toy_experiment, with_evaluation, tmp_path):
    """No mode uses them, however they came into the checkpoint."""
    experiment = toy_experiment(with_evaluation)
    model = tasks.create(experiment.task).build_model()
    kernel = next(each for each in model.trainable_variables if "kernel" in each.name)
    kernel.assign(tf.fill(kernel.shape, np.nan))
    checkpoint = tf.train.Checkpoint(model=model, global_step=tf.Variable(0, dtype=tf.int64))
    tf.train.CheckpointManager(checkpoint, str(tmp_path), 1).save()
    before = sorted(os.listdir(tmp_path))
    for use in (trainer.train, trainer.evaluate, trainer.load_model):
        with pytest.raises(InputError, match=f"{tmp_path}/ckpt-1: the weights .*kernel.* have NaN"):
            use(experiment, str(tmp_path))
        assert sorted(os.listdir(tmp_path)) == before


def test_weights_that_blow_up_are_not_saved(toy_experiment, large_steps, tmp_path):
    """The checkpoint before is still the last one, and the training goes on from it."""
    trainer.train(toy_experiment("trainer.train_steps=4"), str(tmp_path))
    before = trainer.load_model(toy_experiment(), str(tmp_path)).get_weights()
    rate = large_steps.replace("0.006", "1.0e+38")
    with pytest.raises(InputError, match=r"step 8: the .*; last good checkpoint: .*ckpt-4; try"):
        trainer.train(toy_experiment(rate), str(tmp_path))
    assert os.path.basename(trainer.latest_checkpoint(str(tmp_path))) == "ckpt-4"
    (tmp_path / "checkpoint").unlink()  # it is found without, too
    assert trainer.global_step(str(tmp_path)) == 4
    again = trainer.load_model(toy_experiment(), str(tmp_path)).get_weights()
    for own, other in zip(again, before, strict=True):
        np.testing.assert_array_equal(own, other)


def test_nothing_to_work_with(toy_experiment, with_evaluation, tmp_path):
    for use in (trainer.evaluate, trainer.load_model):
        with pytest.raises(InputError, match="no checkpoint"):
            use(toy_experiment(with_evaluation), str(tmp_path))
    with pytest.raises(InputError, match=r"task\.train_data\.input_path"):
        trainer.train(toy_experiment("task.train_data.input_path=''"), str(tmp_path))
    with pytest.raises(InputError, match=r"task\.validation_data\.input_path"):
        trainer.evaluate(toy_experiment(), str(tmp_path))


def test_init_checkpoint(toy_experiment, tmp_path):
    """A new training starts from the weights of another model folder."""
    save_untrained(toy_experiment("tf_random_seed=2"), str(tmp_path / "first"))
    path = trainer.latest_checkpoint(str(tmp_path / "first"))
    task = tasks.create(toy_experiment(f"task.init_checkpoint='{path}'").task)
    model = task.build_model()
    task.initialize(model)
    want = trainer.load_model(toy_experiment(), str(tmp_path / "first"))
    for got, expected in zip(model.get_weights(), want.get_weights(), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_runs_under_tf_models_own_runner(toy_experiment, with_evaluation, tmp_path):
    """The task is a plain tf-models task: their entry point takes it as it is."""
    mixed = (
        "task: {validation_data: {buckets: [16, 32]}, model: {encoder: {attention: {name: full}}}}"
    )
    experiment = experiments.resolve(toy_experiment(with_evaluation, mixed))
    _, metrics = train_lib.run_experiment(
        tf.distribute.get_strategy(),
        tasks.create(experiment.task),
        "train",
        experiment,
        str(tmp_path),
        run_post_eval=True,
    )
    assert "answer_accuracy" in metrics


@pytest.mark.slow
def test_learns(toy_experiment, with_evaluation, tmp_path):
    """Finding a word again is what attention can do; a guess is right in one case of 8."""
    experiment = toy_experiment(
        with_evaluation,
        FROM_SCRATCH,
        "trainer: {train_steps: 400, steps_per_loop: 100, summary_interval: 100,"
        " checkpoint_interval: 400, validation_interval: 400}",
    )
    metrics = trainer.train(experiment, str(tmp_path))
    assert metrics["answer_accuracy"] > 0.8


@pytest.mark.parametrize("removed", ["", "params.yaml", ".lock"])
def test_a_folder_that_is_removed(toy_experiment, tmp_path, monkeypatch, removed):
    """No checkpoint is written into a folder without settings and lock."""
    folder = tmp_path / "model"
    show = progress.Progress.show

    def remove(self, step, metrics):
        show(self, step, metrics)
        if step == 4:
            (folder / removed).unlink() if removed else shutil.rmtree(folder)

    monkeypatch.setattr(progress.Progress, "show", remove)
    with (
        graphs.avoided(),
        pytest.raises(InputError, match=rf"{folder}: [\w.]*{removed}, or the whole folder, was "),
    ):
        trainer.train(toy_experiment(), str(folder))
    assert not list(folder.glob("ckpt-*"))


def test_data_are_not_made_while_they_are_read(toy_experiment, toy_records, tmp_path, monkeypatch):
    """And no training begins while they are made."""
    refused = []

    def make(self, step):
        def other():
            with pytest.raises(InputError) as error, locks.writing(toy_records["train"]):
                pass
            refused.append(str(error.value))

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        raise InputError("enough")

    monkeypatch.setattr(progress.Progress, "start", make)
    with pytest.raises(InputError, match="enough"):
        trainer.train(toy_experiment(), str(tmp_path))
    assert "training, process" in refused[0]
    assert "reads this folder" in refused[0]
