"""Converts interactions to examples, with the same features as google-research/tapas."""

import collections
import contextlib
import dataclasses
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mate_tf.data import interactions
from mate_tf.data.converters import table_windows
from mate_tf.data.converters.example_features import (
    Conversion,
    TableFeatures,
    complete,
    example_features,
    selected_tokens,
    shared_words,
)
from mate_tf.data.converters.expansion import CellTexts
from mate_tf.data.converters.table_windows import Windows
from mate_tf.data.converters.tokenizer import Tokenizer
from mate_tf.protos import interaction_pb2
from mate_tf.tables import linearize, pruning
from mate_tf.tables.conversion import ConversionConfig
from mate_tf.tables.linearize import ConversionError

if TYPE_CHECKING:
    import tensorflow as tf

INVALID_ANSWER = "Invalid answer"
ANSWER_NOT_FOUND = "Couldn't find all answers"

_CACHED_TABLES = 64


class ExampleConverter:
    """Converts questions of interactions to examples.

    ```
    converter = ExampleConverter("vocab.txt", max_seq_length=512, drop_rows_to_fit=True)
    example, cuts = converter.conversion(interaction, 0)
    ```

    In interactions without annotations, numbers and dates are found first. Interactions are never
    changed. A converter can be pickled.

    Args:
        vocab_file: WordPiece vocabulary, see `Tokenizer`.
        max_seq_length: length of every feature per token; shorter sequences are padded.
        **options: further fields of `tables.conversion.ConversionConfig`.

    Attributes:
        config: the `ConversionConfig`.

    Raises:
        InputError: if the vocabulary cannot be used, or a limit is negative.
    """

    def __init__(self, vocab_file: str | os.PathLike, max_seq_length: int = 512, **options):
        self._start(vocab_file, ConversionConfig(max_seq_length, **options))

    @classmethod
    def from_config(cls, vocab_file: str | os.PathLike, config: ConversionConfig):
        """Makes a converter of a vocabulary and a config."""
        return cls(vocab_file, **dataclasses.asdict(config))

    def _start(self, vocab_file, config: ConversionConfig) -> None:
        self.config = config
        self.tokenizer = Tokenizer(vocab_file)
        self._shown = CellTexts(config)
        self._tables: collections.OrderedDict[bytes, TableFeatures] = collections.OrderedDict()

    @property
    def max_seq_length(self) -> int:
        """Length of every feature per token."""
        return self.config.max_seq_length

    @property
    def vocab_file(self) -> str:
        """Path of the vocabulary."""
        return self.tokenizer.vocab_file

    def __getstate__(self):
        return self.tokenizer.vocab_file, self.config

    def __setstate__(self, state):
        self._start(*state)

    def convert(
        self, interaction: interaction_pb2.Interaction, question_index: int
    ) -> "tf.train.Example":
        """Converts one question and returns its example; see `conversion`."""
        return self.conversion(interaction, question_index).example

    def conversion(
        self, interaction: interaction_pb2.Interaction, question_index: int
    ) -> Conversion:
        """Converts one question.

        Returns:
            Conversion. Its example has all features of `features.ALL`; features per token have the
            shape [max_seq_length].

        Raises:
            ConversionError: if there is no example for the question. The `reason` is a constant
                of this module or of `linearize`.
        """
        question = interaction.questions[question_index]
        (text,) = self._encode_questions([(question, interaction.table)])
        return self._conversion(interaction, question_index, text)

    def convert_all(
        self, *found: interaction_pb2.Interaction
    ) -> Iterator[Conversion | ConversionError]:
        """Converts all questions of the interactions; yields a conversion or an error for each.

        This is faster than single conversions, since the tokenizer is called once for all questions
        and once for all tables.
        """
        pairs = [(interaction, index) for interaction in found for index in _indices(interaction)]
        self._cache_tables(pairs)
        texts = self._encode_questions(
            [(interaction.questions[index], interaction.table) for interaction, index in pairs]
        )
        for (interaction, index), text in zip(pairs, texts, strict=True):
            try:
                yield self._conversion(interaction, index, text)
            except ConversionError as error:
                yield error

    def windows(
        self,
        interaction: interaction_pb2.Interaction,
        question_index: int,
        needed: np.ndarray | None = None,
    ) -> Windows:
        """Divides the table of a question into windows of rows that fit.

        Args:
            interaction, question_index: the question.
            needed: <bool>[columns], columns that are kept before all others; None: none are.
        """
        question = interaction.questions[question_index]
        (text,) = self._encode_questions([(question, interaction.table)])
        table = self._table(interaction, question_index)
        words = pruning.Ranking(table.words, interactions.question_text(question))
        config = dataclasses.replace(
            self.config, prune_columns=False, prune_rows=False, fill_cells=True
        )
        length, lengths = config.max_seq_length, table.tokens.lengths
        budget = max(length - len(text.ids) - linearize.SPECIAL_TOKENS, length // 2)
        columns, divide = table_windows.divide(lengths, words.columns, needed, budget, config)
        relations = table.relations(question)

        def convert(rows: np.ndarray) -> Conversion:
            part = table.part(rows, columns, relations)
            sequence = self._linearized(text, part.tokens, config)
            values = self._table_features(question, part, sequence)
            self._mark_matches(values, sequence)
            values.update(example_features(question, trim_id=True))
            return Conversion(
                complete(values, self.max_seq_length),
                sequence.cuts,
                tuple(rows[sequence.rows].tolist()),
                tuple(columns[sequence.columns].tolist()),
            )

        rows = divide(np.arange(len(lengths) - 1))
        return Windows(rows, columns, words, divide, convert)

    def empty_example(self) -> "tf.train.Example":
        """Returns an example without a table, to fill up batches."""
        interaction = interaction_pb2.Interaction()
        interaction.questions.add(id=interactions.PADDING_QUESTION_ID)
        return self.convert(interaction, 0)

    def _conversion(self, interaction, index: int, text: "_Text") -> Conversion:
        """Converts a question with encoded text; errors name question and table."""
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
        sequence = self._linearized(
            text,
            table.tokens,
            self.config,
            selected=selected_tokens(question, table.tokens),
            ranking=self._ranking(question, table),
        )
        # The histogram, a row after those of the table, belongs to the header.
        in_table = sequence.row_ids <= len(table_proto.rows)
        sequence = sequence._replace(row_ids=np.where(in_table, sequence.row_ids, 0))
        values = self._table_features(question, table, sequence)
        values["label_ids"] = self._labels(question, table, sequence)
        if self.config.label_no_answer and not values["label_ids"].any():
            values["label_ids"][0] = 1  # [CLS], the empty span
        if index > 0:
            previous = interaction.questions[index - 1]
            values["prev_label_ids"] = self._labels(previous, table, sequence)
        self._mark_matches(values, sequence)
        trim = self.config.trim_question_ids
        values.update(example_features(question, table_proto.table_id, trim_id=trim))
        rows, columns = sequence.rows[sequence.rows < len(table_proto.rows)], sequence.columns
        if self.config.renumber_to_fit:
            values["row_ids"] = np.searchsorted(rows + 1, sequence.row_ids, side="right")
            values["column_ids"] = np.searchsorted(columns + 1, sequence.column_ids, side="right")
        return Conversion(
            complete(values, self.max_seq_length),
            sequence.cuts,
            tuple(rows.tolist()),
            tuple(columns.tolist()),
        )

    def _linearized(self, text: "_Text", tokens, config, **options) -> linearize.TokenSequence:
        ids = {"cls_id": self.tokenizer.cls_id, "sep_id": self.tokenizer.sep_id}
        return linearize.linearize(text.ids, text.word_starts, tokens, config, **ids, **options)

    def _mark_matches(self, values: dict[str, np.ndarray], sequence) -> None:
        """Sets the marks of words that question and table share, if the config has them."""
        if self.config.mark_matches:
            marks = shared_words(sequence.input_ids, sequence.segment_ids, self.tokenizer)
            if self.config.mark_previous:
                marks = marks + 2 * values.get("prev_label_ids", 0)
            values["prev_label_ids"] = marks

    def _table(self, interaction, index: int) -> TableFeatures:
        """Returns tokens and numbers of a question's table, from the cache if possible."""
        key = self._shown.key(interaction, index)
        if key not in self._tables:
            self._add_tables({key: (interaction, index)})
        self._tables.move_to_end(key)
        return self._tables[key]

    def _cache_tables(self, pairs) -> None:
        """Tokenizes the tables of pairs (interaction, index) that are not cached, in one call."""
        new = {}
        for interaction, index in pairs:
            if not interaction.questions[index].answer.is_valid:
                continue  # this question gives no example
            key = self._shown.key(interaction, index)
            if key not in self._tables and len(new) < _CACHED_TABLES:
                new[key] = interaction, index
        # Errors are ignored here. The conversion of a question raises them again.
        with contextlib.suppress(ConversionError):
            self._add_tables(new)

    def _add_tables(self, new: dict) -> None:
        """Adds tables, key -> (interaction, index of a question), to the cache."""
        texts = [self._shown.texts(*pair) for pair in new.values()]
        encodings = self.tokenizer.encode_groups(texts) if texts else ()
        for (key, pair), own, encoding in zip(new.items(), texts, encodings, strict=True):
            self._tables[key] = TableFeatures(
                pair[0].table, own, encoding, self.config.number_parser
            )
        while len(self._tables) > _CACHED_TABLES:
            self._tables.popitem(last=False)

    def _ranking(self, question, table: TableFeatures) -> pruning.Ranking | None:
        """Returns the ranking of columns and rows; None if there is no pruning."""
        if not (self.config.prune_columns or self.config.prune_rows):
            return None
        return pruning.Ranking(table.words, interactions.question_text(question))

    def _encode_questions(self, pairs) -> list["_Text"]:
        """Encodes the texts before the tables, for pairs (question, table), with [SEP] between."""
        parts = [self._texts(question, table) for question, table in pairs]
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
        """Returns the question, and the title and the heading if they are used."""
        texts = [interactions.question_text(question)]
        if self.config.use_document_title and table.document_title:
            texts.append(table.document_title)
        if self.config.use_context_title and table.context_heading:
            texts.append(table.context_heading)
        return texts

    def _table_features(self, question, table, sequence) -> dict[str, Any]:
        """Returns the model inputs and numeric values of all tokens, by name."""
        cells = sequence.row_ids, sequence.column_ids
        values = {
            "input_ids": sequence.input_ids,
            "input_mask": np.ones_like(sequence.input_ids),
            "segment_ids": sequence.segment_ids,
            "column_ids": sequence.column_ids,
            "row_ids": sequence.row_ids,
            "column_ranks": table.ranks[cells],
            "inv_column_ranks": table.inverse_ranks[cells],
            "numeric_relations": table.relations(question)[cells],
            "numeric_values": table.numeric_values[cells],
        }
        lengths = np.zeros(table.shape, np.float32)
        np.add.at(lengths, cells, 1)
        lengths[0] = 1
        values["numeric_values_scale"] = lengths[cells]
        return values

    def _labels(self, question, table, sequence) -> np.ndarray:
        """Returns <int32>[length], 1 for the tokens of the answer; ConversionError if a cell is not
        there.
        """
        if self.config.update_answer_coordinates:
            return self._labels_from_texts(question.answer.answer_texts, table, sequence)
        cells = {
            (coordinate.row_index + 1, coordinate.column_index + 1)
            for coordinate in question.answer.answer_coordinates
        }
        present = set(zip(sequence.row_ids.tolist(), sequence.column_ids.tolist(), strict=True))
        # (0, 0) is the id of question tokens, not of a cell.
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
        """Returns <int32>[length], 1 for the first occurrence in the table of each text."""
        labels = np.zeros(len(sequence.input_ids), np.int32)
        encoding = self.tokenizer.encode(texts)
        # <int64>[table tokens]: position in the sequence; -1 for tokens that are not in it.
        position = np.full(len(table.tokens.ids), -1)
        position[sequence.table_tokens] = np.arange(sequence.first_table_token, len(labels))
        for begin, end in zip(encoding.row_splits, encoding.row_splits[1:], strict=False):
            for start in table.find(encoding.ids[begin:end]):
                positions = position[start : start + end - begin]
                if (positions >= 0).all():
                    labels[positions] = 1
                    break
        return labels


def _indices(interaction) -> range:
    return range(len(interaction.questions))


class _Text(NamedTuple):
    """Tokens before the table: ids <int32>[tokens] and word starts <bool>[tokens]."""

    ids: np.ndarray
    word_starts: np.ndarray


def _invalid_answer(question) -> ConversionError:
    """Returns the error for an invalid answer, with the reason of the reader."""
    problem = interactions.problem(question)
    reason = f"{INVALID_ANSWER}: {problem}" if problem else INVALID_ANSWER
    return ConversionError(reason, " | ".join(question.answer.answer_texts))
