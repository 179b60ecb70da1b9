"""Linearizes question and table into one token sequence, shortened so that it fits.

The sequence is [CLS] question [SEP] header cells, then the data cells row by row. Every token of
the table has a column id (from 1) and a row id (0 is the header). Question tokens have 0 for both.
(Sections 2 and 3 of the TAPAS paper, Herzig et al., 2020.)
"""

import functools
from typing import NamedTuple

import numpy as np

from mate_tf.errors import InputError
from mate_tf.tables import pruning
from mate_tf.tables.conversion import ConversionConfig

TOO_LONG = "Sequence too long"
TOO_MANY_ROWS = "Too many rows"
TOO_MANY_COLUMNS = "Too many columns"

ROWS, COLUMNS, CELLS = "rows", "columns", "cells"
"""Kinds of `Cut` for rows and columns that are dropped, and for cells that are shortened."""

SHARE_OF_BEST_ROWS = 4
"""Rows that match the question best are read whole up to a quarter of the table's tokens."""

SPECIAL_TOKENS = 2  # [CLS] and [SEP]


class ConversionError(InputError):
    """Error for a question and table that cannot be converted to an example.

    Attributes:
        reason: a short fixed text, by which errors can be counted.
        detail: numbers that explain the reason.
    """

    def __init__(self, reason: str, detail: str = "", where: str = ""):
        self.reason, self.detail = reason, detail
        super().__init__((f"{where}: " if where else "") + reason + (f": {detail}" * bool(detail)))

    def __reduce__(self):
        """Keeps reason and detail when the error is sent to another process."""
        # By default, pickle rebuilds an exception from its message alone.
        return _restore_error, (self.reason, self.detail, str(self))


def _restore_error(reason, detail, message):
    """Rebuilds a pickled ConversionError."""
    error = ConversionError(reason, detail)
    error.args = (message,)
    return error


class Cut(NamedTuple):
    """A part of question or table that is missing in the sequence because it did not fit.

    Attributes:
        kind: "question tokens", "columns", "rows", or "cells" for shortened cells.
        count: number of them.
    """

    kind: str
    count: int

    def __str__(self):
        """Returns a text such as "3 rows dropped"."""
        return f"{self.count} {self.kind} {'shortened' if self.kind == CELLS else 'dropped'}"


class TokenizedTable:
    """The tokens of a table: header, then rows, each cell after the one to its left.

    Args:
        ids: <int32>[num_tokens], word pieces of all cells.
        row_splits: <int64>[num_cells + 1], begin and end of each cell in `ids`.
        word_starts: <bool>[num_tokens], False for pieces that continue a word.
        num_columns: number of columns; num_cells is a multiple of it.

    Attributes:
        num_rows: number of rows without the header.
    """

    def __init__(self, ids, row_splits, word_starts, num_columns: int):
        self.ids = ids
        self.num_columns = num_columns
        self.num_rows = (len(row_splits) - 1) // num_columns - 1 if num_columns else 0
        self._row_splits, self._word_starts = np.asarray(row_splits), np.asarray(word_starts)

    # For a table that is read in windows, only the lengths and parts are computed.

    @functools.cached_property
    def _cells(self) -> np.ndarray:
        counts = np.diff(self._row_splits)
        return np.repeat(np.arange(len(counts), dtype=np.int32), counts)

    @functools.cached_property
    def rows(self) -> np.ndarray:
        """Row of each token, <int32>[num_tokens], 0 for the header."""
        return self._cells // max(self.num_columns, 1)

    @functools.cached_property
    def columns(self) -> np.ndarray:
        """Column of each token, <int32>[num_tokens], from 1."""
        return self._cells % max(self.num_columns, 1) + 1

    @functools.cached_property
    def positions(self) -> np.ndarray:
        """Position of each token in its cell, <int64>[num_tokens]."""
        return np.arange(len(self.ids)) - self._row_splits[self._cells]

    @functools.cached_property
    def word_begins(self) -> np.ndarray:
        """Position, in the cell, of the first piece of each token's word, <int64>[num_tokens]."""
        tokens = np.arange(len(self.ids))
        first_pieces = self._word_starts | (self.positions == 0)
        begins = np.maximum.accumulate(np.where(first_pieces, tokens, 0))
        return begins - self._row_splits[self._cells]

    @property
    def lengths(self) -> np.ndarray:
        """Number of tokens of each cell, <int64>[1 + rows, columns], the header first."""
        return np.diff(self._row_splits).reshape(-1, max(self.num_columns, 1))

    def part(self, rows: np.ndarray, columns: np.ndarray) -> "TokenizedTable":
        """Returns the tokens of the header and some data rows, in some columns.

        Args:
            rows: <int64>[n], data rows from 0.
            columns: <int64>[n], columns from 0.
        """
        lines = np.append(0, np.asarray(rows) + 1)
        cells = (lines[:, np.newaxis] * self.num_columns + columns).ravel()
        begins, lengths = self._row_splits[cells], np.diff(self._row_splits)[cells]
        splits = np.append(0, np.cumsum(lengths))
        tokens = np.arange(splits[-1]) + np.repeat(begins - splits[:-1], lengths)
        return TokenizedTable(self.ids[tokens], splits, self._word_starts[tokens], len(columns))


class TokenSequence(NamedTuple):
    """A question and a table as one sequence of tokens.

    Attributes:
        input_ids, segment_ids, column_ids, row_ids: <int32>[length].
        table_tokens: <int64>[num_table_tokens], indices in the `TokenizedTable` of the table tokens
            in the sequence. They are the last tokens of the sequence.
        rows, columns: <int64>[n], rows (without the header) and columns that are kept, from 0.
        cuts: the parts that are missing in the sequence.
    """

    input_ids: np.ndarray
    segment_ids: np.ndarray
    column_ids: np.ndarray
    row_ids: np.ndarray
    table_tokens: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    cuts: tuple[Cut, ...]

    @property
    def first_table_token(self) -> int:
        """Returns the length of [CLS] question [SEP]."""
        return len(self.input_ids) - len(self.table_tokens)


def check_size(num_rows: int, num_columns: int, config: ConversionConfig) -> None:
    """Raises a ConversionError for a table with more rows or columns than there are ids."""
    if num_rows >= config.max_row_id and not config.drop_rows_to_fit:
        raise ConversionError(TOO_MANY_ROWS, f"{num_rows}, max_row_id is {config.max_row_id}")
    if num_columns >= config.max_column_id and not config.drop_columns_to_fit:
        detail = f"{num_columns}, max_column_id is {config.max_column_id}"
        raise ConversionError(TOO_MANY_COLUMNS, detail)


def linearize(
    question_ids: np.ndarray,
    question_word_starts: np.ndarray,
    table: TokenizedTable,
    config: ConversionConfig,
    *,
    cls_id: int,
    sep_id: int,
    selected: np.ndarray | None = None,
    ranking: pruning.Ranking | None = None,
) -> TokenSequence:
    """Builds the sequence of a question and a table, shortened as the config allows.

    A word is kept or dropped as a whole. All cells are shortened by the same rule: a word is kept
    if it begins among the first n tokens of its cell, with the largest n that fits. With
    `fill_cells`, words that begin at token n are kept too as far as they fit. In a pruned
    table the best rows come before that: as far as they fit a quarter of the budget, the rows that
    share most words with the question are read whole.

    Args:
        question_ids: <int32>[num_question_tokens], the tokens between [CLS] and [SEP].
        question_word_starts: <bool>[num_question_tokens], False for pieces that continue a word.
        table: the table.
        config: limits, and permissions to shorten.
        cls_id: id of [CLS].
        sep_id: id of [SEP].
        selected: <bool>[num_tokens], tokens of the table that may be used. None: all.
        ranking: ranking of columns and rows, for pruning. None: no pruning.

    Raises:
        ConversionError: if the sequence cannot be shortened enough; the reason is TOO_LONG,
            TOO_MANY_ROWS or TOO_MANY_COLUMNS.
    """
    check_size(table.num_rows, table.num_columns, config)
    fitting = _Fitting(table, config, selected, ranking)
    question_length = _question_length(question_ids, question_word_starts, fitting)
    kept, in_columns, in_rows = fitting.kept(config.max_seq_length - question_length)
    first = np.concatenate([[cls_id], question_ids[: question_length - SPECIAL_TOKENS], [sep_id]])
    before = np.zeros(len(first), np.int32)
    cuts = (
        Cut("question tokens", len(question_ids) + SPECIAL_TOKENS - question_length),
        Cut(COLUMNS, int(np.sum(~in_columns[1:]))),
        Cut(ROWS, int(np.sum(~in_rows[1:]))),
        Cut(CELLS, fitting.num_shortened(kept, in_columns, in_rows)),
    )
    return TokenSequence(
        input_ids=np.concatenate([first, table.ids[kept]]).astype(np.int32),
        segment_ids=np.concatenate([before, np.ones(len(kept), np.int32)]),
        column_ids=np.concatenate([before, table.columns[kept]]),
        row_ids=np.concatenate([before, table.rows[kept]]),
        table_tokens=kept,
        rows=np.flatnonzero(in_rows[1:]),
        columns=np.flatnonzero(in_columns[1:]),
        cuts=tuple(cut for cut in cuts if cut.count),
    )


def _question_length(ids, word_starts, fitting: "_Fitting") -> int:
    """Returns the number of tokens of [CLS] question [SEP] after shortening."""
    config, length = fitting.config, len(ids) + SPECIAL_TOKENS
    if config.trim_question_to_fit:
        room = max(config.max_seq_length - fitting.smallest_cost(), config.max_seq_length // 2)
        if length > room:
            # The question is cut where a word begins.
            begins = np.append(np.flatnonzero(word_starts), len(ids))
            length = int(begins[begins <= max(room - SPECIAL_TOKENS, 0)].max(initial=0))
            length += SPECIAL_TOKENS
    if length > config.max_seq_length:
        detail = f"the question alone has {length} tokens, at most {config.max_seq_length} fit"
        raise ConversionError(TOO_LONG, detail)
    return length


class _Fitting:
    """Selects the tokens that fit a budget, of `selected` <bool>[num_tokens] if it is given."""

    def __init__(self, table: TokenizedTable, config: ConversionConfig, selected, ranking):
        self.table, self.config = table, config
        self._ranking = ranking if config.prune_columns or config.prune_rows else None
        self._usable = np.ones(len(table.ids), bool) if selected is None else selected
        # Smallest number of tokens per cell that must fit: the trim length, or one word.
        self._needed = config.cell_trim_length if config.cell_trim_length >= 0 else 1
        # <int64>[num_tokens]: a word is needed if this is below `_needed`.
        self._levels = table.word_begins
        self._costs = self._costs_of(self._levels < self._needed)
        self._num_rows = min(table.num_rows, config.max_row_id - 1)
        self._num_columns = min(table.num_columns, config.max_column_id - 1)

    def _costs_of(self, tokens: np.ndarray) -> np.ndarray:
        """Counts the usable tokens in each cell, <int64>[1 + rows, 1 + columns]."""
        table, tokens = self.table, tokens & self._usable
        shape = table.num_rows + 1, table.num_columns + 1
        cells = table.rows[tokens].astype(np.int64) * shape[1] + table.columns[tokens]
        return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)

    def smallest_cost(self) -> int:
        """Returns the number of tokens that header and first row need at least."""
        return int(self._columns_cost()[-1])

    def kept(self, budget: int):
        """Selects the tokens that fit `budget` tokens.

        Returns:
            <int64>[kept tokens], indices in the table's tokens.
            <bool>[1 + columns], True for columns that are kept. Entry 0 is always True.
            <bool>[1 + rows], True for rows that are kept, the header first.

        Raises:
            ConversionError: if the table does not fit.
        """
        in_columns, in_rows = self._with_ids()
        if self.config.drop_columns_to_fit and not (self._ranking and self.config.prune_columns):
            fitting = np.searchsorted(self._columns_cost(), budget, side="right") - 1
            in_columns &= np.arange(len(in_columns)) <= fitting
        fits = self._costs[np.ix_(in_rows, in_columns)].sum() <= budget
        any_column = in_columns[1:].any()
        ranking = self._ranking
        if any_column and ranking and not (fits and in_rows.all() and in_columns.all()):
            if self.config.prune_rows:
                share = budget // SHARE_OF_BEST_ROWS
                self._need_best_rows(ranking, in_columns, in_rows, share)
            self._prune(ranking, in_columns, in_rows, budget)
        self._drop_rows(in_columns, in_rows, budget)
        inside = self._usable & in_columns[self.table.columns] & in_rows[self.table.rows]
        length = self.config.cell_trim_length
        if length < 0 and self.config.fill_cells:
            return self._filled(inside, budget), in_columns, in_rows
        if length < 0:
            # costs[n - 1]: number of tokens with n tokens per cell.
            costs = np.cumsum(np.bincount(self._levels[inside]))
            length = int(np.searchsorted(costs, budget, side="right"))
        return np.flatnonzero(inside & (self._levels < length)), in_columns, in_rows

    def num_shortened(self, kept, in_columns, in_rows) -> int:
        """Counts the shortened cells in the rows and columns that are kept.

        The arguments <int64>[kept tokens], <bool>[1 + columns] and <bool>[1 + rows] are the result
        of `kept`.
        """
        table = self.table
        lost = self._usable & in_rows[table.rows] & in_columns[table.columns]
        lost[kept] = False
        cells = table.rows[lost].astype(np.int64) * (table.num_columns + 1) + table.columns[lost]
        return len(np.unique(cells))

    def _columns_cost(self):
        """Returns <int64>[1 + columns]: tokens of header and first row up to each column."""
        top = self._costs[: min(1, self._num_rows) + 1, : self._num_columns + 1]
        return np.cumsum(top.sum(axis=0))

    def _with_ids(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns <bool>[1 + columns] and <bool>[1 + rows], True where the model has enough ids."""
        config, ranking = self.config, self._ranking
        in_columns = np.arange(self.table.num_columns + 1) <= self._num_columns
        in_rows = np.arange(self.table.num_rows + 1) <= self._num_rows
        if ranking and config.renumber_to_fit and config.prune_columns:
            in_columns = _best(ranking.columns, self._num_columns)
        if ranking and config.renumber_to_fit and config.prune_rows:
            in_rows = _best(ranking.rows, self._num_rows)
        return in_columns, in_rows

    def _filled(self, inside, budget: int) -> np.ndarray:
        """Returns the indices of words, by position in the cell, until the next one does not fit.

        Of words at the same position, those of the longest cells come first.
        """
        table, tokens = self.table, np.flatnonzero(inside)
        lengths = self._costs_of(self._usable)[table.rows[tokens], table.columns[tokens]]
        order = tokens[np.lexsort((-lengths, self._levels[tokens]))]
        starts = np.flatnonzero(table.positions[order] == table.word_begins[order])
        ends = np.append(starts, len(order))  # of the words before
        return np.sort(order[: ends[ends <= budget].max(initial=0)])

    def _need_best_rows(self, ranking, in_columns, in_rows, budget: int) -> None:
        """Makes all words of the best rows needed, as far as they fit `budget` tokens."""
        if self.config.cell_trim_length >= 0:
            return
        full = self._costs_of(self._usable)
        best = ranking.matching_rows + 1
        best = best[in_rows[best]]
        costs = np.cumsum(full[np.ix_(best, in_columns)].sum(axis=1))
        whole = np.zeros(len(in_rows), bool)
        whole[best[: np.searchsorted(costs, budget, side="right")]] = True
        self._costs = np.where(whole[:, np.newaxis], full, self._costs)
        self._levels = np.where(whole[self.table.rows], 0, self._levels)

    def _prune(self, ranking, in_columns, in_rows, budget: int) -> None:
        """Removes the least relevant columns and rows from `in_columns` and `in_rows`."""
        config = self.config
        columns, rows = np.flatnonzero(in_columns)[1:], np.flatnonzero(in_rows)
        keep_columns, keep_rows = pruning.select(
            self._costs[np.ix_(rows, columns)],
            budget,
            _within(ranking.columns, in_columns[1:]) if config.prune_columns else None,
            _within(ranking.rows, in_rows[1:]) if config.prune_rows else None,
            len(_within(ranking.matching_columns, in_columns[1:])),
            ranking.wanted_rows,
        )
        in_columns[columns] = keep_columns
        in_rows[rows] = keep_rows

    def _drop_rows(self, in_columns, in_rows, budget: int) -> None:
        """Removes the last rows from `in_rows` until the others fit."""
        rows = np.flatnonzero(in_rows)
        costs = np.cumsum(self._costs[np.ix_(rows, in_columns)].sum(axis=1))
        num_fitting = int(np.searchsorted(costs, budget, side="right"))
        if num_fitting == len(rows):
            return
        if num_fitting == 0 or not self.config.drop_rows_to_fit:
            per_cell = f"{self._needed} tokens" if self._needed > 1 else "one word"
            rest = "the header" if self.config.drop_rows_to_fit else "the table"
            cost = costs[0 if self.config.drop_rows_to_fit else -1]
            detail = f"{rest} needs {cost} tokens with {per_cell} per cell, {budget} are left"
            raise ConversionError(TOO_LONG, detail)
        in_rows[rows[num_fitting:]] = False


def _best(order: np.ndarray, count: int) -> np.ndarray:
    """Marks the first `count` of `order` <int64>[n]; <bool>[1 + n], with True for the header."""
    return np.append(True, np.argsort(order) < count)


def _within(order: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Returns the members of `order` <int64>[n] that are inside, counted among those inside."""
    return (np.cumsum(inside) - 1)[order[inside[order]]]
