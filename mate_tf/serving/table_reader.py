"""Turns questions and tables, as strings, into the features of a model inside its graph.

The counterpart in Python is `ExampleConverter`, for a table without numbers, links and titles. The
steps are those of `mate_tf.tables.linearize`, and the comments there give their reasons.
"""

import tensorflow as tf

from mate_tf.data import features as feature_names
from mate_tf.data.converters.tokenizer import PAD, Tokenizer
from mate_tf.serving import numeric
from mate_tf.serving.word_pieces import WordPieces
from mate_tf.tables.conversion import ConversionConfig

_SPECIAL_TOKENS = 2  # [CLS] and [SEP]
_NOT_IN_GRAPH = (
    "prune_columns",
    "prune_rows",
    "mark_matches",
    "expand_entity_descriptions",
    "hide_cell_texts",
    "histogram_row",
)


def not_in_graph(config: ConversionConfig) -> list[str]:
    """Returns the names of options that are set and that a graph cannot follow."""
    return [name for name in _NOT_IN_GRAPH if getattr(config, name)]


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
        self._max_length = config.max_seq_length
        self._max_rows = config.max_row_id - 1
        self._max_columns = config.max_column_id - 1
        self._trim_length = config.cell_trim_length
        self._strip_names = config.strip_column_names
        self._cls_id, self._sep_id = tokenizer.cls_id, tokenizer.sep_id
        self._word_pieces = WordPieces(tokenizer, max_words=self._max_length)

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
        """
        in_header = header != PAD
        in_rows = tf.reduce_any(cells != PAD, axis=2)
        present = in_rows[:, :, tf.newaxis] & in_header[:, tf.newaxis]
        question = numeric.normalize(question)
        values = numeric.ColumnValues(cells, present)
        sequences = self._sequences(
            question,
            tf.zeros_like(header) if self._strip_names else header,
            cells,
            tf.reduce_sum(tf.cast(in_rows, tf.int32), axis=1),
            tf.reduce_sum(tf.cast(in_header, tf.int32), axis=1),
        )
        ranks, inverse_ranks = values.ranks()
        relations = values.relations(numeric.find_all(question))
        features = {
            "input_ids": sequences[0],
            "input_mask": sequences[1],
            "segment_ids": sequences[2],
            "column_ids": sequences[3],
            "row_ids": sequences[4],
            "prev_label_ids": tf.zeros_like(sequences[0]),
            "column_ranks": _of_tokens(ranks, sequences),
            "inv_column_ranks": _of_tokens(inverse_ranks, sequences),
            "numeric_relations": _of_tokens(relations, sequences),
        }
        length = tf.reduce_max(tf.reduce_sum(sequences[1], axis=1))
        names = feature_names.names(feature_names.MODEL_INPUTS)
        return {name: features[name][:, :length] for name in names}, values

    def _sequences(self, question, header, cells, num_rows, num_columns):
        """Linearizes a batch.

        Args:
            question: <string>[batch].
            header: <string>[batch, columns].
            cells: <string>[batch, rows, columns].
            num_rows: <int32>[batch], data rows of each table.
            num_columns: <int32>[batch], columns of each table.

        Returns:
            list of five <int32>[batch, max_length]: input ids, input mask, segment ids, column ids
            and row ids.
        """
        cells = cells[:, : self._max_rows, : self._max_columns]
        header = header[:, : self._max_columns]
        batch, rows, columns = tf.unstack(tf.shape(cells))
        table = tf.reshape(tf.concat([header[:, tf.newaxis], cells], axis=1), [batch, -1])
        texts = tf.concat([question, tf.reshape(table, [-1])], axis=0)
        pieces = self._word_pieces(texts)
        # <int32>[batch, rows + 1, columns]: index of each cell in `texts`, behind the questions.
        cell_index = tf.reshape(tf.range(tf.size(table)), [batch, rows + 1, columns]) + batch

        def one(index):
            used = cell_index[
                index,
                : tf.minimum(num_rows[index], rows) + 1,
                : tf.minimum(num_columns[index], columns),
            ]
            return self._sequence(
                pieces[index], tf.gather(pieces, tf.reshape(used, [-1])), tf.shape(used)[1]
            )

        spec = tf.TensorSpec([5, self._max_length], tf.int32)
        return tf.unstack(tf.map_fn(one, tf.range(batch), fn_output_signature=spec), axis=1)

    def _sequence(self, question, cells, num_columns):
        """Linearizes one example.

        Args:
            question: <int32>[pieces], word pieces of the question.
            cells: <int32>[(1 + rows) * columns, (pieces)], ragged, of header and cells by rows.
            num_columns: <int32>, columns of the table.

        Returns:
            <int32>[5, max_length]: input ids, input mask, segment ids, column ids and row ids.
        """
        tokens = cells.flat_values
        cell_of = tf.cast(cells.value_rowids(), tf.int32)
        rows = cell_of // tf.maximum(num_columns, 1)
        columns = cell_of % tf.maximum(num_columns, 1) + 1
        word_begins = self._word_begins(tokens, cells)
        needed = self._trim_length if self._trim_length >= 0 else 1
        num_rows = tf.cast(cells.nrows(), tf.int32) // tf.maximum(num_columns, 1)
        costs = tf.reshape(
            tf.math.unsorted_segment_sum(
                tf.cast(word_begins < needed, tf.int32), cell_of, num_rows * num_columns
            ),
            [num_rows, num_columns],
        )
        top = tf.cumsum(tf.reduce_sum(costs[:2], axis=0))
        question = self._cut_question(question, tf.reduce_sum(costs[:2]))
        budget = self._max_length - _SPECIAL_TOKENS - tf.size(question)
        fitting = tf.reduce_sum(tf.cast(top <= budget, tf.int32))
        by_row = tf.cumsum(tf.reduce_sum(costs[:, :fitting], axis=1))
        rows_fitting = tf.reduce_sum(tf.cast(by_row <= budget, tf.int32))
        inside = (columns <= fitting) & (rows < rows_fitting)
        trim_length = self._trim_length
        if trim_length < 0:
            at = tf.math.bincount(tf.boolean_mask(word_begins, inside), minlength=1)
            trim_length = tf.reduce_sum(tf.cast(tf.cumsum(at) <= budget, tf.int32))
        kept = inside & (word_begins < trim_length)
        tokens, columns, rows = (
            tf.boolean_mask(values, kept) for values in (tokens, columns, rows)
        )
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
        return tf.ensure_shape(sequence, [5, self._max_length])

    def _word_begins(self, tokens, cells):
        """Returns <int32>[tokens]: position, in its cell, of the first piece of a token's word."""
        begins = tf.cast(tf.gather(cells.row_splits, cells.value_rowids()), tf.int32)
        positions = tf.range(tf.size(tokens))
        first = ~self._word_pieces.continues(tokens) | (positions == begins)
        word_of = tf.cumsum(tf.cast(first, tf.int32)) - 1
        return tf.gather(tf.boolean_mask(positions, first), word_of) - begins

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
    """Checks the shapes of a request when the graph runs.

    Args:
        question: <string>[batch].
        header: <string>[batch, columns].
        cells: <string>[batch, rows, columns].

    Returns:
        The three arguments.

    Raises:
        InvalidArgumentError: if batch sizes or numbers of columns differ.
    """
    question = _of_rank(question, 1, "question")
    header = _of_rank(header, 2, "header")
    cells = _of_rank(cells, 3, "cells")
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
        return tf.identity(question), tf.identity(header), tf.identity(cells)


def _of_rank(values, rank, name):
    """Returns `values` with a check of their rank that runs with the graph."""
    # A loaded model does not check the shapes of its signature, and TensorFlow removes checks that
    # the signature makes needless. The placeholder hides the shape, so the check stays.
    values = tf.raw_ops.PlaceholderWithDefault(
        input=values, shape=tf.TensorShape(None), name=f"given_{name}"
    )
    return tf.ensure_shape(values, [None] * rank)


def _of_tokens(values, sequences):
    """Gathers values of cells for tokens.

    Args:
        values: <int32>[batch, rows, columns], of data cells.
        sequences: result of `_sequences`.

    Returns:
        <int32>[batch, seq], 0 for tokens outside the data cells.
    """
    *_, columns, rows = sequences
    padded = tf.pad(values, [[0, 0], [1, 0], [1, 0]])
    return tf.gather_nd(padded, tf.stack([rows, columns], axis=-1), batch_dims=1)
