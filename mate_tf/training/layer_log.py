"""layers.jsonl: progress of each layer in training, as in figures 2 to 5 of the Treeformer paper.

Each line is a JSON object with the `step`. `training` has the means over the steps of the last
loop, such as training_loss and accuracies, and the learning_rate; the first line of a training has
no `training`. `validation` has the metrics of an evaluation. All lines but those of evaluations
also have values of a fixed batch, the probe:

    probe_loss: loss of the probe.
    layers: for each layer, from the bottom,
        attention: the variant.
        gradient_norm: global norm of the gradients of all its variables.
    and, if it has decision trees,
        tree_height: their height.
        tree_gradient_norm: global norm of their gradients; missing if they are not trained.
        leaf_shares: share of the keys in each leaf, in descending order; mean over heads.
        leaf_entropy: 1 if all leaves have equal shares, 0 if one has all keys; mean over heads.
        empty_leaves: share of the leaves without a key.
        leaf_balance: leaves times the sum of their squared shares: 1 if all are equal.
"""

import json
import math
import os

import tensorflow as tf

from mate_tf.attention.abilities import LogsValues
from mate_tf.data import padding
from mate_tf.files.atomic import atomic_path
from mate_tf.files.json_files import read_json_lines
from mate_tf.models.inspection import layer_inputs
from mate_tf.training import progress

FILE = "layers.jsonl"


def read(model_dir: str) -> list[dict]:
    """Reads the lines of layers.jsonl in a model folder; [] without that file.

    Raises:
        InputError: if the file cannot be read.
    """
    path = os.path.join(model_dir, FILE)
    return [line for _, line in read_json_lines(path)] if os.path.exists(path) else []


class LayerLog:
    """Orbit action that writes layers.jsonl.

    A resumed training first drops the lines of steps after its checkpoint.

    Args:
        model_dir: folder to write to.
        interval: steps between lines; 0: nothing is written.
        writes: whether to write the file. With False it only takes part in the computations,
            which all workers must do.
    """

    def __init__(self, model_dir: str, interval: int, writes: bool = True):
        self._path, self._writes = os.path.join(model_dir, FILE), writes
        self._interval = interval

    def start(self, trainer):
        """Begins the log at the current step of `trainer`, a `base_trainer.Trainer`."""
        if not self._interval:
            return
        self._step = trainer.global_step
        self._probe = Probe(trainer)
        step = int(self._step.numpy())
        kept = _kept_lines(self._path, step)
        if self._writes:
            with atomic_path(self._path) as partial, open(partial, "w", encoding="utf-8") as file:
                file.writelines(kept)
        self._last = step
        if not kept:
            self._write(self._probe())

    def __call__(self, output):
        if self._interval and int(self._step.numpy()) - self._last >= self._interval:
            self._last = int(self._step.numpy())
            self._write({"training": _floats(output), **self._probe()})

    def evaluated(self, output):
        """Orbit action after an evaluation."""
        if self._interval:
            self._write({"validation": _floats(output)})

    def _write(self, values):
        if not self._writes:
            return
        line = json.dumps({"step": int(self._step.numpy()), **values})
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(f"{line}\n")


class Probe:
    """Computes loss and gradient norms of a model on a fixed batch, without training it.

    Args:
        trainer: tf-models' trainer. The batch is the first of its training data, not shuffled.
    """

    def __init__(self, trainer):
        self._task, self._model = trainer.task, trainer.model
        # A training that goes on leaves out batches, which may be more than one pass has.
        data = trainer.config.task.train_data.replace(is_training=False, skip_batches=0)
        strategy = trainer.strategy
        self._batch = next(iter(trainer.distribute_dataset(self._task.build_inputs, data)))
        self._replicas = strategy.experimental_local_results
        self._measure = tf.function(
            lambda batch: strategy.run(self._measure_replica, args=(batch,))
        )

    def __call__(self) -> dict:
        """Returns `probe_loss` and `layers` of the first replica."""
        measured = tf.nest.map_structure(
            lambda value: self._replicas(value)[0].numpy(), self._measure(self._batch)
        )
        blocks = self._model.encoder.blocks
        return {
            "probe_loss": _rounded(measured["loss"]),
            "layers": [
                {"attention": block.attention.config.name}
                | {name: _rounded(value.tolist()) for name, value in values.items()}
                for block, values in zip(blocks, measured["layers"], strict=True)
            ],
        }

    def _measure_replica(self, batch):
        blocks = self._model.encoder.blocks
        with tf.GradientTape() as tape:
            outputs = self._model(batch, training=True)
            loss = self._task.build_losses(
                labels=batch, model_outputs=outputs, aux_losses=self._model.losses
            )
        trained = {id(variable) for variable in self._model.trainable_variables}
        of_blocks = [[v for v in block.trainable_variables if id(v) in trained] for block in blocks]
        gradients = tape.gradient(loss, of_blocks)
        inputs = layer_inputs(outputs)
        real = padding.real_tokens(batch["input_mask"])
        layers = []
        for block, variables, of_block, x in zip(blocks, of_blocks, gradients, inputs, strict=True):
            values = {"gradient_norm": _norm(of_block)}
            layer = block.attention
            groups = layer.logged_variables() if isinstance(layer, LogsValues) else {}
            for name, own in groups.items():
                own = {id(variable) for variable in own}
                pairs = zip(of_block, variables, strict=True)
                of_group = [gradient for gradient, variable in pairs if id(variable) in own]
                if of_group:
                    values[f"{name}_gradient_norm"] = _norm(of_group)
            if isinstance(layer, LogsValues):
                values |= layer.logged_values(x, real)
            layers.append(values)
        return {"loss": loss, "layers": layers}


def _norm(gradients):
    """Returns the global norm of the gradients, <float32>[]; 0 if there are no gradients."""
    present = [tf.cast(gradient, tf.float32) for gradient in gradients if gradient is not None]
    return tf.linalg.global_norm([tf.zeros([]), *present])


def _kept_lines(path: str, step: int) -> list[str]:
    """Returns the lines up to a step. A last line without an end is dropped."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file if line.endswith("\n")]
    return [line for line in lines if json.loads(line)["step"] <= step]


def _floats(output) -> dict:
    return {name: _rounded(progress.number(value)) for name, value in (output or {}).items()}


def _rounded(value):
    """Rounds numbers, also in nested lists, to five digits; None for infinity and NaN."""
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    if isinstance(value, (str, int)):
        return value
    return float(f"{value:.5g}") if math.isfinite(value) else None
