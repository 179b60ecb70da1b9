"""Training and evaluation on tf.distribute, through tf-models' trainer and Orbit."""

import contextlib
import functools

import tensorflow as tf
from official.common import distribute_utils
from official.core import train_lib, train_utils

from mate_tf import tasks
from mate_tf.checkpoints import finite
from mate_tf.checkpoints.latest import latest, repair
from mate_tf.data.records.locks import read_by
from mate_tf.errors import InputError
from mate_tf.files.lock import locked
from mate_tf.layers.framework import keras
from mate_tf.layers.precision import policy
from mate_tf.training import (
    checks,
    experiments,
    layer_log,
    progress,
    resuming,
    steps,
    stopping,
    tpu,
    workers,
)
from mate_tf.training.weights import (
    check_size,
    global_step,
    latest_checkpoint,
    load_all,
    reading,
    save_masks,
)

_OF_PROCESSES = (workers.STRATEGY, tpu.STRATEGY)
"""Strategies of several processes, or of a TPU's host."""

KEPT = (experiments.PARAMS_FILE, experiments.VOCABULARY_FILE, resuming.FILE)
"""Files that stay in the folder of a training run."""


def train(experiment, model_dir: str) -> dict:
    """Trains up to `trainer.train_steps`, from the last checkpoint in `model_dir` if there is one.

    Writes to `model_dir`: checkpoints, params.yaml with the whole configuration, summaries for
    TensorBoard in train/ and validation/, layers.jsonl if `trainer.layer_log_interval` is set, and
    masks/ with learned masks. Evaluates on `task.validation_data`, if that has an input_path,
    every `trainer.validation_interval` steps and at the end. An interrupted training resumes from
    the last checkpoint when this is called again.

    Args:
        experiment: a `TableExperiment`.
        model_dir: folder to write to.

    Returns:
        dict of floats: the last metrics, and global_step.

    Raises:
        InputError: if there are no training data; `model_dir` has a training of another model, or
            only damaged checkpoints; another process trains there; loss or weights become NaN.
    """
    experiment = experiments.resolve(experiment)
    if not experiment.task.train_data.input_path:
        raise InputError("task.train_data.input_path is empty: nothing to train on")
    with workers.joined(experiment) as group:
        experiments.check_same_model(experiment, model_dir)
        data = experiment.task.train_data, experiment.task.validation_data
        with (
            locked(model_dir, "training") if group.is_chief else contextlib.nullcontext() as lock,
            read_by("training", *(each.input_path for each in data)),
        ):
            if group.is_chief:
                repair(model_dir)
            return _train(experiment, model_dir, group, lock)


def _train(experiment, model_dir, group, lock):
    evaluating = bool(experiment.task.validation_data.input_path)
    step = global_step(model_dir) or steps.first_step(experiment)
    if step >= experiment.trainer.train_steps:
        if group.is_chief:
            save_masks(experiment, model_dir)
        return evaluate(experiment, model_dir) if evaluating else {"global_step": step}
    if group.is_chief:
        resuming.check(experiment, model_dir)
    running = steps.split_batches(steps.continued(group.agree(experiment, step), step))
    one_process = experiment.runtime.distribution_strategy not in _OF_PROCESSES
    stop = stopping.Stop() if one_process else None
    with runtime(running) as strategy, group.own_folder(model_dir) as folder:
        shown = progress.Progress(experiment.trainer.train_steps)
        interval = experiment.trainer.layer_log_interval
        folder_check = checks.FolderCheck(model_dir, KEPT)
        finite_check = checks.FiniteCheck(model_dir, experiment.trainer.recovery_max_trials > 0)
        log = layer_log.LayerLog(model_dir, interval, writes=group.is_chief)
        mode = "train_and_eval" if evaluating else "train"
        runner = _runner(
            *(strategy, running, mode, model_dir, folder),
            train_actions=[shown, finite_check, folder_check, log],
            eval_actions=[shown.evaluated, log.evaluated],
        )
        experiments.save(experiment, folder)
        if group.is_chief:
            resuming.save(experiment, model_dir)
        folder_check.start(lock)
        shown.start(runner.trainer.global_step)
        finite_check.start(runner.trainer)
        log.start(runner.trainer)
        runner.trainer.stop = stop

        def check():
            finite_check.check_weights({})
            folder_check()

        with stop.saving(runner, check) if stop else contextlib.nullcontext():
            metrics = _run_training(runner.controller, experiment.trainer, evaluating)
        step = int(runner.trainer.global_step.numpy())
    group.wait()
    if group.is_chief:
        save_masks(experiment, model_dir)
    return {**_floats(metrics), "global_step": step}


def evaluate(experiment, model_dir: str) -> dict:
    """Computes loss and metrics of the last checkpoint on `task.validation_data`.

    Returns:
        dict of floats, with global_step.

    Raises:
        InputError: if there are no data, no checkpoint, or a checkpoint of another model.
    """
    experiment = experiments.resolve(experiment)
    if not experiment.task.validation_data.input_path:
        raise InputError("task.validation_data.input_path is empty: nothing to evaluate on")
    with workers.joined(experiment) as group:
        latest_checkpoint(model_dir)
        experiments.check_same_model(experiment, model_dir, "encoder")
        group.agree(experiment, global_step(model_dir))
        with runtime(experiment) as strategy, group.own_folder(model_dir) as folder:
            runner = _runner(strategy, experiment, "eval", model_dir, folder)
            metrics = runner.controller.evaluate(steps=experiment.trainer.validation_steps)
            step = int(runner.trainer.global_step.numpy())
        group.wait()
    return {**_floats(metrics), "global_step": step}


def load_model(experiment, model_dir: str):
    """Loads the model with the weights of the last checkpoint, without its optimizer.

    Without a checkpoint in `model_dir` they are those of `task.init_checkpoint`, which must have
    all of them.

    Returns:
        a `TableClassifier`.

    Raises:
        InputError: if there is no checkpoint, or it is of another model.
    """
    initial, path = experiment.task.init_checkpoint, None
    if not initial or latest(model_dir):
        path = latest_checkpoint(model_dir)
    experiments.check_same_model(experiment, model_dir, "encoder")
    if experiment.runtime.distribution_strategy in _OF_PROCESSES:
        # Inference runs in one process, however the model was trained.
        experiment = experiment.replace()
        experiment.runtime.distribution_strategy = "mirrored"
    with runtime(experiment):
        model = tasks.create(experiment.task).build_model()
        if path is None:
            load_all(model, initial)
            return model
        check_size(model, path)
        with reading(path):
            tf.train.Checkpoint(model=model).restore(path).expect_partial()
        finite.check_variables(path, model.variables)
    return model


def save_start(experiment, model_dir: str) -> None:
    """Saves the initial checkpoint of a training run, for another trainer to start from.

    It has the same contents as later checkpoints: the weights of `task.init_checkpoint`, the
    optimizer's moments, and the first step (0, or that of `trainer.continue_steps`). The experiment
    is resolved and has no bootstrapping.
    """
    with runtime(experiment) as strategy:
        runner = _runner(strategy, experiment, "train", model_dir, model_dir)
        runner.checkpoint_manager.save(checkpoint_number=runner.trainer.global_step)


@contextlib.contextmanager
def runtime(experiment):
    """Sets seed, precision policy and strategy of an experiment; restores the policy at exit."""
    config = experiment.runtime
    checks.check_gpus(config)
    if experiment.tf_random_seed is not None:
        keras.utils.set_random_seed(experiment.tf_random_seed)
    try:
        chosen = strategy(experiment)
    except ValueError as error:
        name = config.distribution_strategy
        raise InputError(f"runtime.distribution_strategy={name}: {error}") from error
    with policy(config.mixed_precision_dtype), chosen.scope(), progress.orbit_is_quiet():
        yield chosen


def strategy(experiment) -> tf.distribute.Strategy:
    """Returns the strategy that `runtime` of an experiment sets.

    Two strategies over the same devices would mix up each other's collective operations. So there
    is one strategy per process and setting, and later calls return the same object.

    Raises:
        ValueError: if the devices do not exist.
    """
    config = experiment.runtime
    if config.distribution_strategy == workers.STRATEGY:
        return workers.strategy(config.all_reduce_alg, experiment.trainer.worker_timeout)
    if config.distribution_strategy == tpu.STRATEGY:
        return tpu.strategy(config)
    num_gpus = config.num_gpus or len(tf.config.list_physical_devices("GPU"))
    return _local_strategy(config.distribution_strategy, config.all_reduce_alg, num_gpus)


@functools.cache
def _local_strategy(name, all_reduce_alg, num_gpus):
    if name == "mirrored" and not num_gpus:
        # A caller may have split the CPU into several logical devices.
        devices = tf.config.list_logical_devices("CPU")
        return tf.distribute.MirroredStrategy([device.name for device in devices])
    return distribute_utils.get_distribution_strategy(
        distribution_strategy=name, all_reduce_alg=all_reduce_alg, num_gpus=num_gpus
    )


class _Runner(train_lib.OrbitExperimentRunner):
    """tf-models' runner with a check of the checkpoint before it is restored.

    It reads checkpoints from `model_dir`; this process writes to `folder`.
    """

    def __init__(self, model_dir, folder, **kwargs):
        self._shared_dir = model_dir
        super().__init__(model_dir=folder, **kwargs)

    def _build_trainer(self, task, train, evaluate):
        checks.check_best_checkpoint(self.params.trainer, task)
        runtime = self.params.runtime
        on_tpu = isinstance(self.strategy, tf.distribute.TPUStrategy)
        if train and runtime.enable_xla and not on_tpu:
            steps.compile_train_step(task, runtime, self.strategy)
        with self.strategy.scope():
            trainer = train_utils.create_trainer(
                self.params,
                task,
                train=train,
                evaluate=evaluate,
                checkpoint_exporter=self._build_best_checkpoint_exporter() if train else None,
                trainer_cls=steps.StepTrainer,
            )
            if train and hasattr(trainer.optimizer, "_create_all_weights"):
                # If the training loop created variables, tf.function would trace it twice.
                trainer.optimizer._create_all_weights(trainer.model.trainable_variables)
        return trainer

    def _maybe_build_checkpoint_manager(self):
        path = latest(self._shared_dir)
        if path:
            check_size(self.trainer.model, path)
        if "train" in self._mode:
            if self.model_dir == self._shared_dir:
                return super()._maybe_build_checkpoint_manager()
            manager = tf.train.CheckpointManager(
                self.trainer.checkpoint,
                self.model_dir,
                max_to_keep=1,
                step_counter=self.trainer.global_step,
                checkpoint_interval=self.params.trainer.checkpoint_interval,
                init_fn=self.trainer.initialize,
            )
            manager._latest_checkpoint = path  # start from the chief's checkpoint
            return manager
        # Orbit would warn about the optimizer's slots, which evaluation does not restore.
        with reading(path):
            self.trainer.checkpoint.restore(path).expect_partial()
        return None

    def _build_controller(self, *args, **kwargs):
        # Orbit restores the checkpoint for training in this call.
        with reading(self._shared_dir):
            controller = super()._build_controller(*args, **kwargs)
        if path := latest(self._shared_dir):
            finite.check_variables(path, self.trainer.model.variables)
        return controller


def _runner(strategy, experiment, mode, model_dir, folder, train_actions=None, eval_actions=None):
    """Returns a runner (model, optimizer, data, controller) restored from the last checkpoint."""
    return _Runner(
        distribution_strategy=strategy,
        task=tasks.create(experiment.task),
        mode=mode,
        params=experiment,
        model_dir=model_dir,
        folder=folder,
        train_actions=train_actions,
        eval_actions=eval_actions,
    )


def _run_training(controller, config, evaluating):
    """Trains, and returns the metrics of the last evaluation; {} without evaluation.

    Loops and evaluations end at the same steps wherever an earlier run was interrupted.
    """
    step = int(controller.global_step.numpy())
    _train_to_multiple(controller, config, step, config.steps_per_loop)
    if not evaluating:
        controller.train(steps=config.train_steps)
        return {}
    if _train_to_multiple(controller, config, step, config.validation_interval):
        metrics = controller.evaluate(steps=config.validation_steps)
        if int(controller.global_step.numpy()) == config.train_steps:
            controller.train(steps=config.train_steps)  # saves the last checkpoint
            return metrics
    return controller.train_and_evaluate(
        train_steps=config.train_steps,
        eval_steps=config.validation_steps,
        eval_interval=config.validation_interval,
    )


def _train_to_multiple(controller, config, step, interval):
    """Trains from `step` to the next multiple of the interval; returns False if it is one."""
    missing = -step % interval
    if missing:
        end = min(step + missing, config.train_steps)
        controller.train(steps=end, checkpoint_at_completion=False)
    return bool(missing)


def _floats(metrics):
    return {name: progress.number(value) for name, value in metrics.items()}
