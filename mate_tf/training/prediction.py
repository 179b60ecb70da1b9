"""Predictions: runs a trained model over files of examples, to choose or to write texts."""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf
from tqdm import tqdm

from mate_tf.data import features as feature_names
from mate_tf.data import records
from mate_tf.data.converters.tokenizer import Detokenizer
from mate_tf.data.interactions import PADDING_QUESTION_ID
from mate_tf.evaluation.predictions import Prediction
from mate_tf.evaluation.sequential import predict_in_sequence
from mate_tf.training import trainer

INPUTS = {
    name: tf.TensorSpec([None, None], tf.int32)
    for name in feature_names.names(feature_names.MODEL_INPUTS)
}
"""Inputs of a model: name -> spec of <int32>[batch, seq]."""

_PER_TOKEN = (*INPUTS, "label_ids")
_IDENTIFIERS = ("question_id", "table_id")
_LABELS = ("aggregation_function_id", "classification_class_index")
_COPIED = (*_IDENTIFIERS, *_LABELS, "input_ids", "row_ids", "column_ids", "label_ids")
_OF_SPANS = ("pred_span", "span_log_prob", "empty_span_log_prob")
_PER_EXAMPLE = ("pred_aggr", "logits_cls", "probs_cls", "pred_cls", *_OF_SPANS)
OUTPUTS = ("probs", "selected_tokens", *_PER_EXAMPLE)
"""Outputs of a model that are predicted. Which of them it has depends on its heads."""


def predict(experiment, model_dir: str, records_path: str, sequential: bool = False):
    """Runs the last checkpoint in `model_dir` over examples.

    Args:
        experiment: the `TableExperiment` that trained it.
        records_path: TFRecord files of examples, a path or pattern.
        sequential: run the questions of an interaction in order. `prev_label_ids` of a question
            are then the cells that the model selected for the previous question, not the gold
            cells of the examples (see `evaluation.sequential`).

    Returns:
        iterator over dicts, in any order:
            question_id, table_id: str.
            input_ids, row_ids, column_ids, label_ids, selected_tokens: <int32>[tokens], without
                padding.
            probs: <float32>[tokens].
            aggregation_function_id, classification_class_index: int, the labels.
            And, if the model has the head:
            pred_aggr, pred_cls: int.
            logits_cls, probs_cls: <float32>[classes].
            pred_span: <int32>[2], first and last token of the best span.
            span_log_prob: float, log probability of the best span.
            empty_span_log_prob: float, log probability of the empty span.

    Raises:
        InputError: if there is no checkpoint, the checkpoint is of another model, or there are no
            such files.
    """
    return predictor(experiment, model_dir)(records_path, sequential)


def predictor(experiment, model_dir: str):
    """Loads the last checkpoint in `model_dir`, once for several files of examples.

    Returns:
        function of `records_path` and `sequential`; see `predict` for these and for errors.
    """
    model = trainer.load_model(experiment, model_dir)
    compiled = tf.function(
        lambda inputs: model(inputs, training=False), input_signature=[INPUTS], autograph=False
    )

    def run(batches):
        for batch in batches:
            outputs = compiled({name: batch[name] for name in INPUTS})
            yield batch, {name: outputs[name].numpy() for name in OUTPUTS if name in outputs}

    return functools.partial(predict_with, run, experiment)


def predict_with(run, experiment, records_path: str, sequential: bool = False):
    """Returns predictions like `predict`, with a given function that runs the model.

    `run` takes an iterator over batches (dicts of arrays, with `INPUTS` and more) and returns an
    iterator over pairs (batch, its `OUTPUTS`), in the same order.
    """
    predictor = _Predictor(experiment, run)
    if sequential:
        examples = predictor.examples(records_path)
        marked = experiment.task.conversion.mark_previous
        return predict_in_sequence(examples, predictor.in_batches, marked=marked)
    return predictor.streamed(records_path)


def search_options(task) -> dict:
    """Returns the keyword arguments of `EncoderDecoder.generate` for the config of a task.

    Args:
        task: a `TextToTextTaskConfig`.
    """
    options = task.decoding.as_dict()
    options["max_length"] = options["max_length"] or task.conversion.max_target_length - 1
    return options


def generator(experiment, model_dir: str) -> Callable[[str], Iterator[Prediction]]:
    """Loads the last checkpoint in `model_dir`, once for several files of examples.

    Args:
        experiment: the `TableExperiment` that trained it; `task.decoding` has the options of the
            search.

    Returns:
        function of a path or pattern of TFRecord files of examples. It returns an iterator over
        predictions with one text and its score, in any order, and shows a line of progress.

    Raises:
        InputError: if there is no checkpoint, or the checkpoint is of another model; when it runs,
            if an option of the search is out of its range, or there are no such files.
    """
    task, data = experiment.task, experiment.task.validation_data
    model = trainer.load_model(experiment, model_dir)
    detokenize = Detokenizer(task.conversion.bert_vocab_file)
    options = search_options(task)
    kind = f"beam of {options['beam_size']}" if options["beam_size"] > 1 else "greedy search"
    written = tf.function(
        lambda inputs: model.generate(inputs, **options), input_signature=[INPUTS], autograph=False
    )

    def run(records_path):
        batches = records.dataset(
            records_path,
            data.global_batch_size,
            seq_length=task.conversion.max_seq_length,
            buckets=list(data.buckets) or None,
        )
        total = records.count_records(records_path)
        with tqdm(desc=kind, unit=" texts", total=total, disable=None) as progress:
            for batch in batches.as_numpy_iterator():
                example = written({name: batch[name] for name in INPUTS})
                rows = zip(
                    batch["question_id"],
                    example["ids"].numpy(),
                    example["scores"].numpy(),
                    strict=True,
                )
                for (name,), ids, score in rows:
                    name = name.decode("utf-8")
                    if name != PADDING_QUESTION_ID:
                        yield Prediction(name, (), texts=(detokenize(ids),), score=float(score))
                    progress.update()

    return run


class _Predictor:
    """Reads batches of examples and yields one dict of arrays per example."""

    def __init__(self, experiment, run):
        data = experiment.task.validation_data
        self._batch_size = data.global_batch_size
        self._length = experiment.task.conversion.max_seq_length
        self._buckets = list(data.buckets)
        self._run_batches = run

    def streamed(self, records_path):
        """Yields the outputs for all examples of a file, with one batch in memory at a time."""
        for output in self._run(self._batches(records_path)):
            if output["question_id"] != PADDING_QUESTION_ID:
                yield output

    def examples(self, records_path):
        """Yields the examples of a file, without padding."""
        for batch in self._batches(records_path):
            for index in range(len(batch["input_mask"])):
                example = _example(batch, index)
                if example["question_id"] != PADDING_QUESTION_ID:
                    yield example

    def in_batches(self, examples):
        """Yields the outputs for single examples. Batches have examples of similar length."""
        return self._run(self._grouped(examples))

    def _grouped(self, examples):
        examples = sorted(examples, key=lambda example: len(example["input_ids"]))
        for start in range(0, len(examples), self._batch_size):
            group = examples[start : start + self._batch_size]
            longest = len(group[-1]["input_ids"])
            fitting = [length for length in self._buckets if length >= longest]
            length = min(fitting, default=self._length)
            batch: dict[str, Any]
            batch = {name: [example[name] for example in group] for name in group[0]}
            for name in _PER_TOKEN:
                batch[name] = np.stack([_padded(values, length) for values in batch[name]])
            yield batch

    def _batches(self, records_path):
        return records.dataset(
            records_path, self._batch_size, seq_length=self._length, buckets=self._buckets
        ).as_numpy_iterator()

    def _run(self, batches):
        for batch, outputs in self._run_batches(batches):
            for index in range(len(outputs["probs"])):
                example = _example(batch, index)
                tokens = len(example["input_ids"])
                output = {name: example[name] for name in _COPIED}
                for name, values in outputs.items():
                    value = values[index]
                    output[name] = value if name in _PER_EXAMPLE else value[:tokens]
                yield output


def _example(batch, index):
    """Returns one example of a batch, without padding."""
    tokens = int(batch["input_mask"][index].sum())
    example = {name: batch[name][index][:tokens] for name in _PER_TOKEN}
    example.update((name, int(np.ravel(batch[name][index])[0])) for name in _LABELS)
    example.update((name, _text(batch[name][index])) for name in _IDENTIFIERS)
    return example


def _padded(values, length):
    return np.pad(values, (0, length - len(values)))


def _text(value):
    """Returns a string feature as str. It is a str or an array with one bytes object."""
    return value if isinstance(value, str) else value[0].decode("utf-8")
