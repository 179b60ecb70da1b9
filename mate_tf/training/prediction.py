"""A trained model's outputs, example by example."""

import collections

import numpy as np
import tensorflow as tf

from mate_tf.data import features as feature_names
from mate_tf.data import records
from mate_tf.training import trainer

_INPUTS = feature_names.names(feature_names.MODEL_INPUTS)
_PER_TOKEN = (*_INPUTS, "label_ids")


def predict(experiment, model_dir: str, records_path: str, sequential: bool = False):
    """Runs the last checkpoint in `model_dir` over examples.

    Args:
        experiment: the `TableExperiment` that trained it.
        model_dir: folder with checkpoints.
        records_path: TFRecord files of examples, a path or pattern.
        sequential: the questions of an interaction are asked one after the other, and
            `prev_label_ids` of each are the cells the model chose for the one before, instead of
            the gold ones in the examples.

    Returns:
        iterator over dicts, in any order:
            question_id, table_id: str.
            row_ids, column_ids, label_ids, selected_tokens: <int32>[tokens], without padding.
            probs: <float32>[tokens].

    Raises:
        InputError: if there is no checkpoint, or it is of another model, or no such file.
    """
    predictor = _Predictor(experiment, trainer.load_model(experiment, model_dir))
    if not sequential:
        for batch in predictor.dataset(records_path):
            yield from predictor(batch)
        return
    chosen = {}  # interaction -> cells of its last answer
    for examples in _rounds(predictor.dataset(records_path)):
        for example in examples:
            previous = chosen.pop(example["interaction"], None)
            example["prev_label_ids"] = _previous_labels(example, previous)
        for batch in predictor.batches(examples):
            for output in predictor(batch):
                chosen[_interaction(output["question_id"])] = _chosen_cells(output)
                yield output


class _Predictor:
    """Batches of examples in, one dict of arrays per example out."""

    def __init__(self, experiment, model):
        data = experiment.task.validation_data
        self._batch_size = data.global_batch_size
        self._length = experiment.task.conversion.max_seq_length
        self._buckets = list(data.buckets)
        self._model = tf.function(
            lambda inputs: model(inputs, training=False),
            input_signature=[{name: tf.TensorSpec([None, None], tf.int32) for name in _INPUTS}],
        )

    def dataset(self, records_path):
        """Batches as the model's evaluation reads them, with the identifiers."""
        return records.dataset(
            records_path,
            self._batch_size,
            seq_length=self._length,
            buckets=self._buckets or None,
            shuffle=0,
            repeat=False,
            drop_remainder=False,
        ).as_numpy_iterator()

    def batches(self, examples):
        """Puts single examples of similar length together, padded to their bucket."""
        examples = sorted(examples, key=lambda example: len(example["input_ids"]))
        for start in range(0, len(examples), self._batch_size):
            group = examples[start : start + self._batch_size]
            longest = len(group[-1]["input_ids"])
            fitting = [length for length in self._buckets if length >= longest]
            length = min(fitting, default=self._length)
            yield {
                name: np.stack([_padded(example[name], length) for example in group])
                if name in _PER_TOKEN
                else np.array([example[name] for example in group])
                for name in (*_PER_TOKEN, "question_id", "table_id")
            }

    def __call__(self, batch):
        outputs = self._model({name: batch[name] for name in _INPUTS})
        probs, selected = outputs["probs"].numpy(), outputs["selected_tokens"].numpy()
        for index, mask in enumerate(batch["input_mask"]):
            tokens = int(mask.sum())
            output = {
                name: batch[name][index, :tokens] for name in ("row_ids", "column_ids", "label_ids")
            }
            output.update(probs=probs[index, :tokens], selected_tokens=selected[index, :tokens])
            for name in ("question_id", "table_id"):
                output[name] = _text(batch[name][index])
            yield output


def _rounds(batches):
    """Batches -> lists of single examples: all first questions, all second ones, ..."""
    rounds = collections.defaultdict(list)
    for batch in batches:
        for index, mask in enumerate(batch["input_mask"]):
            tokens = int(mask.sum())
            example = {name: batch[name][index, :tokens] for name in _PER_TOKEN}
            for name in ("question_id", "table_id"):
                example[name] = _text(batch[name][index])
            example["interaction"] = _interaction(example["question_id"])
            rounds[int(example["question_id"].rpartition("_")[2])].append(example)
    return [rounds[position] for position in sorted(rounds)]


def _interaction(question_id):
    """The part of a question id that its whole sequence shares."""
    return question_id.rpartition("_")[0]


def _cells(example):
    """<int32>[tokens]: one number per token for the cell it is in."""
    return example["row_ids"] * (1 << 16) + example["column_ids"]


def _chosen_cells(output):
    return np.unique(_cells(output)[output["selected_tokens"] > 0])


def _previous_labels(example, cells):
    """prev_label_ids for the cells chosen before; None where nothing was asked before."""
    if cells is None:
        return np.zeros_like(example["prev_label_ids"])
    return np.isin(_cells(example), cells).astype(np.int32)


def _padded(values, length):
    return np.pad(values, (0, length - len(values)))


def _text(value):
    """A string feature: bytes, alone or in an array of one."""
    value = np.ravel(value)[0]
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)
