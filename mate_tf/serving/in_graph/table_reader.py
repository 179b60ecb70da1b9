"""Turns questions and tables, as strings, into the features of a model inside its graph.

The counterpart in Python is `ExampleConverter`, for a table without numbers, links and titles. The
steps are those of `mate_tf.tables.linearize`, and the comments there give their reasons.
"""

from typing import NamedTuple

import tensorflow as tf

from mate_tf.data import features as feature_names
from mate_tf.data.converters.tokenizer import PAD, Tokenizer
from mate_tf.serving.in_graph import numeric, ranking
from mate_tf.serving.in_graph.fitting import Fitting
from mate_tf.serving.in_graph.matching import SharedWords
from mate_tf.serving.in_graph.word_pieces import WordPieces
from mate_tf.tables.conversion import MODERN, ConversionConfig

_SPECIAL_TOKENS = 2  # [CLS] and [SEP]
_NOT_IN_GRAPH = (
    "expand_entity_descriptions",
    "hide_cell_texts",
    "histogram_row",
)


def not_in_graph(config: ConversionConfig) -> list[str]:
    """Returns the names of options that are set and that a graph cannot follow."""
    names = [name for name in _NOT_IN_GRAPH if getattr(config, name)]
    return names + ["number_parser=modern"] * (config.number_parser == MODERN)


class TableRegion(NamedTuple):
    """The rows and columns of tables that are in their features, where they are numbered from 1.

    Attributes:
        rows: <int32>[batch, rows], number of each data row; 0 for rows that are not read.
        columns: <int32>[batch, columns], number of each column; 0 for those that are not read.
        tokens: <int32>[batch, seq, 2], row and column in the table of each token, from 1. Row 0 is
            the header, column 0 the question and the padding.
    """

    rows: tf.Tensor
    columns: tf.Tensor
    tokens: tf.Tensor

    def of_table(self, values):
        """Returns values of the cells that are read as values of all cells.

        Args:
            values: <dtype>[batch, model rows, model columns].

        Returns:
            <dtype>[batch, rows, columns], 0 for cells that are not read.
        """
        values = tf.pad(values, [[0, 0], [1, 0], [1, 0]])
        values = tf.gather(values, self.rows, axis=1, batch_dims=1)
        return tf.gather(values, self.columns, axis=2, batch_dims=1)

    def of_tokens(self, values, outside: float = 0):
        """Returns values of all data cells as values of tokens.

        Args:
            values: <dtype>[batch, rows, columns].
            outside: value of tokens outside the data cells.

        Returns:
            <dtype>[batch, seq].
        """
        outside = tf.cast(outside, values.dtype)
        padded = tf.pad(values, [[0, 0], [1, 0], [1, 0]], constant_values=outside)
        return tf.gather_nd(padded, self.tokens, batch_dims=1)


class TableReader(tf.Module):
    """Turns strings into features, in TensorFlow operations.

    Args:
        vocab_file: WordPiece vocabulary.
        config: options of the conversion. No option of `not_in_graph` may be set, and all
            `..._to_fit` options are taken as set.
    """

    def __init__(self, vocab_file, config: ConversionConfig):
        super().__init__(name="table_reader")
        tokenizer = Tokenizer(vocab_file)
        self._config, self._max_length = config, config.max_seq_length
        self._cls_id, self._sep_id = tokenizer.cls_id, tokenizer.sep_id
        self._word_pieces = WordPieces(tokenizer, max_words=self._max_length)
        self._shared_words = SharedWords(tokenizer) if config.mark_matches else None

    def __call__(self, question, header, cells):
        """Computes the features of questions and their tables.

        Args:
            question: <string>[batch].
            header: <string>[batch, columns], "[PAD]" for columns that a table does not have.
            cells: <string>[batch, rows, columns], "[PAD]" for cells that a table does not have.

        Returns:
            features: dict of <int32>[batch, seq], the inputs of the model. seq is the length of
                the longest example.
            values: `ColumnValues` of the tables.
            read: `TableRegion`, the rows and columns that are in the features.
        """
        in_header = header != PAD
        in_rows = tf.reduce_any(cells != PAD, axis=2)
        present = in_rows[:, :, tf.newaxis] & in_header[:, tf.newaxis]
        question = numeric.normalize(question)
        values = numeric.ColumnValues(cells, present)
        (ids, mask, segments), read = self._sequences(
            question,
            tf.zeros_like(header) if self._config.strip_column_names else header,
            cells,
            tf.reduce_sum(tf.cast(in_rows, tf.int32), axis=1),
            tf.reduce_sum(tf.cast(in_header, tf.int32), axis=1),
        )
        ranks, inverse_ranks = values.ranks()
        relations = values.relations(numeric.find_all(question))
        if self._shared_words is None:
            marks = tf.zeros_like(ids)
        else:
            marks = self._shared_words(ids, mask, segments)
        features = {
            "input_ids": ids,
            "input_mask": mask,
            "segment_ids": segments,
            "column_ids": _renumbered(read.tokens[..., 1], read.columns),
            "row_ids": _renumbered(read.tokens[..., 0], read.rows),
            "prev_label_ids": marks,
            "column_ranks": read.of_tokens(ranks),
            "inv_column_ranks": read.of_tokens(inverse_ranks),
            "numeric_relations": read.of_tokens(relations),
        }
        names = feature_names.names(feature_names.MODEL_INPUTS)
        return {name: features[name] for name in names}, values, read

    def _sequences(self, question, header, cells, num_rows, num_columns):
        """Linearizes a batch.

        Args:
            question: <string>[batch].
            header: <string>[batch, columns].
            cells: <string>[batch, rows, columns].
            num_rows: <int32>[batch], data rows of each table.
            num_columns: <int32>[batch], columns of each table.

        Returns:
            list of three <int32>[batch, seq]: input ids, input mask and segment ids.
            `TableRegion`.
        """
        batch, rows, columns = tf.unstack(tf.shape(cells))
        table = tf.reshape(tf.concat([header[:, tf.newaxis], cells], axis=1), [batch, -1])
        texts = tf.concat([question, tf.reshape(table, [-1])], axis=0)
        pieces, words = self._word_pieces(texts), None
        if self._config.prune_columns or self._config.prune_rows:
            words = ranking.words(texts)
            distinct, numbers = tf.unique(words.flat_values)
            words, num_words = words.with_flat_values(numbers), tf.size(distinct)
        # <int32>[batch, rows + 1, columns]: index of each cell in `texts`, after the questions.
        cell_index = tf.reshape(tf.range(tf.size(table)), [batch, rows + 1, columns]) + batch

        def one(index):
            used = cell_index[
                index,
                : tf.minimum(num_rows[index], rows) + 1,
                : tf.minimum(num_columns[index], columns),
            ]
            shape = tf.shape(used)
            used, ranked = tf.reshape(used, [-1]), None
            if words is not None:
                result = tf.gather(words, used)
                row, column = _row_and_column(result, shape[1])
                ranked = ranking.Ranking(
                    words[index], result.flat_values, row, column, shape, num_words
                )
            sequence, in_rows, in_columns = self._sequence(
                pieces[index], tf.gather(pieces, used), shape, ranked
            )
            return sequence, in_rows, in_columns

        # Dense rows and columns could not be stacked for a batch of no questions.
        kept = tf.RaggedTensorSpec([None], tf.bool, ragged_rank=0)
        spec = tf.TensorSpec([5, self._max_length], tf.int32), kept, kept
        result, in_rows, in_columns = tf.map_fn(one, tf.range(batch), fn_output_signature=spec)
        # A batch of no questions has length 1, since models read the first token.
        length = tf.maximum(tf.reduce_max(tf.reduce_sum(result[:, 1], axis=1)), 1)
        *sequences, of_columns, of_rows = tf.unstack(result[:, :, :length], axis=1)
        return sequences, TableRegion(
            _numbers(in_rows.to_tensor(shape=tf.stack([batch, rows]))),
            _numbers(in_columns.to_tensor(shape=tf.stack([batch, columns]))),
            tf.stack([of_rows, of_columns], axis=-1),
        )

    def _sequence(self, question, cells, shape, ranked):
        """Linearizes one example.

        Args:
            question: <int32>[pieces], word pieces of the question.
            cells: <int32>[(1 + rows) * columns, (pieces)], ragged, of header and cells by rows.
            shape: <int32>[2], 1 + rows and columns of the table.
            ranked: `ranking.Ranking`; None if there is no pruning.

        Returns:
            <int32>[5, max_length]: input ids, input mask, segment ids, columns and rows from 1.
            <bool>[rows] and <bool>[columns], true for those that are kept.
        """
        tokens = cells.flat_values
        rows, columns = _row_and_column(cells, shape[1])
        first, word_begins = self._word_begins(tokens, cells)
        fitting = Fitting(self._config, rows, columns, first, word_begins, shape)
        question = self._cut_question(question, fitting.smallest_cost())
        budget = self._max_length - _SPECIAL_TOKENS - tf.size(question)
        kept, in_rows, in_columns = fitting.kept(budget, ranked)
        tokens, columns, rows = (tf.gather(values, kept) for values in (tokens, columns + 1, rows))
        first = tf.concat([[self._cls_id], question, [self._sep_id]], axis=0)
        before = tf.zeros_like(first)
        ids = tf.concat([first, tokens], axis=0)
        sequence = tf.stack(
            [
                ids,
                tf.ones_like(ids),
                tf.concat([before, tf.ones_like(tokens)], axis=0),
                tf.concat([before, columns], axis=0),
                tf.concat([before, rows], axis=0),
            ]
        )
        sequence = tf.pad(sequence, [[0, 0], [0, self._max_length - tf.size(ids)]])
        return tf.ensure_shape(sequence, [5, self._max_length]), in_rows, in_columns

    def _word_begins(self, tokens, cells):
        """Finds the words of tokens.

        Returns:
            <bool>[tokens], true for the first piece of each word.
            <int32>[tokens], position, in its cell, of the first piece of a token's word.
        """
        begins = tf.cast(tf.gather(cells.row_splits, cells.value_rowids()), tf.int32)
        positions = tf.range(tf.size(tokens))
        first = ~self._word_pieces.continues(tokens) | (positions == begins)
        word_of = tf.cumsum(tf.cast(first, tf.int32)) - 1
        return first, tf.gather(tf.boolean_mask(positions, first), word_of) - begins

    def _cut_question(self, question, smallest_cost):
        """Removes words at the end of the question until header and first row fit.

        Args:
            question: <int32>[pieces].
            smallest_cost: <int32>, tokens of header and first row.

        Returns:
            <int32>[remaining pieces].
        """
        room = tf.maximum(self._max_length - smallest_cost, self._max_length // 2)
        room = tf.maximum(room - _SPECIAL_TOKENS, 0)
        begins = tf.cast(tf.where(~self._word_pieces.continues(question))[:, 0], tf.int32)
        last = tf.reduce_max(tf.concat([[0], tf.boolean_mask(begins, begins <= room)], axis=0))
        return question[: tf.where(tf.size(question) > room, last, tf.size(question))]


def checked(question, header, cells):
    """Checks the shapes of questions and tables when the graph runs, and drops invalid bytes.

    Args:
        question: <string>[batch].
        header: <string>[batch, columns].
        cells: <string>[batch, rows, columns].

    Returns:
        The three arguments, without bytes that are not UTF-8.

    Raises:
        InvalidArgumentError: if batch sizes or numbers of columns differ.
    """
    question = _check_rank(question, 1, "question")
    header = _check_rank(header, 2, "header")
    cells = _check_rank(cells, 3, "cells")
    batch, _, columns = tf.unstack(tf.shape(cells))
    checks = (
        (question, 0, batch, "cells: the number of tables differs from that of questions"),
        (header, 0, batch, "header: the number of headers differs from that of tables"),
        (header, 1, columns, "header: the number of names differs from that of columns"),
    )
    with tf.control_dependencies(
        [
            tf.debugging.assert_equal(tf.shape(values)[axis], size, message=message)
            for values, axis, size, message in checks
        ]
    ):
        return tuple(
            tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8", errors="ignore")
            for texts in (question, header, cells)
        )


def _check_rank(values, rank, name):
    """Returns `values` with a check of their rank that runs with the graph."""
    # A loaded model does not check the shapes of its signature, and TensorFlow removes checks that
    # the signature makes needless. The placeholder hides the shape, so the check stays.
    values = tf.raw_ops.PlaceholderWithDefault(
        input=values, shape=tf.TensorShape(None), name=f"given_{name}"
    )
    return tf.ensure_shape(values, [None] * rank)


def _row_and_column(cells, num_columns):
    """Returns row and column, <int32>[values] from 0, of the values of ragged cells."""
    cell_of = tf.cast(cells.value_rowids(), tf.int32)
    return cell_of // tf.maximum(num_columns, 1), cell_of % tf.maximum(num_columns, 1)


def _numbers(kept):
    """Numbers the rows or columns in <bool>[batch, n] from 1: <int32>[batch, n], 0 for others."""
    kept = tf.cast(kept, tf.int32)
    return tf.cumsum(kept, axis=1) * kept


def _renumbered(ids, numbers):
    """Returns <int32>[batch, seq], the numbers <int32>[batch, n] of the ids 1, 2, …; 0 for id 0."""
    return tf.gather(tf.pad(numbers, [[0, 0], [1, 0]]), ids, batch_dims=1)
