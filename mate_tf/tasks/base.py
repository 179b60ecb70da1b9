"""What all tasks over tables share: data in, model, loss and metric, in tf-models' terms."""

import re
from typing import ClassVar

import tensorflow as tf
from official.core import base_task

from mate_tf import checkpoints
from mate_tf.data import features as feature_names
from mate_tf.data import records, replicas
from mate_tf.data.examples import ExampleConverter
from mate_tf.data.tokenizer import read_vocabulary
from mate_tf.errors import InputError
from mate_tf.evaluation import denotation, metrics
from mate_tf.files.atomic import write_text
from mate_tf.layers.keras_namespace import keras
from mate_tf.models.classification import squared_error
from mate_tf.models.classifier import TableClassifier, label_features
from mate_tf.models.configured import ConfiguredModel
from mate_tf.models.reader import first_labelled
from mate_tf.models.spans import NO_SPANS

LABEL = "label_ids"
CLASS = "classification_class_index"
AGGREGATION = "aggregation_function_id"
ANSWER = "answer"
ACCURACY = "answer_accuracy"
CLASS_ACCURACY = "class_accuracy"
AGGREGATION_ACCURACY = "aggregation_accuracy"
SPAN_ACCURACY = "span_accuracy"
SQUARED_ERROR = "squared_error"
_OUTPUT_CLS = r"(output|hidden_\d+)_(weights|bias)_cls"


class TableTask(base_task.Task):
    """Selects the cells that answer a question.

    A new task is a subclass in a file of its own, under the decorator `registry.register`.

    Attributes:
        name_in_tapas: key in the registry and value of --task.
        splits: names of the splits it can read, "train" first.
        subsets: split -> larger split that its questions are in too. They are evaluated with the
            predictions for that one and need no examples of their own.
        sequential: whether a question may refer to the answer of the one before it.
        class_names: what the classes are called, in tasks that classify.
        answers_questions: whether a trained model answers questions; only then can it predict, be
            exported and asked.
        reads_tables: whether the questions are about tables; only then can it be asked.
        makes_vocabulary: whether it comes with a vocabulary (`make_vocabulary`).
        needs_files: whether it cannot do without a folder of official files.
        example_table: path of a table to show what a trained model can do; None without one.
        example_questions: questions about it, independent of each other.
        model_type: class of the model.
        baselines: names in `evaluation.baselines.BASELINES` that results are printed beside.
    """

    name_in_tapas = ""
    splits = ("train", "dev", "test")
    subsets: ClassVar[dict[str, str]] = {}
    sequential = False
    class_names: tuple[str, ...] = ()
    answers_questions = True
    reads_tables = True
    makes_vocabulary = False
    needs_files = True
    example_table = None
    example_questions = ()
    model_type: ClassVar[type[ConfiguredModel]] = TableClassifier
    baselines = ("random cell", "lexical match", "row and column match")

    @classmethod
    def experiment(cls):
        """The task's default hyper-parameters: a `TableExperiment`."""
        raise NotImplementedError

    def interactions(self, input_dir, split):
        """Reads official files.

        Args:
            input_dir: folder with the files; unused by tasks that generate their tables.
            split: one of `splits`.

        Returns:
            iterator over Interaction protos.

        Raises:
            InputError: if a file is missing or broken.
        """
        raise NotImplementedError

    def measure(self, interactions, predicted):
        """How good predictions are.

        Args:
            interactions: list of Interaction protos with the gold answers.
            predicted: question id -> `evaluation.predictions.Prediction`.

        Returns:
            title -> {metric or group: value}; titles are tables when results are printed.
        """
        graded = metrics.grade(interactions, predicted)
        return {"questions": {"accuracy": metrics.accuracy(graded)}}

    def write_answers(self, interactions, predicted, target):
        """Writes answers in the form that the data set's official evaluation reads.

        Args:
            interactions: iterable of Interaction protos.
            predicted: question id -> `evaluation.predictions.Prediction`.
            target: path of the files, without ending.

        Returns:
            paths of what was written; most tasks have no such form.
        """
        if not self.task_config.model.num_aggregation_labels:
            return ()
        path = f"{target}.answers.tsv"
        # The format of WikiTableQuestions' evaluator: the answers in words.
        lines = denotation.submission_lines(interactions, predicted)
        write_text(path, "".join(f"{line}\n" for line in lines))
        return (path,)

    def compare(self, interactions, systems):
        """How sure it is that the model is better than what it is compared with.

        Args:
            interactions: as of `measure`.
            systems: name -> predictions by question id; "model" is the model's.

        Returns:
            title -> name -> {metric: difference and its interval, in words}.
        """
        del interactions, systems
        return {}

    @classmethod
    def decided_by_data(cls, input_dir):
        """Values of the task's config that follow from the data, as a nested dict.

        They override the configuration file; flags override them.

        Args:
            input_dir: folder with the files.

        Raises:
            InputError: if a file is missing or broken.
        """
        del input_dir
        return {}

    def converter(self, vocab_file):
        """What makes examples of its interactions; see `data.create_data`.

        Raises:
            InputError: if the vocabulary cannot be used.
        """
        options = self.task_config.conversion.converter_options()
        return ExampleConverter(vocab_file, **options)

    def official_files(self, input_dir, output_dir):
        """The folder to read interactions from.

        Args:
            input_dir: the user's; None if there is none.
            output_dir: where a task that generates its data in a data set's official format leaves
                them.
        """
        del output_dir
        return input_dir

    def make_vocabulary(self, path):
        """Writes the task's own vocabulary, one piece a line, for tasks that have one."""
        raise NotImplementedError

    def build_model(self):
        """A `model_type` with all its variables, of which `freeze` says which are not trained.

        Raises:
            InputError: if the vocabulary cannot be used or has more pieces than the model has
                embeddings, examples are longer than it has positions, or `freeze` matches nothing.
        """
        self.check_vocabulary()
        self._check_length()
        model = self.model_type(self.task_config.model)
        if self.task_config.freeze:
            model.freeze(self._frozen(model))
        return model

    def _frozen(self, model):
        """Variables with a match of `freeze` in one of their names."""
        pattern = _pattern("task.freeze", [self.task_config.freeze])
        found = checkpoints.matching_variables(model, pattern)
        if not found:
            raise InputError(f"task.freeze: {pattern!r} is in no name of a variable of the model")
        return found

    def check_vocabulary(self):
        """Raises InputError for a vocabulary that is broken or has more pieces than the model."""
        path = self.task_config.conversion.bert_vocab_file
        if not path:
            return  # the examples exist already
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
        """Loads `init_checkpoint`; variables it does not have keep their initial values.

        Raises:
            InputError: if it cannot be read or fits nothing in the model.
        """
        path = self.task_config.init_checkpoint
        if not path:
            return
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

    def build_inputs(self, params, input_context=None):
        """Batches of the model's inputs and of the labels that its losses and metrics read.

        With several replicas each gets an equal part of a batch. The loss and the metrics of all of
        them are those of the whole.

        Raises:
            InputError: no data, or there are no equal parts.
        """
        num_replicas = input_context.num_replicas_in_sync if input_context else 1
        key = "train_data" if params.is_training else "validation_data"
        replicas.check_batch_size(
            f"task.{key}.global_batch_size", params.global_batch_size, num_replicas
        )
        batches = self.global_batches(params, num_replicas)
        if num_replicas > 1:
            batches = replicas.split(batches, input_context)
            if params.is_training:
                # Known to have no end, it need not be asked for one at every step.
                endless = tf.data.experimental.INFINITE_CARDINALITY
                batches = batches.apply(tf.data.experimental.assert_cardinality(endless))
        return batches.prefetch(tf.data.AUTOTUNE)

    def global_batches(self, params, multiple_of=1):
        """Batches as one replica alone would get them.

        Args:
            params: a `TableDataConfig`.
            multiple_of: the number of replicas, and so of parts they must have.
        """
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
        )
        names = dict.fromkeys(
            [
                *feature_names.names(feature_names.MODEL_INPUTS),
                *self.label_names(),
            ]
        )
        # Accelerators take no strings, and numbers nobody reads cost bandwidth.
        return dataset.map(lambda batch: {name: batch[name] for name in names})

    def label_names(self):
        """Features that losses and metrics read."""
        return [*label_features(self.task_config.model), *self._measured()]

    def build_losses(self, labels, model_outputs, aux_losses=None):
        """The model's own loss and what its layers add: <float32>[]."""
        del labels
        return tf.add_n([model_outputs["total_loss"], *(aux_losses or [])])

    def build_metrics(self, training=True):
        """The share of questions that each head answers rightly, or its mean error."""
        del training
        return [keras.metrics.Mean(name, dtype=tf.float32) for name in self._measured().values()]

    def _measured(self):
        """Label -> metric, for the heads whose answer is labelled."""
        model = self.task_config.model
        measured = {} if model.disable_per_token_loss else {LABEL: ACCURACY}
        if model.span_prediction != NO_SPANS:
            measured[LABEL] = SPAN_ACCURACY
        if model.num_classification_labels == 1:
            measured[ANSWER] = SQUARED_ERROR
        elif model.num_classification_labels:
            measured[CLASS] = CLASS_ACCURACY
        if model.num_aggregation_labels and not model.use_answer_as_supervision:
            measured[AGGREGATION] = AGGREGATION_ACCURACY
        return measured

    def process_metrics(self, metrics, labels, model_outputs, **kwargs):
        """Counts right answers; cells or spans are right if they are exactly the labelled ones."""
        del kwargs
        asked = tf.cast(self.asked(labels), tf.float32)
        for metric in metrics:
            if metric.name not in _VALUES:
                continue  # of a layer, which keeps it itself
            value = _VALUES[metric.name](labels, model_outputs)
            metric.update_state(tf.cast(value, tf.float32), asked)

    def asked(self, features):
        """<bool>[batch]: examples with a table; those without only fill up a batch."""
        return tf.reduce_any(features["column_ids"] > 0, axis=1)


def _pattern(key, parts):
    """One regular expression of several; None of none. Raises InputError if it is none."""
    pattern = "|".join(parts)
    try:
        re.compile(pattern)
    except re.error as error:
        raise InputError(f"{key}: {pattern!r} is no regular expression: {error}") from error
    return pattern or None


def _cells_right(labels, outputs):
    wrong = tf.not_equal(outputs["selected_tokens"], labels[LABEL]) & (labels["input_mask"] > 0)
    return ~tf.reduce_any(wrong, axis=1)


def _span_right(labels, outputs):
    """Whether the answer is exactly the gold span; without a gold one, none is right."""
    gold = first_labelled(labels[LABEL])
    right = tf.reduce_all(outputs["pred_span"] == gold, axis=1)
    if "empty_span_log_prob" not in outputs:
        return right
    # No span is the answer, which the first token stands for.
    empty = outputs["empty_span_log_prob"] > outputs["span_log_prob"]
    return tf.where(empty, tf.reduce_all(gold == 0, axis=1), right)


_VALUES = {
    ACCURACY: _cells_right,
    SPAN_ACCURACY: _span_right,
    CLASS_ACCURACY: lambda labels, outputs: _equal(outputs["pred_cls"], labels[CLASS]),
    AGGREGATION_ACCURACY: lambda labels, outputs: _equal(outputs["pred_aggr"], labels[AGGREGATION]),
    SQUARED_ERROR: lambda labels, outputs: squared_error(outputs["logits_cls"], labels[ANSWER]),
}


def _equal(predicted, label):
    return tf.equal(predicted, tf.reshape(label, [-1]))
