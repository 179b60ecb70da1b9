"""Answers questions about tables with a trained model."""

import copy
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, overload

from mate_tf.errors import InputError
from mate_tf.evaluation.calibration import Calibration
from mate_tf.serving import (
    confidence,
    export_files,
    forks,
    loading,
    model_folder,
    prepared,
    presets,
)
from mate_tf.serving.answer import Answer
from mate_tf.serving.asking import WHOLE, Asking, options_of
from mate_tf.serving.prepared import PreparedTable
from mate_tf.serving.read_part import ReadPart
from mate_tf.tables.table import Table

if TYPE_CHECKING:  # they import TensorFlow
    import tensorflow as tf

    from mate_tf.attention import AttentionConfig


class Predictor:
    """Answers questions about tables with a trained model.

    Loading takes seconds and an answer takes milliseconds, so make one object and keep it. It is of
    the process that has loaded it: a process that is forked later refuses it.

        predictor = mate_tf.Predictor.from_pretrained("google/tapas-base-finetuned-wtq")
        answer = predictor.ask("my.csv", "who has the highest score?")

    A table is a `Table`, the path of a CSV, TSV or JSON file, a pandas DataFrame, a dict from the
    name of each column to its values, or a list of rows, the header first. A table that is asked
    about often is better prepared once: `prepare`.

    Args:
        saved_model_dir: folder of a SavedModel that `mate_tf.serving.export` wrote.
        reading: how to read tables that do not fit: "whole", in windows of rows, with answers that
            are computed over all of them; or a dict of options for reading a part: from
            "prune_rows", "prune_columns" (rank them by the question; otherwise the last ones are
            dropped) and "fill_cells" (use all tokens where cells are shortened) to True or False.
        engine: what computes: "openvino", on CPUs, or "tensorflow"; see `from_pretrained`.

    Attributes:
        calibration: the `Calibration` in the folder of the model; None if nothing was fitted.

    Raises:
        InputError: if the folder has no SavedModel of mate-tf, or its model does not read tables.
    """

    def __init__(
        self,
        saved_model_dir: str,
        reading: str | dict[str, bool] = WHOLE,
        engine: str | None = None,
    ):
        forks.check(str(saved_model_dir))
        model = loading.export(saved_model_dir, options_of(reading), engine)
        extras = export_files.extras_dir(saved_model_dir)
        self._set(model, saved_model_dir, confidence.find(extras), reading)

    def _set(
        self, model, name: str, calibration: Calibration | None = None, reading: str | dict = WHOLE
    ) -> None:
        self._model, self._name, self.calibration = model, str(name), calibration
        self._source = self._task = None
        forks.note(self._name)
        self._reads_whole = not isinstance(reading, dict)

    @classmethod
    def from_pretrained(
        cls,
        folder_or_name: str | os.PathLike,
        attention: "str | dict | AttentionConfig | None" = None,
        precision: str | None = None,
        max_seq_length: int | None = None,
        task: str | None = None,
        reading: str | dict[str, bool] = WHOLE,
        float32_margin: float = 0.0,
        engine: str | None = None,
    ) -> "Predictor":
        """Loads a trained model as it is.

        Args:
            folder_or_name: one of

                * a folder of Hugging Face's TapasForQuestionAnswering or
                  TapasForSequenceClassification (config.json, weights, vocabulary);
                * a folder of a TAPAS checkpoint (bert_config.json, model.ckpt.*, vocab.txt); the
                  hyper-parameters are those in tapas_config.json or of the task;
                * a --model_dir or an export of mate-tf;
                * the name of a model on the Hugging Face hub, which may end with a revision:
                  owner/name@revision; needs the extra `hub`. `repr` has the commit.
            attention: attention variant in place of the model's own: its name, or its
                `AttentionConfig` with options. It must have the same weights. By default as the
                model was trained, which for TAPAS is "full". A calibration is not of the other
                variant and is not used.
            precision: "float32", "bfloat16" or "float16"; "auto" takes bfloat16 where the device
                has matmuls in it. "int8" rounds the encoder's weights to 8 bits, with OpenVINO
                only. By default as it was trained.
            max_seq_length: tokens of question and table that are read; by default 512, or as it was
                trained. If it is longer, as many rows may be read as the model has embeddings for,
                not only `max_num_rows` of its config.
            task: name of the task; by default the one in the name of the folder, such as WTQ in
                tapas_wtq_wikisql_sqa_inter_masklm_base_reset. There "reset" means that positions
                restart in each cell.
            reading: as for `Predictor`.
            float32_margin: answers of a model in small precision are computed again in float32 if
                their probabilities are as near as this to those of another answer. With bfloat16
                and float16 the weights are in memory twice then. 0: none are.
            engine: what computes: "openvino", on CPUs, or "tensorflow". By default OpenVINO, where
                it has all of the model: the variants "full", "mate_exact" and "mate_efficient" in
                float32, bfloat16 and int8, with heads for cells, operations, classes and
                spans.

        Raises:
            InputError: there is no such model, it does not answer questions, or the other arguments
                do not fit it.
        """
        forks.check(os.fspath(folder_or_name))
        if not 0 <= float32_margin <= 1:
            raise InputError(f"float32_margin={float32_margin} is not between 0 and 1")
        origin, part = model_folder.find(folder_or_name), options_of(reading)
        model = loading.load(
            origin, attention, precision, max_seq_length, task, part, float32_margin, engine
        )
        predictor = cls.__new__(cls)
        fitted = None if attention else confidence.read(origin)
        predictor._set(model, origin.name, fitted, reading)
        predictor._source, predictor._task = origin, task
        return predictor

    @classmethod
    def from_preset(cls, name: str = presets.DEFAULT, **options) -> "Predictor":
        """Loads a model that comes with mate-tf.

            predictor = mate_tf.Predictor.from_preset("mini")

        Args:
            name: name of the preset.
            **options: arguments of `from_pretrained`, such as `precision`.

        Raises:
            InputError: as `from_pretrained`, and if there is no preset of this name.
        """
        return cls.from_pretrained(presets.find(name), **options)

    @classmethod
    def of_model(cls, model, name: str = "") -> "Predictor":
        """Returns a predictor of a model that is loaded already.

        Args:
            model: an `ExportedModel`, `LiveModel` or `EngineServed`.
            name: name of the model, for errors and `repr`.
        """
        predictor = cls.__new__(cls)
        predictor._set(model, name)
        return predictor

    def with_calibration(
        self, calibration: Calibration | None, reading: str | dict[str, bool] | None = None
    ) -> "Predictor":
        """Returns a predictor of the same model with another calibration.

        Args:
            calibration: the calibration.
            reading: {} to read a part of each table, as the confidence of cells is fitted; None:
                as this one.
        """
        other = copy.copy(self)
        other.calibration = calibration
        if reading is not None:
            other._reads_whole = not isinstance(reading, dict)
        return other

    @property
    def class_names(self) -> list[str]:
        """Names of the classes; empty for a model that does not classify."""
        return self._model.class_names

    @property
    def engine(self) -> str:
        """The engine that computes, "openvino" or "tensorflow"."""
        return self._model.engine

    @property
    def model(self):
        """The Keras model, a `TableClassifier`; None for an export."""
        return self._model.keras_model

    def __repr__(self) -> str:
        facts = [repr(self._name)]
        if self._model.config is not None:
            encoder = self._model.config["encoder"]
            attention = encoder["attention"]
            layers = attention if isinstance(attention, list) else [attention]
            facts += [
                f"attention={'+'.join(dict.fromkeys(each['name'] for each in layers))}",
                f"layers={encoder['num_hidden_layers']}",
                f"hidden_size={encoder['hidden_size']}",
            ]
        facts.append(f"max_seq_length={self._model.converter.max_seq_length}")
        facts.append(f"engine={self.engine}")
        if self._model.precision:
            facts.append(f"precision={self._model.precision}")
        if self._model.class_names:
            facts.append(f"classes={'|'.join(self._model.class_names)}")
        return f"Predictor({', '.join(facts)})"

    def __call__(self, table, query, sequential: bool = False) -> "Answer | list[Answer]":
        """Answers one question, or each of a list of questions.

        Args:
            table: the table, of any of the types above.
            query: the question, or a list of them.
            sequential: each question of a list refers to the answer of the one before it.

        Raises:
            InputError: as `ask`.
        """
        if isinstance(query, str) or not sequential:
            return self.ask(table, query)
        table, answers = self.prepare(table), []
        for question in prepared.questions(query):
            answers.append(self.ask(table, question, answers[-1] if answers else None))
        return answers

    @overload
    def ask(self, table, question: str, previous: Answer | None = None) -> Answer: ...
    @overload
    def ask(self, table, question: list[str], previous: Answer | None = None) -> list[Answer]: ...
    def ask(self, table, question, previous: Answer | None = None) -> "Answer | list[Answer]":
        """Answers one question, or several that are independent of each other.

        Args:
            table: the table, of any of the types above.
            question: the question, or a list of questions.
            previous: the answer to the question before, if this one refers to it. Its cells that
                are not read this time are forgotten.

        Returns:
            The answer, or a list of them; its `cuts` say what was not read.

        Raises:
            InputError: the question is empty; the table cannot be read; question and table cannot
                be brought into the model's length; `previous` is not an answer; the process was
                forked after a model was loaded.
        """
        table = self.prepare(table)
        if isinstance(question, str):
            return self._ask([(table, prepared.question(question))], [previous])[0]
        pairs = [(table, each) for each in prepared.questions(question)]
        return self._ask(pairs, [previous] * len(pairs))

    @staticmethod
    def prepare(table) -> PreparedTable:
        """Reads a table and finds its numbers, dates and words, once for several questions.

        Args:
            table: the table, of any of the types above, or prepared already.

        Returns:
            The prepared table, which is given to `ask` in place of the table.

        Raises:
            InputError: the table cannot be read.
        """
        return PreparedTable.of(table)

    def ask_batch(
        self, pairs: Iterable, batch_size: int = 16, previous: Sequence[Answer | None] | None = None
    ) -> list[Answer]:
        """Answers questions about different tables.

        Questions with examples of similar lengths are computed together, so that little is padded.
        A table that is in several pairs is prepared once.

        Args:
            pairs: (table, question) each.
            batch_size: examples that the model computes at a time.
            previous: for each pair the answer to the question before, or None; see `ask`.

        Returns:
            The answers, in the order of the pairs.

        Raises:
            InputError: as `ask`; if `pairs`, `batch_size` or `previous` is something else.
        """
        pairs = prepared.pairs(pairs)
        tables = {id(table): table for table, _ in pairs}
        tables = {key: self.prepare(table) for key, table in tables.items()}
        read = [(tables[id(table)], question) for table, question in pairs]
        return self._ask(read, [None] * len(read) if previous is None else previous, batch_size)

    def save_pretrained(self, folder: str | os.PathLike) -> None:
        """Writes a folder that Hugging Face's `from_pretrained` and this class's read.

        Raises:
            InputError: the model has something that Hugging Face's TAPAS has not, or is an export.
        """
        saving, trained = self._saving()
        saving.huggingface(trained, folder)

    def save_preset(
        self, folder: str | os.PathLike, license: str = "unknown", dtype: str | None = None
    ) -> None:
        """Writes a folder that `from_pretrained` reads: weights, settings, vocabulary, calibration.

        It has all of the model, with the attention, length and precision that it was loaded with
        ("int8" is chosen when it is loaded), and a model card, unless the folder has one.

        Args:
            folder: a local folder; an earlier preset in it is replaced.
            license: licence of the weights for the model card, as the hub names it.
            dtype: "float32", "bfloat16" or "int8" (matrices in 8 bits with a scale for each row or
                column), of the weights in the file; None: the smallest that has their exact values.

        Raises:
            InputError: the folder has something else in it, or the model is an export.
        """
        saving, trained = self._saving()
        saving.preset(trained, folder, license, dtype)

    def push_to_hub(
        self,
        name: str,
        license: str = "unknown",
        private: bool | None = None,
        token: str | None = None,
    ) -> str:
        """Writes the files of `save_preset` to the Hugging Face hub; needs the extra `hub`.

        Args:
            name: owner and name of the model there, which is made if it does not exist. Its model
                card stays.
            license: as for `save_preset`.
            private: whether a new model is private; None: as the owner has it.
            token: token of the hub; None: that of huggingface_hub (HF_TOKEN).

        Returns:
            the name, for `from_pretrained`.

        Raises:
            InputError: the hub refuses it or cannot be reached, or the model is an export.
        """
        saving, trained = self._saving()
        return saving.push(trained, name, license, private, token)

    def export(self, folder: str | os.PathLike) -> str:
        """Writes the model as a SavedModel (`mate_tf.serving.export`); returns the folder.

        Raises:
            InputError: the folder has something else in it, or the model is an export.
        """
        saving, trained = self._saving()
        return saving.export(trained, folder)

    def _saving(self):
        """Returns the module that writes models, which answers do without, and what it writes."""
        from mate_tf.serving import saving as module

        about = self.calibration, self._source, self._task
        return module, module.TrainedModel(self._name, self._model, *about)

    def example(
        self, table: Table, question: str, previous: Answer | None = None
    ) -> "tf.train.Example":
        """Returns the model's input for a question; arguments and errors as for `ask`."""
        return self.read(table, question, previous).example

    def read(self, table, question: str, previous: Answer | None = None) -> ReadPart:
        """Returns the part of a table that `ask` reads for a question.

        Args:
            table, question, previous: as for `ask`.

        Raises:
            InputError: as `ask`.
        """
        forks.check(self._name)
        asking = Asking(self._model, self.calibration)
        return asking.convert(self.prepare(table), prepared.question(question), previous)[0]

    def _ask(self, pairs, previous, batch_size: int = 16) -> list[Answer]:
        """Answers (table, question) pairs in batches, each with the answer before it or None."""
        forks.check(self._name)
        asking = Asking(self._model, self.calibration, batch_size, self._reads_whole)
        return asking.answers(pairs, previous)
