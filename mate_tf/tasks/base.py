"""Base class of all tasks: data, model, loss and metrics, in the terms of tf-models."""

import dataclasses
import re
from collections.abc import Callable, Iterator
from typing import ClassVar

import tensorflow as tf
from official.core import base_task

from mate_tf import checkpoints, tasks
from mate_tf.data import features as feature_names
from mate_tf.data import padding, records
from mate_tf.data.converters.tokenizer import read_vocabulary
from mate_tf.errors import InputError
from mate_tf.layers.framework import keras
from mate_tf.models.classifier import TableClassifier, label_features
from mate_tf.models.configured import ConfiguredModel

_OUTPUT_CLS = r"(output|hidden_\d+)_(weights|bias)_cls"


@dataclasses.dataclass(frozen=True)
class Capabilities:
    """Abilities of a task and of the models that are trained on it.

    Attributes:
        answers_questions: a trained model can predict, be exported and be served.
        reads_tables: questions are about tables; an exported model takes any table as text.
        makes_vocabulary: the task comes with a vocabulary (`Task.make_vocabulary`).
        builds_vocabulary: without a given vocabulary, one is learned from the training data.
        needs_files: the task needs a folder of official files.
        writes_text: the model writes texts (`training.prediction`) instead of choosing something.
    """

    answers_questions: bool = True
    reads_tables: bool = True
    makes_vocabulary: bool = False
    builds_vocabulary: bool = False
    needs_files: bool = True
    writes_text: bool = False


class Task(base_task.Task):
    """Data, model and metrics of a task with the heads of `ClassifierConfig`.

    `TableTask`, `SequenceTask` and `PretrainTask` are the kinds of tasks. To add a task, write a
    subclass of one of them in a new file, with the decorator `registry.register`.

    Attributes:
        name: key in the registry and value of --task, as in google-research/tapas.
        capabilities: the abilities of the task.
        splits: names of the splits that `interactions` reads, "train" first.
        subsets: split -> larger split that contains its questions. A subset is evaluated with the
            predictions for the larger split and needs no examples of its own.
        sequential: whether a question may refer to the answer of the previous question.
        class_names: names of the classes, in tasks that classify.
        example_table: path of a table for demonstrations of a trained model, or None.
        example_questions: questions about `example_table`, independent of each other.
        model_type: class of the model.
        baselines: names in `evaluation.baselines.BASELINES` that results are compared with.
    """

    name = ""
    capabilities = Capabilities()
    splits = ("train", "dev", "test")
    subsets: ClassVar[dict[str, str]] = {}
    sequential = False
    class_names: tuple[str, ...] = ()
    example_table = None
    example_questions = ()
    model_type: ClassVar[type[ConfiguredModel]] = TableClassifier
    baselines: tuple[str, ...] = ()

    @classmethod
    def experiment(cls):
        """Returns the task's default hyper-parameters, a `TableExperiment`."""
        raise NotImplementedError

    def interactions(self, input_dir, split):
        """Reads a split from a folder of official files; some tasks generate it instead.

        Returns:
            iterable of Interaction protos.

        Raises:
            InputError: if a file is missing or broken.
        """
        raise NotImplementedError

    def converter(self, vocab_file):
        """Returns the converter of interactions to examples; see `data.converters`.

        Raises:
            InputError: if the vocabulary cannot be used.
        """
        raise NotImplementedError

    def check_packages(self):
        """Raises InputError if a package that `measure` needs is not installed."""

    def measure(self, interactions, predicted):
        """Computes the metrics of predictions.

        Args:
            interactions: list of Interaction protos with the gold answers.
            predicted: question id -> `evaluation.predictions.Prediction`.

        Returns:
            title -> {metric or group: value}. Each title is printed as one table.
        """
        raise NotImplementedError

    def warnings(self, interactions, predicted):
        """Returns sentences about what makes the metrics of `measure` meaningless, if anything."""
        return ()

    def write_answers(self, interactions, predicted, target):
        """Writes answers in the format of the data set's official evaluation, if there is one.

        Args:
            interactions, predicted: see `measure`.
            target: path of the files, without extension.

        Returns:
            paths of the written files; empty for most tasks.
        """
        return ()

    def compare(self, interactions, systems):
        """Compares the model with other systems on the same questions.

        Args:
            systems: name -> predictions by question id. The model's name is "model".

        Returns:
            title -> name -> {metric: text with the difference and its interval}.
        """
        return {}

    @classmethod
    def decided_by_data(cls, input_dir):
        """Returns the values of the task's config that the data determine, as a nested dict.

        These values override the configuration file. Flags override these values.

        Raises:
            InputError: if a file is missing or broken.
        """
        return {}

    def official_files(self, input_dir, output_dir):
        """Returns the folder to read interactions from: the user's, which may be None.

        Tasks that generate a data set in its official format write it below `output_dir`.
        """
        return input_dir

    def make_vocabulary(self, path):
        """Writes the task's own vocabulary, one piece a line, if it `makes_vocabulary`."""
        raise NotImplementedError

    def build_model(self):
        """Builds a `model_type` with all its variables. Variables that match `freeze` are frozen.

        Raises:
            InputError: if the vocabulary cannot be used, the vocabulary has more pieces than the
                model has embeddings, examples are longer than the model has positions, or `freeze`
                matches nothing.
        """
        self.check_vocabulary()
        self._check_length()
        model = self.model_type(self.model_config())
        if self.task_config.freeze:
            pattern = _pattern("task.freeze", [self.task_config.freeze])
            variables = checkpoints.matching_variables(model, pattern) if pattern else {}
            if not variables:
                raise InputError(f"task.freeze: {pattern!r} matches no variable of the model")
            model.freeze(variables)
        return model

    def model_config(self):
        """Returns the config that `build_model` gives to the model."""
        return self.task_config.model

    def check_vocabulary(self):
        """Raises InputError if the vocabulary is broken or is larger than the model's."""
        path = self.task_config.conversion.bert_vocab_file
        if not path:
            return  # the examples have been converted before
        pieces, embeddings = len(read_vocabulary(path)), self.task_config.model.encoder.vocab_size
        if pieces > embeddings:
            raise InputError(
                f"{path}: has {pieces} pieces, more than task.model.encoder.vocab_size={embeddings}"
            )

    def _check_length(self):
        length, encoder = self.task_config.conversion.max_seq_length, self.task_config.model.encoder
        endless = encoder.reset_position_index_per_cell or encoder.disable_position_embeddings
        if length > encoder.max_position_embeddings and not endless:
            raise InputError(
                f"task.conversion.max_seq_length={length} is more than task.model.encoder."
                f"max_position_embeddings={encoder.max_position_embeddings}; "
                "with reset_position_index_per_cell it may be"
            )

    def initialize(self, model):
        """Loads `init_checkpoint`. Variables that it lacks keep their initial values.

        Returns:
            a `checkpoints.LoadReport`, which is also printed; None if there is no checkpoint.

        Raises:
            InputError: if it cannot be read or no variable of the model is in it.
        """
        path = self.task_config.init_checkpoint
        if not path:
            return None
        fresh = [self.task_config.init_exclude]
        if self.task_config.reset_output_cls:
            fresh.append(_OUTPUT_CLS)
        report = checkpoints.load(
            model,
            path,
            skip_mismatched=self.task_config.skip_mismatched,
            exclude=_pattern("task.init_exclude", filter(None, fresh)),
        )
        print(f"initialized | {path}: {report}", flush=True)
        return report

    def build_inputs(self, params, input_context=None):
        """Returns batches of the model's inputs, with the labels for losses and metrics.

        Each replica gets an equal part of a batch. Loss and metrics are those of the whole batch.

        Returns:
            `tf.data.Dataset` of dicts, name -> tensor[batch, ...].

        Raises:
            InputError: if there are no data, or a batch cannot be split into equal parts.
        """
        num_replicas = input_context.num_replicas_in_sync if input_context else 1
        key = "train_data" if params.is_training else "validation_data"
        records.replica_batches.check_batch_size(
            f"task.{key}.global_batch_size", params.global_batch_size, num_replicas
        )
        batches = self.global_batches(params, num_replicas)
        if num_replicas > 1:
            batches = records.replica_batches.split(batches, input_context)
            if params.is_training:
                # With a known infinite cardinality tf.distribute skips a check for the end of the
                # data at every step.
                endless = tf.data.experimental.INFINITE_CARDINALITY
                batches = batches.apply(tf.data.experimental.assert_cardinality(endless))
        return batches.prefetch(records.PREFETCHED)

    def global_batches(self, params, multiple_of=1):
        """Returns whole batches, whose sizes are multiples of the number of replicas."""
        dataset = records.dataset(
            params.input_path,
            params.global_batch_size,
            seq_length=self.task_config.conversion.max_seq_length,
            buckets=None if params.static_shapes else list(params.buckets) or None,
            max_batch_tokens=params.max_batch_tokens or None,
            curriculum=records.Curriculum(params.curriculum_length, params.curriculum_steps),
            shuffle=params.shuffle_buffer_size if params.is_training else 0,
            seed=params.seed,
            repeat=params.is_training,
            drop_remainder=params.is_training,
            fill_remainder=params.static_shapes and not params.is_training,
            multiple_of=multiple_of,
            skip=params.skip_batches,
        )
        inputs = feature_names.names(feature_names.MODEL_INPUTS)
        names = dict.fromkeys([*inputs, *self.label_names()])
        # Accelerators take no strings, and unused features cost bandwidth.
        return dataset.map(lambda batch: {name: batch[name] for name in names})

    def label_names(self):
        """Returns the names of the features that losses and metrics read."""
        config = self.task_config.model
        return [*label_features(config), *tasks.head_metrics.names(config)]

    def build_losses(self, labels, model_outputs, aux_losses=None):
        """Returns the sum of the model's loss and the losses of its layers, <float32>[]."""
        return tf.add_n([model_outputs["total_loss"], *(aux_losses or [])])

    def build_metrics(self, training=True):
        """Returns a `Mean` for each head: share of correct answers, or mean squared error."""
        names = tasks.head_metrics.names(self.task_config.model).values()
        return [keras.metrics.Mean(name, dtype=tf.float32) for name in names]

    def process_metrics(self, metrics, labels, model_outputs, **kwargs):
        """Updates the metrics. Cells or spans count as correct only if they equal the labels.

        Args:
            metrics: metrics of `build_metrics`, and of layers, which this ignores.
            labels, model_outputs: features and outputs, name -> tensor[batch, ...].
        """
        model, examples = self.task_config.model, self.example_mask(labels)
        for metric in metrics:
            if metric.name not in tasks.head_metrics.VALUES:
                continue  # a layer's metric; the layer updates it
            value = tasks.head_metrics.VALUES[metric.name](labels, model_outputs)
            weights = tasks.head_metrics.weights(model, metric.name, labels, examples)
            metric.update_state(tf.cast(value, tf.float32), weights)

    def example_mask(self, features):
        """Returns <bool>[batch], true for examples and false for padding examples.

        Args:
            features: `column_ids` <int32>[batch, seq] is read.
        """
        return padding.table_example_mask(features)


class DerivedInteractions:
    """Interactions that are made of those that a reader read.

    Args:
        make: function that returns an iterator over them.
        defects: defects of the files, see `data.records.report.Report`.
    """

    def __init__(self, make: Callable[[], Iterator], defects: dict):
        self._make, self.defects = make, defects

    def __iter__(self) -> Iterator:
        return self._make()


def _pattern(key, parts):
    """Returns the alternation of regular expressions, or None for no parts."""
    pattern = "|".join(parts)
    try:
        re.compile(pattern)
    except re.error as error:
        raise InputError(f"{key}: {pattern!r} is not a regular expression: {error}") from error
    return pattern or None
