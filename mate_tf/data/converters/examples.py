"""Interactions to tf.train.Examples, feature by feature as google-research/tapas makes them."""

import collections
import contextlib
import dataclasses
import os
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from mate_tf.data import interactions
from mate_tf.data.converters import matching
from mate_tf.data.converters.example_features import example_features, to_example
from mate_tf.data.converters.expansion import Shown
from mate_tf.data.converters.table_features import TableFeatures
from mate_tf.data.converters.tokenizer import Tokenizer
from mate_tf.protos import interaction_pb2, table_selection_pb2
from mate_tf.tables import linearize, pruning
from mate_tf.tables.conversion import ConversionConfig
from mate_tf.tables.linearize import ConversionError, Cut

INVALID_ANSWER = "Invalid answer"
ANSWER_NOT_FOUND = "Couldn't find all answers"

_CACHED_TABLES = 64
_SELECTION = table_selection_pb2.TableSelection.table_selection_ext


class Conversion(NamedTuple):
    """An example and what of the question and the table is not in it."""

    example: tf.train.Example
    cuts: tuple[Cut, ...] = ()

    @property
    def examples(self) -> tuple[tf.train.Example, ...]:
        """All examples of the question."""
        return (self.example,)


class ExampleConverter:
    """Converts questions of interactions to examples.

    ```
    converter = ExampleConverter("vocab.txt", max_seq_length=512, drop_rows_to_fit=True)
    example, cuts = converter.conversion(interaction, 0)
    ```

    Numbers and dates are looked for where an interaction has none. Interactions are never changed.
    A converter can be sent to other processes.

    Args:
        vocab_file: WordPiece vocabulary, see `Tokenizer`.
        max_seq_length: length of every feature per token; shorter sequences are padded.
        **options: further fields of `tables.conversion.ConversionConfig`.

    Attributes:
        config: the `ConversionConfig`.

    Raises:
        InputError: the vocabulary cannot be used, or a limit is negative.
    """

    def __init__(self, vocab_file: str | os.PathLike, max_seq_length: int = 512, **options):
        self._start(vocab_file, ConversionConfig(max_seq_length, **options))

    @classmethod
    def from_config(cls, vocab_file: str | os.PathLike, config: ConversionConfig):
        """Returns the converter of a vocabulary and a config."""
        return cls(vocab_file, **dataclasses.asdict(config))

    def _start(self, vocab_file, config: ConversionConfig) -> None:
        self.config = config
        self.tokenizer = Tokenizer(vocab_file)
        self._shown = Shown(config)
        self._tables: collections.OrderedDict[bytes, TableFeatures] = collections.OrderedDict()

    @property
    def max_seq_length(self) -> int:
        """Length of every feature per token."""
        return self.config.max_seq_length

    @property
    def vocab_file(self) -> str:
        """The vocabulary."""
        return self.tokenizer.vocab_file

    def __getstate__(self):
        """Returns what `__setstate__` needs to build an equal converter in another process."""
        return self.tokenizer.vocab_file, self.config

    def __setstate__(self, state):
        self._start(*state)

    def convert(
        self, interaction: interaction_pb2.Interaction, question_index: int
    ) -> tf.train.Example:
        """The example of one question; see `conversion`."""
        return self.conversion(interaction, question_index).example

    def conversion(
        self, interaction: interaction_pb2.Interaction, question_index: int
    ) -> Conversion:
        """The example of one question, and what was cut for it.

        Returns:
            Conversion with all features of `features.ALL`, those per token [max_seq_length] long.

        Raises:
            ConversionError: its `reason` is one of those in this module or in `linearize`.
        """
        question = interaction.questions[question_index]
        (text,) = self._encode_questions([(question, interaction.table)])
        return self._conversion(interaction, question_index, text)

    def convert_all(
        self, *found: interaction_pb2.Interaction
    ) -> Iterator[Conversion | ConversionError]:
        """For each question of the interactions its conversion, or why there is none.

        Faster than one by one: the tokenizer is called once for all questions and all tables.
        """
        asked = [(interaction, index) for interaction in found for index in _indices(interaction)]
        self._remember(asked)
        texts = self._encode_questions(
            [(interaction.questions[index], interaction.table) for interaction, index in asked]
        )
        for (interaction, index), text in zip(asked, texts, strict=True):
            try:
                yield self._conversion(interaction, index, text)
            except ConversionError as error:
                yield error

    def empty_example(self) -> tf.train.Example:
        """An example without a table, to fill up batches."""
        interaction = interaction_pb2.Interaction()
        interaction.questions.add(id=interactions.PADDING_QUESTION_ID)
        return self.convert(interaction, 0)

    def _conversion(self, interaction, index: int, text: "_Text") -> Conversion:
        try:
            return self._build(interaction, index, text)
        except ConversionError as error:
            where = f"question {interaction.questions[index].id or index}"
            if interaction.table.table_id:
                where += f" (table {interaction.table.table_id})"
            raise ConversionError(error.reason, error.detail, where) from None

    def _build(self, interaction, index: int, text: "_Text") -> Conversion:
        table_proto, question = interaction.table, interaction.questions[index]
        linearize.check_size(len(table_proto.rows), len(table_proto.columns), self.config)
        if not question.answer.is_valid:
            raise _invalid_answer(question)
        table = self._table(interaction, index)
        sequence = linearize.linearize(
            text.ids,
            text.word_starts,
            table.tokens,
            self.config,
            cls_id=self.tokenizer.cls_id,
            sep_id=self.tokenizer.sep_id,
            selected=_selected_tokens(question, table.tokens),
            ranking=self._ranking(question, table),
        )
        # A row behind those of the table, the histogram, belongs to the header.
        in_table = sequence.row_ids <= len(table_proto.rows)
        sequence = sequence._replace(row_ids=np.where(in_table, sequence.row_ids, 0))
        values = self._table_features(question, table, sequence)
        values["label_ids"] = self._labels(question, table, sequence)
        if index > 0:
            previous = interaction.questions[index - 1]
            values["prev_label_ids"] = self._labels(previous, table, sequence)
        if self.config.mark_matches:
            values["prev_label_ids"] = matching.shared_words(
                sequence.input_ids, sequence.segment_ids, self.tokenizer
            )
        trim = self.config.trim_question_ids
        values.update(example_features(question, table_proto.table_id, trim_id=trim))
        return Conversion(to_example(values, self.max_seq_length), sequence.cuts)

    def _table(self, interaction, index: int) -> TableFeatures:
        """Tokens and numbers of a question's table, from the last ones if it is one of them."""
        key = self._shown.key(interaction, index)
        if key not in self._tables:
            self._add_tables({key: (interaction, index)})
        self._tables.move_to_end(key)
        return self._tables[key]

    def _remember(self, asked) -> None:
        """Tokenizes those tables together that are not among the last ones."""
        new = {}
        for interaction, index in asked:
            if not interaction.questions[index].answer.is_valid:
                continue  # there will be no example
            key = self._shown.key(interaction, index)
            if key not in self._tables and len(new) < _CACHED_TABLES:
                new[key] = interaction, index
        # Why a table cannot be converted is told where its questions are.
        with contextlib.suppress(ConversionError):
            self._add_tables(new)

    def _add_tables(self, new: dict) -> None:
        texts = [self._shown.texts(*asked) for asked in new.values()]
        encodings = self.tokenizer.encode_groups(texts) if texts else ()
        for (key, asked), own, encoding in zip(new.items(), texts, encodings, strict=True):
            self._tables[key] = TableFeatures(asked[0].table, own, encoding)
        while len(self._tables) > _CACHED_TABLES:
            self._tables.popitem(last=False)

    def _ranking(self, question, table: TableFeatures) -> pruning.Ranking | None:
        if not (self.config.prune_columns or self.config.prune_rows):
            return None
        return pruning.Ranking(table.words, interactions.question_text(question))

    def _encode_questions(self, asked) -> list["_Text"]:
        """For each question and its table's proto what goes before the table's tokens.

        That is the question, [SEP] and a title, [SEP] and a heading.
        """
        parts = [self._texts(question, table) for question, table in asked]
        result = []
        for ids, row_splits, word_starts in self.tokenizer.encode_groups(parts):
            separators = row_splits[1:-1]
            result.append(
                _Text(
                    np.insert(ids, separators, self.tokenizer.sep_id),
                    np.insert(word_starts, separators, True),
                )
            )
        return result

    def _texts(self, question, table) -> list[str]:
        texts = [interactions.question_text(question)]
        if self.config.use_document_title and table.document_title:
            texts.append(table.document_title)
        if self.config.use_context_title and table.context_heading:
            texts.append(table.context_heading)
        return texts

    def _table_features(self, question, table, sequence) -> dict[str, np.ndarray]:
        """Features that tokens have from their cells."""
        cells = sequence.row_ids, sequence.column_ids
        values = {
            "input_ids": sequence.input_ids,
            "input_mask": np.ones_like(sequence.input_ids),
            "segment_ids": sequence.segment_ids,
            "column_ids": sequence.column_ids,
            "row_ids": sequence.row_ids,
            "column_ranks": table.ranks[cells],
            "inv_column_ranks": table.inverse_ranks[cells],
            "numeric_relations": table.relations(interactions.question_values(question))[cells],
            "numeric_values": table.numeric_values[cells],
        }
        lengths = np.zeros(table.shape, np.float32)
        np.add.at(lengths, cells, 1)
        lengths[0] = 1
        values["numeric_values_scale"] = lengths[cells]
        return values

    def _labels(self, question, table, sequence) -> np.ndarray:
        if self.config.update_answer_coordinates:
            return self._labels_from_texts(question.answer.answer_texts, table, sequence)
        cells = {
            (coordinate.row_index + 1, coordinate.column_index + 1)
            for coordinate in question.answer.answer_coordinates
        }
        present = set(zip(sequence.row_ids.tolist(), sequence.column_ids.tolist(), strict=True))
        # The question's tokens are no cell of the table.
        missing = sorted(cells - (present - {(0, 0)}))
        if missing:
            named = ", ".join(f"({row - 1}, {column - 1})" for row, column in missing[:3])
            more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
            detail = f"cell (row, column) {named}{more} of question {question.id} not in sequence"
            raise ConversionError(ANSWER_NOT_FOUND, detail)
        marked = np.zeros(table.shape, np.int32)
        for cell in cells:
            marked[cell] = 1
        return marked[sequence.row_ids, sequence.column_ids]

    def _labels_from_texts(self, texts, table, sequence) -> np.ndarray:
        labels = np.zeros(len(sequence.input_ids), np.int32)
        encoding = self.tokenizer.encode(texts)
        place = np.full(len(table.tokens.ids), -1)
        place[sequence.table_tokens] = np.arange(sequence.first_table_token, len(labels))
        for begin, end in zip(encoding.row_splits, encoding.row_splits[1:], strict=False):
            for start in table.find(encoding.ids[begin:end]):
                places = place[start : start + end - begin]
                if (places >= 0).all():
                    labels[places] = 1
                    break
        return labels


def _indices(interaction) -> range:
    return range(len(interaction.questions))


class _Text(NamedTuple):
    """Tokens that go before the table."""

    ids: np.ndarray
    word_starts: np.ndarray


def _invalid_answer(question) -> ConversionError:
    """Why the question gives no example, as far as its reader has told."""
    problem = interactions.problem(question)
    reason = f"{INVALID_ANSWER}: {problem}" if problem else INVALID_ANSWER
    return ConversionError(reason, " | ".join(question.answer.answer_texts))


def _selected_tokens(question, tokens: linearize.TokenizedTable) -> np.ndarray | None:
    """<bool>[num_tokens] from the question's `TableSelection`; None if it has none."""
    if not question.HasExtension(_SELECTION):
        return None
    selected = {
        (token.row_index, token.column_index + 1, token.token_index)
        for token in question.Extensions[_SELECTION].selected_tokens
    }
    if not selected:
        return None
    triples = zip(tokens.rows, tokens.columns, tokens.positions, strict=True)
    return np.array([triple in selected for triple in triples], bool)
