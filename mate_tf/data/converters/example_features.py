"""Features of examples, and what they are made of: labels, ids, numbers of tables, shared words."""

import dataclasses
import functools
import hashlib
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mate_tf.data import features, interactions
from mate_tf.data.converters.tokenizer import CONTINUATION, Encoding, Tokenizer
from mate_tf.protos import interaction_pb2, table_selection_pb2
from mate_tf.tables import columns, linearize, numbers, pruning, totals
from mate_tf.tables.conversion import MODERN, TAPAS

if TYPE_CHECKING:
    import tensorflow as tf

QUESTION_ID_TOO_LONG = "Question id too long"
ROW_LENGTH = "Row of another length than the header"

_HASH_MODULUS = 2**32 - 1
_SELECTION = table_selection_pb2.TableSelection.table_selection_ext


@dataclasses.dataclass(frozen=True, eq=False)
class Conversion:
    """The features of an example, and the parts of question and table that it lacks.

    It can be unpacked: `example, cuts = conversion`.

    Attributes:
        values: all features, name -> array; see `complete`.
        cuts: descriptions of the missing parts.
        rows, columns: the data rows and columns of the table that the example has, from 0. With the
            option `renumber_to_fit` the ids 1, 2, … in the example stand for them.
    """

    values: Mapping[str, np.ndarray]
    cuts: tuple[linearize.Cut, ...] = ()
    rows: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()

    def __eq__(self, other) -> bool:
        if not isinstance(other, Conversion):
            return NotImplemented
        return self._comparable() == other._comparable()

    def _comparable(self) -> tuple:
        # As bytes, by which NaN equals NaN.
        values = {
            name: value.tolist() if value.dtype.kind == "O" else (value.dtype, value.tobytes())
            for name, value in self.values.items()
        }
        return values, self.cuts, self.rows, self.columns

    def __iter__(self) -> Iterator:
        return iter((self.example, self.cuts))

    @property
    def example(self) -> "tf.train.Example":
        """The features as an example, made anew each time."""
        return to_example(self.values)

    @property
    def examples(self) -> tuple["tf.train.Example", ...]:
        """Tuple of the question's only example, as for other converters."""
        return (self.example,)


class Rebuilt:
    """Base class of converters that are pickled as their arguments, and built again from them.

    Attributes:
        vocab_file: path of the vocabulary, the first argument.
    """

    def __init__(self, vocab_file: str | os.PathLike, **options):
        self.vocab_file, self._options = os.fspath(vocab_file), options

    def __getstate__(self):
        return self.vocab_file, self._options

    def __setstate__(self, state):
        vocab_file, options = state
        self.__init__(vocab_file, **options)


def example_features(
    question: interaction_pb2.Question, table_id: str = "", *, trim_id: bool = False
) -> dict[str, list]:
    """Returns the values of `features.EXAMPLE_LABELS` and `features.IDENTIFIERS`.

    Args:
        question: question with its answer.
        trim_id: store the end of an id that is too long for `question_id_ints`.

    Raises:
        ConversionError: if the id is too long.
    """
    answer = question.answer
    return {
        "aggregation_function_id": [answer.aggregation_function],
        "classification_class_index": [answer.class_index],
        "answer": [answer.float_value if answer.HasField("float_value") else float("nan")],
        "question_id": [question.id.encode("utf-8")],
        "question_id_ints": _ints(question.id, trim_id),
        "table_id": [table_id.encode("utf-8")],
        "table_id_hash": [_fingerprint(table_id)],
    }


def complete(
    values: Mapping[str, Sequence | np.ndarray],
    length: int,
    specs: Sequence[features.Feature] = features.ALL,
) -> dict[str, np.ndarray]:
    """Returns all features of `specs` as arrays, those per token padded.

    Args:
        values: name -> <int or float>[num_tokens] of features per token, or [size] of others.
            Missing features per token are padding only.
        length: features per token are padded to this length.

    Returns:
        name -> <dtype>[length] of features per token, [size] of others; the dtype is
        `Feature.array_dtype`.
    """
    result = {}
    for spec in specs:
        value = values.get(spec.name, ())
        if spec.per_token:
            padded = np.full(length, spec.padding, spec.array_dtype)
            padded[: len(value)] = value
            result[spec.name] = padded
        else:
            result[spec.name] = np.array(value, spec.array_dtype)
    return result


def to_example(values: Mapping[str, np.ndarray]) -> "tf.train.Example":
    """Makes the example of features.

    Args:
        values: name -> <dtype>[values], all features of the example; see `complete`.
    """
    import tensorflow as tf

    example = tf.train.Example()
    for name, value in values.items():
        feature = example.features.feature[name]
        if value.dtype.kind == "O":
            feature.bytes_list.value.extend(value.tolist())
        elif value.dtype.kind == "f":
            feature.float_list.value.extend(value.tolist())
        else:
            feature.int64_list.value.extend(value.tolist())
    return example


def _ints(question_id: str, trim: bool) -> list[int]:
    """Returns the value of `question_id_ints`."""
    length = features.QUESTION_ID_LENGTH
    if trim:
        question_id = question_id[-length:]
    if len(question_id) > length:
        raise linearize.ConversionError(QUESTION_ID_TOO_LONG, f"{len(question_id)} characters")
    return [ord(char) + 1 for char in question_id] + [0] * (length - len(question_id))


def _fingerprint(text: str) -> int:
    """Returns a hash that is equal in every process."""
    return int(hashlib.sha256(text.encode("utf-8")).hexdigest(), 16) % _HASH_MODULUS


def cell_texts(proto: interaction_pb2.Table, strip_names: bool = False) -> list[str]:
    """Returns the texts of a table, header first, then row by row.

    Args:
        strip_names: replace all column names by "".

    Raises:
        ConversionError: if a row has more or fewer cells than the header.
    """
    num_columns = len(proto.columns)
    for number, row in enumerate(proto.rows, start=1):
        if len(row.cells) != num_columns:
            detail = f"row {number} has {len(row.cells)} cells, the header {num_columns}"
            raise linearize.ConversionError(ROW_LENGTH, detail)
    texts = ["" if strip_names else cell.text for cell in proto.columns]
    return texts + [cell.text for row in proto.rows for cell in row.cells]


class TableFeatures:
    """Tokens and numbers of a table.

    Args:
        proto: the table. If no cell is annotated, numbers and dates are found in the texts.
        texts: `cell_texts` of the table. A further row at the end belongs to the header.
        encoding: encoding of these texts.
        number_parser: see `ConversionConfig`.

    Attributes:
        tokens: the `TokenizedTable`.
        shape: (rows + 1, columns + 1), shape of the arrays below. Row 0 is the header; column 0 is
            not used.
        ranks, inverse_ranks: <int32>[rows + 1, columns + 1], 0 for cells without a rank.
        numeric_values: <float32>[rows + 1, columns + 1], NaN for cells without a number and for
            numbers beyond float32.
    """

    def __init__(
        self,
        proto: interaction_pb2.Table,
        texts: list[str],
        encoding: Encoding,
        number_parser: str = TAPAS,
    ):
        num_columns = len(proto.columns)
        self._texts = texts
        self.tokens = linearize.TokenizedTable(*encoding, num_columns)
        self.shape = (len(proto.rows) + 1, num_columns + 1)
        self._columns: list[columns.Column] | None = None
        self._left_out: frozenset[int] = frozenset()
        if number_parser == MODERN:
            rows = [[cell.text for cell in row.cells] for row in proto.rows]
            names = [cell.text for cell in proto.columns]
            self._columns = columns.read(names, list(zip(*rows, strict=True)) or [()] * len(names))
            self._values = [column.values for column in self._columns]
            self._left_out = totals.rows(rows, self._columns)
        else:
            self._values = interactions.cell_values(proto)
        self.ranks = np.zeros(self.shape, np.int32)
        self.inverse_ranks = np.zeros(self.shape, np.int32)
        self.numeric_values = np.full(self.shape, np.nan, np.float32)
        every_row = np.arange(len(proto.rows))
        for column, values in enumerate(self._values, start=1):
            ranks = self.ranks_of(every_row, column - 1)
            self.ranks[1:, column], self.inverse_ranks[1:, column] = ranks
            self.numeric_values[1:, column] = [
                value if isinstance(value, float) and math.isfinite(value) else np.nan
                for value in values
            ]

    @functools.cached_property
    def words(self) -> pruning.TableWords:
        """Words of the table, for ranking columns and rows."""
        return pruning.TableWords(self._texts, self.shape[1] - 1)

    def relations(self, question: interaction_pb2.Question) -> np.ndarray:
        """Compares the cells with numbers and dates of a question.

        Returns <int32>[rows + 1, columns + 1], see `numbers.relations`.
        """
        result = np.zeros(self.shape, np.int32)
        if self._columns is not None:
            text = question.original_text or question.text
            for index, column in enumerate(self._columns, start=1):
                result[1:, index] = columns.relations(text, column)
        elif question_values := interactions.question_values(question):
            for index, values in enumerate(self._values, start=1):
                result[1:, index] = numbers.relations(question_values, values)
        return result

    def part(self, rows: np.ndarray, columns: np.ndarray, relations: np.ndarray) -> "TablePart":
        """Returns some rows and columns, <int64>[n], as a separate table; see `TablePart`."""
        return TablePart(self, rows, columns, relations)

    def ranks_of(self, rows: np.ndarray, column: int) -> tuple[list[int], list[int]]:
        """Computes the ranks of some cells of a column among each other.

        Args:
            rows: <int64>[n], data rows from 0.
            column: column from 0.
        """
        values = self._values[column]
        return numbers.column_ranks(
            [None if row in self._left_out else values[row] for row in rows.tolist()]
        )

    def find(self, ids: np.ndarray) -> Iterator[int]:
        """Finds ids <int32>[n] in the data cells.

        Yields, for each cell that contains them, the index of the first match in `tokens`, row by
        row.
        """
        tokens = self.tokens
        num_starts = len(tokens.ids) - len(ids) + 1
        if num_starts <= 0:
            return
        rows = tokens.rows[:num_starts]
        matches = (rows > 0) & (rows < self.shape[0])
        last = slice(len(ids) - 1, len(ids) - 1 + num_starts)
        # A match must not continue in the next cell.
        matches &= tokens.positions[last] == tokens.positions[:num_starts] + len(ids) - 1
        for offset, piece in enumerate(ids):
            matches &= tokens.ids[offset : offset + num_starts] == piece
        places = np.flatnonzero(matches)
        cells = np.stack([tokens.rows[places], tokens.columns[places]])
        _, first = np.unique(cells, axis=1, return_index=True)
        yield from places[np.sort(first)]


class TablePart:
    """Some rows and columns of a table, with what an example needs of `TableFeatures`.

    Numbers and dates are those that the whole table was read with. Ranks are those among the rows.

    Args:
        whole: the table.
        rows, columns: <int64>[n], data rows and columns from 0.
        relations: those of the whole table to the question, <int32>[rows + 1, columns + 1].
    """

    def __init__(self, whole: TableFeatures, rows, columns, relations: np.ndarray):
        place = np.ix_(np.append(0, rows + 1), np.append(0, columns + 1))
        self._relations = relations[place]
        self.tokens = whole.tokens.part(rows, columns)
        self.shape = len(rows) + 1, len(columns) + 1
        self.numeric_values = whole.numeric_values[place]
        self.ranks, self.inverse_ranks = np.zeros((2, *self.shape), np.int32)
        for number, column in enumerate(columns.tolist(), start=1):
            ranks = whole.ranks_of(rows, column)
            self.ranks[1:, number], self.inverse_ranks[1:, number] = ranks

    def relations(self, question: interaction_pb2.Question) -> np.ndarray:
        """Returns the relations of its cells to the question, <int32>[rows + 1, columns + 1]."""
        return self._relations


def shared_words(
    input_ids: np.ndarray, segment_ids: np.ndarray, tokenizer: Tokenizer
) -> np.ndarray:
    """Marks the tokens of words that occur both in the question and in the table.

    A small model needs long training to find such matches by itself.

    Words are compared in the form of `mate_tf.tables.pruning.words`, so plurals match singulars.
    Punctuation and words with an unknown piece match nothing.

    Args:
        input_ids: <int32>[tokens].
        segment_ids: <int32>[tokens], 1 in the table.

    Returns:
        <int32>[tokens], 1 for the pieces of shared words.
    """
    pieces = [tokenizer.pieces[index] for index in input_ids]
    starts = np.array([not piece.startswith(CONTINUATION) for piece in pieces], bool)
    word_of = np.cumsum(starts) - 1
    texts = [""] * int(starts.sum())
    for word, piece in zip(word_of, pieces, strict=True):
        texts[word] += piece.removeprefix(CONTINUATION)
    compared = ["".join(pruning.words(text)) for text in texts]
    in_table = segment_ids[starts] > 0
    sides = [{w for w, there in zip(compared, in_table, strict=True) if there == s} for s in (0, 1)]
    shared = (sides[0] & sides[1]) - {"", *special_words(tokenizer)}
    return np.array([word in shared for word in compared], np.int32)[word_of]


def special_words(tokenizer: Tokenizer) -> set[str]:
    """Returns the special pieces in the form in which words are compared."""
    ids = (tokenizer.unk_id, tokenizer.cls_id, tokenizer.sep_id, tokenizer.empty_id)
    return {"".join(pruning.words(tokenizer.pieces[index])) for index in ids}


def selected_tokens(question, tokens: linearize.TokenizedTable) -> np.ndarray | None:
    """Returns <bool>[num_tokens], the question's `TableSelection`; None if it has none."""
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
