"""Training, evaluation and prediction with TPUEstimator, which TensorFlow has up to 2.15.

`requirements-estimator.txt` lists an environment with it. Model, losses, metrics, optimizer and
data are those of `training.trainer`. The checkpoints are compatible too: both save variables by
their object paths, not by their names. So each of the two trainers can continue, evaluate and
export what the other has trained.

Training runs on the cores of a TPU if `Options.use_tpu` is set. Evaluation and prediction always
run on its host.
"""

import collections
import contextlib
import dataclasses
import functools

import tensorflow as tf

from mate_tf import tasks
from mate_tf.checkpoints import bundle, finite
from mate_tf.checkpoints.latest import latest
from mate_tf.data.records import tfrecord
from mate_tf.data.records.locks import read_by
from mate_tf.errors import InputError
from mate_tf.files.lock import locked
from mate_tf.layers import step_seeds
from mate_tf.tasks.configs import TableExperiment
from mate_tf.training import (
    checks,
    experiments,
    prediction,
    progress,
    resuming,
    steps,
    trainer,
    weights,
)

REQUIREMENTS = "requirements-estimator.txt"
_WITHOUT_ESTIMATOR = (2, 16)


@dataclasses.dataclass(frozen=True)
class Options:
    """Devices of TPUEstimator, named like the flags of google-research/tapas.

    Attributes:
        use_tpu: train on a TPU.
        tpu_name, tpu_zone, gcp_project: the TPU on Google Cloud; None: found automatically.
        master: address of the session instead of a TPU's name; "": this process.
        num_tpu_cores: cores of the TPU. A training batch is divided among them.
        iterations_per_loop: steps on the TPU between two returns to the host.
    """

    use_tpu: bool = False
    tpu_name: str | None = None
    tpu_zone: str | None = None
    gcp_project: str | None = None
    master: str = ""
    num_tpu_cores: int = 8
    iterations_per_loop: int = 1000


def check_available() -> None:
    """Raises InputError if this TensorFlow has no TPUEstimator."""
    version = tuple(int(part) for part in tf.__version__.split(".")[:2])
    if version >= _WITHOUT_ESTIMATOR:
        raise InputError(
            f"--trainer=tpu_estimator needs TensorFlow 2.15, the last version with Estimator, and "
            f"this is {tf.__version__}: install {REQUIREMENTS} into a separate environment "
            "(docs/scale-out.md)"
        )


def train(experiment: TableExperiment, model_dir: str, options: Options = Options()) -> dict:
    """Trains up to `trainer.train_steps`, from the last checkpoint in `model_dir` if there is one.

    Writes the same files as `trainer.train`, except that summaries are Estimator's and there is no
    layers.jsonl.

    Raises:
        InputError: see `trainer.train`; also for settings that this trainer does not support.
    """
    check_available()
    given, experiment = experiments.resolve(experiment), _supported(experiment)
    if not experiment.task.train_data.input_path:
        raise InputError("task.train_data.input_path is empty: nothing to train on")
    experiments.check_same_model(experiment, model_dir)
    data = given.task.train_data, given.task.validation_data
    with (
        locked(model_dir, "training") as lock,
        read_by("training", *(each.input_path for each in data)),
    ):
        return _train(given, experiment, model_dir, options, lock)


def _train(given, experiment, model_dir, options, lock):
    if latest(model_dir) is None:
        trainer.save_start(steps.split_batches(experiment), model_dir)
    elif weights.global_step(model_dir) < experiment.trainer.train_steps:
        resuming.check(given, model_dir)
    experiments.save(given, model_dir)
    resuming.save(given, model_dir)
    folder_check = checks.FolderCheck(model_dir, trainer.KEPT)
    folder_check.start(lock)
    config = experiment.trainer
    evaluating = bool(experiment.task.validation_data.input_path)
    shown = progress.Progress(config.train_steps)
    while (step := weights.global_step(model_dir)) < config.train_steps:
        end = config.train_steps
        if evaluating:
            end = min(end, (step // config.validation_interval + 1) * config.validation_interval)
        _train_until(end, experiment, model_dir, options, shown, folder_check)
        if evaluating and end < config.train_steps:
            print(progress.report("evaluated", evaluate(experiment, model_dir)), flush=True)
    weights.save_masks(experiment, model_dir)
    return evaluate(experiment, model_dir) if evaluating else {"global_step": step}


def evaluate(experiment: TableExperiment, model_dir: str) -> dict:
    """Evaluates the last checkpoint on `task.validation_data`; see `trainer.evaluate`."""
    check_available()
    experiment = _supported(experiment)
    data = experiment.task.validation_data
    if not data.input_path:
        raise InputError("task.validation_data.input_path is empty: nothing to evaluate on")
    weights.latest_checkpoint(model_dir)
    experiments.check_same_model(experiment, model_dir, "encoder")
    number = experiment.trainer.validation_steps
    batches = tasks.create(experiment.task).build_inputs(data)
    with trainer.runtime(experiment):
        metrics = _estimator(experiment, model_dir, Options()).evaluate(
            _input_fn(batches.as_numpy_iterator, batches.element_spec),
            steps=number if number > 0 else None,
        )
    loss, step = float(metrics.pop("loss")), int(metrics.pop("global_step"))
    values = {name: float(value) for name, value in metrics.items()}
    return {**values, "validation_loss": loss, "global_step": step}


def predictor(experiment: TableExperiment, model_dir: str):
    """Returns a function that runs the last checkpoint; see `prediction.predictor`."""
    check_available()
    experiment = _supported(experiment)
    weights.latest_checkpoint(model_dir)
    experiments.check_same_model(experiment, model_dir, "encoder")
    estimator = _estimator(experiment, model_dir, Options())

    def run(batches):
        sent = collections.deque()

        def inputs():  # a TensorFlow thread reads this, some batches ahead
            for batch in batches:
                sent.append(batch)
                yield {name: batch[name] for name in prediction.INPUTS}

        with trainer.runtime(experiment):
            for outputs in estimator.predict(
                _input_fn(inputs, prediction.INPUTS), yield_single_examples=False
            ):
                yield sent.popleft(), outputs

    return functools.partial(prediction.predict_with, run, experiment)


class _FolderListener(tf.compat.v1.train.CheckpointSaverListener):
    """Raises before a checkpoint if somebody has removed files of the training."""

    def __init__(self, check):
        self._check = check

    def before_save(self, session, global_step_value):
        self._check()


class _ProgressHook(tf.compat.v1.train.SessionRunHook):
    """Prints the progress of the training, about every `interval` steps and at the end."""

    def __init__(self, progress, step, interval):
        self._progress, self._last, self._interval = progress, step, interval

    def begin(self):
        self._global_step = tf.compat.v1.train.get_global_step()

    def after_create_session(self, session, coord):
        self._progress.begin(self._last)

    def before_run(self, run_context):
        return tf.compat.v1.train.SessionRunArgs(self._global_step)

    def after_run(self, run_context, run_values):
        if run_values.results - self._last >= self._interval:
            self._show(run_context.session)

    def end(self, session):
        self._show(session)

    def _show(self, session):
        step = int(session.run(self._global_step))
        if step > self._last:
            self._progress.show(step)
            self._last = step


def _supported(experiment):
    """Returns a copy for one replica. Raises InputError for settings without support here."""
    experiment = experiments.resolve(experiment)
    optimization = experiment.trainer.optimizer_config
    for key, is_set in {
        "bootstrap.layer_width": experiment.bootstrap.layer_width,
        "trainer.layer_log_interval": experiment.trainer.layer_log_interval,
        "trainer.optimizer_config.ema": optimization.ema,
        "runtime.mixed_precision_dtype=float16": (
            experiment.runtime.mixed_precision_dtype == "float16"
        ),
    }.items():
        if is_set:
            raise InputError(
                f"{key}: not supported by --trainer=tpu_estimator; use --trainer=strategy"
            )
    experiment.runtime.distribution_strategy = "off"
    return experiment


def _train_until(end, experiment, model_dir, options, shown, folder_check):
    """Trains up to step `end`, from the last checkpoint."""
    step = weights.global_step(model_dir)
    running = steps.split_batches(steps.continued(experiment, step))
    data = running.task.train_data
    if options.use_tpu:
        data = data.replace(global_batch_size=data.global_batch_size // options.num_tpu_cores)
    with trainer.runtime(running):
        batches = tasks.create(running.task).build_inputs(data)
        shapes = [spec.shape for spec in batches.element_spec.values()]
        if options.use_tpu and not all(shape.is_fully_defined() for shape in shapes):
            raise InputError("task.train_data.buckets: on a TPU all batches must have one length")
        _estimator(running, model_dir, options).train(
            _input_fn(batches.as_numpy_iterator, batches.element_spec),
            hooks=[_ProgressHook(shown, step, running.trainer.steps_per_loop)],
            saving_listeners=[_FolderListener(folder_check)],
            max_steps=end,
        )


def _input_fn(generate, spec):
    """Returns an input function that reads batches of an eager dataset, which checks its files."""

    def input_fn(params):
        batches = tf.data.Dataset.from_generator(generate, output_signature=spec)
        return tfrecord.without_autotuning(batches)

    return input_fn


def _estimator(experiment, model_dir, options):
    """Returns a TPUEstimator that continues from the last checkpoint in `model_dir`."""
    path = weights.latest_checkpoint(model_dir)
    for tensor in bundle.read(path)[0].values():
        # Raises an error that names the damaged file; Estimator's does not.
        finite.check(path, tensor.name, tensor.read())
    api, config = tf.compat.v1.estimator.tpu, experiment.trainer
    resolver = None
    if options.use_tpu and not options.master:
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver(
            options.tpu_name, zone=options.tpu_zone, project=options.gcp_project
        )
    run_config = api.RunConfig(
        model_dir=model_dir,
        cluster=resolver,
        master=options.master or None,
        tf_random_seed=experiment.tf_random_seed,
        save_checkpoints_steps=config.checkpoint_interval,
        save_summary_steps=config.summary_interval,
        keep_checkpoint_max=config.max_to_keep,
        log_step_count_steps=None,
        tpu_config=api.TPUConfig(
            iterations_per_loop=options.iterations_per_loop,
            num_shards=options.num_tpu_cores if options.use_tpu else None,
            per_host_input_for_training=api.InputPipelineConfig.PER_HOST_V2,
        ),
    )
    return api.TPUEstimator(
        _model_fn(experiment, path, options),
        config=run_config,
        params={},
        use_tpu=options.use_tpu,
        train_batch_size=experiment.task.train_data.global_batch_size,
        export_to_tpu=False,
    )


def _model_fn(experiment, path, options):
    """Returns Estimator's model function: from features and mode to a TPUEstimatorSpec."""
    modes = tf.compat.v1.estimator.ModeKeys
    specification = tf.compat.v1.estimator.tpu.TPUEstimatorSpec

    def model_fn(features, labels, mode, params):
        task = tasks.create(experiment.task)
        model = task.build_model()
        weights.check_size(model, path)
        step = tf.compat.v1.train.get_or_create_global_step()
        saved = {"model": model, "global_step": step}

        @tf.function
        def run(features):
            with tf.GradientTape() as tape:
                outputs = model(features, training=mode == modes.TRAIN)
                if mode == modes.PREDICT:
                    return {name: outputs[name] for name in prediction.OUTPUTS if name in outputs}
                losses = model.losses
                loss = task.build_losses(labels=features, model_outputs=outputs, aux_losses=losses)
            if mode == modes.EVAL:
                return outputs, loss
            return tape.gradient(loss, model.trainable_variables), loss

        # Estimator counts no batches of an update, so with several all would drop the same values.
        single = steps.batches_per_step(experiment) == 1
        seed = experiment.tf_random_seed if mode == modes.TRAIN and single else None
        with _comparing_values(), step_seeds.seeded_step(seed, step):
            ran = run(features)
        if mode == modes.PREDICT:
            return specification(mode, predictions=ran, scaffold_fn=_scaffold_fn(saved))
        ran, loss = ran
        if mode == modes.EVAL:
            metrics = _eval_metrics(task, features, ran)
            saver = _scaffold_fn(saved)
            return specification(mode, loss=loss, eval_metrics=metrics, scaffold_fn=saver)
        saved["optimizer"] = optimizer = task.create_optimizer(
            experiment.trainer.optimizer_config, experiment.runtime
        )
        if options.use_tpu:
            optimizer.gradient_aggregator = functools.partial(
                _mean_over_cores, options.num_tpu_cores
            )
        applied = optimizer.apply_gradients(zip(ran, model.trainable_variables, strict=True))
        with tf.control_dependencies([applied]):
            # The optimizer counts updates; an update may take several batches.
            train_op = step.assign(optimizer.iterations.read_value(), read_value=False)
        return specification(mode, loss=loss, train_op=train_op, scaffold_fn=_scaffold_fn(saved))

    return model_fn


@contextlib.contextmanager
def _comparing_values():
    """Makes `==` and `!=` of tensors compare values, as they do in TensorFlow 2.

    In a graph of TensorFlow 1 they compare the identity of the objects. Only for code in a
    tf.function: Estimator itself relies on the comparison of identities.
    """
    operators = {"__eq__": tf.equal, "__ne__": tf.not_equal}
    before = {name: getattr(tf.Tensor, name) for name in operators}
    for name, operator in operators.items():
        setattr(tf.Tensor, name, operator)
    try:
        yield
    finally:
        for name, operator in before.items():
            setattr(tf.Tensor, name, operator)


def _scaffold_fn(saved):
    """Returns a function for a Scaffold that saves and restores as `tf.train.Checkpoint` does."""
    return lambda: tf.compat.v1.train.Scaffold(saver=tf.train.Checkpoint(**saved))


def _eval_metrics(task, features, outputs):
    """Returns the task's metrics for TPUEstimatorSpec: a function and its tensors."""
    tensors = features, outputs

    def metrics(*flat):
        labels, model_outputs = tf.nest.pack_sequence_as(tensors, flat)
        made = {metric.name: metric for metric in task.build_metrics(training=False)}
        with _comparing_values():
            task.process_metrics(list(made.values()), labels, model_outputs)
        return made

    return metrics, tf.nest.flatten(tensors)


def _mean_over_cores(num_cores, grads_and_vars):
    """Averages gradients over the cores of a TPU, as the optimizer does with tf.distribute."""
    return [
        (tf.compat.v1.tpu.cross_replica_sum(tf.convert_to_tensor(gradient) / num_cores), variable)
        for gradient, variable in grads_and_vars
    ]
