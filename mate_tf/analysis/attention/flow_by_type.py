"""Attention of table tokens by the type of the key (MATE paper, table 7).

The table has the attention from the tokens of data cells to [CLS], the question, the header and the
table, in the same or in other columns and rows. It is the mean over tokens, heads, layers and
examples. For comparison it has the same shares of a uniform attention without padding.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from mate_tf.analysis.attention.flow import probabilities
from mate_tf.attention import TableContext
from mate_tf.data import padding
from mate_tf.errors import InputError, on_one_line


class TokenType(NamedTuple):
    """A row of table 7. `same_column` and `same_row` are None if the row includes both cases."""

    name: str
    same_column: bool | None = None
    same_row: bool | None = None

    def __str__(self):
        parts = [self.name]
        for word, same in (("column", self.same_column), ("row", self.same_row)):
            if same is not None:
                parts.append(f"{'same' if same else 'other'} {word}")
        return ", ".join(parts)


TYPES = (
    TokenType("[CLS]"),
    TokenType("question"),
    TokenType("header", same_column=False),
    TokenType("header", same_column=True),
    TokenType("table", same_column=False, same_row=False),
    TokenType("table", same_column=False, same_row=True),
    TokenType("table", same_column=True, same_row=False),
    TokenType("table", same_column=True, same_row=True),
)
"""Types of keys, in the paper's order."""

ROW, COLUMN, NEITHER = "row", "column", "neither"
"""Kinds of head behaviour."""

_LEAST = 2  # smallest ratio to uniform attention for a row or column head


def token_types(context: TableContext) -> np.ndarray:
    """Returns the type of each key for each query in a data cell: <bool>[types, queries, keys].

    The queries are the tokens of data cells, in their order. All tokens of the first segment but
    [CLS] are of type question.

    Args:
        context: TableContext of one example, <int>[seq] each.
    """
    segment, row, column, mask = map(np.asarray, context[:4])
    real, table = mask > 0, segment > 0
    header, data = real & table & (row == 0), data_tokens(context)
    first = np.arange(len(mask)) == 0
    same_row = row[data][:, None] == row
    same_column = column[data][:, None] == column
    result = [
        *(real & ~table & first, real & ~table & ~first),
        *(header & ~same_column, header & same_column),
        *(data & ~same_column & ~same_row, data & ~same_column & same_row),
        *(data & same_column & ~same_row, data & same_column & same_row),
    ]
    return np.stack([np.broadcast_to(each, [data.sum(), len(mask)]) for each in result])


def data_tokens(context: TableContext) -> np.ndarray:
    """Returns the tokens of data cells, <bool>[seq].

    Args:
        context: TableContext of one example, <int>[seq] each.
    """
    segment, row, _, mask = map(np.asarray, context[:4])
    return (mask > 0) & (segment > 0) & (row > 0)


class FlowByType:
    """Accumulates attention by the type of the key, over examples.

    Args:
        num_layers: layers of the encoder; 0: uniform attention only.

    Attributes:
        examples: number of added examples with data cells.
    """

    def __init__(self, num_layers: int = 0, num_heads: int = 1):
        self.examples = 0
        self._sources = 0
        self._uniform = np.zeros(len(TYPES))
        self._attention = np.zeros([num_layers, num_heads, len(TYPES)])

    def add(self, context: TableContext, probabilities: Sequence = ()) -> None:
        """Adds an example. Examples without data cells are ignored.

        Args:
            context: TableContext of the example, <int>[seq] each.
            probabilities: for each layer, <float>[heads, queries, keys].
        """
        types = token_types(context).astype(np.float32)
        data = data_tokens(context)
        if not data.any():
            return
        num_keys = padding.real_tokens(np.asarray(context.input_mask)).sum()
        self._uniform += types.sum((1, 2)) / num_keys
        for number, layer in enumerate(probabilities):
            # [heads, sources, keys], [types, sources, keys] -> [heads, types]
            flow = np.asarray(layer, np.float32)[:, data]
            self._attention[number] += np.einsum("hst,cst->hc", flow, types, optimize=True)
        self._sources += int(data.sum())
        self.examples += 1

    @property
    def uniform(self) -> np.ndarray:
        """Share of a uniform attention by type of key, <float>[types]."""
        return self._uniform / max(self._sources, 1)

    @property
    def by_head(self) -> np.ndarray:
        """Share of the attention by type of key, <float>[layers, heads, types]."""
        return self._attention / max(self._sources, 1)

    @property
    def attention(self) -> np.ndarray:
        """Mean of `by_head` over layers and heads, <float>[types]."""
        return self.by_head.mean((0, 1))

    def head_likeness(self) -> list[list[str]]:
        """Returns for each layer the kind of each head: `ROW`, `COLUMN` or `NEITHER`.

        A head is like a row head if its attention to the other data cells of the query's row is at
        least twice a uniform attention, and this ratio is larger than that of the query's column.
        Column heads are defined in the same way.
        """
        row, column = map(self.times_uniform, (ROW, COLUMN))
        like = np.where(row > column, ROW, COLUMN)
        return np.where(np.maximum(row, column) < _LEAST, NEITHER, like).tolist()

    def times_uniform(self, kind: str) -> np.ndarray:
        """Returns the attention to other data cells of the query's `ROW` or `COLUMN`.

        Returns:
            <float>[layers, heads], as a multiple of uniform attention.
        """
        index = TYPES.index(TokenType("table", same_column=kind == COLUMN, same_row=kind == ROW))
        return self.by_head[..., index] / max(self.uniform[index], 1e-9)

    def table(self) -> dict[str, dict[str, object]]:
        """Returns table 7: name of the column -> type -> share (float) or ratio (text)."""
        names = list(map(str, TYPES))
        columns: dict[str, dict[str, object]] = {
            "uniform": dict(zip(names, map(float, self.uniform), strict=True))
        }
        if self.by_head.size:
            attention = dict(zip(names, map(float, self.attention), strict=True))
            ratios = self.attention / np.maximum(self.uniform, 1e-9)
            times = dict(zip(names, (f"{ratio:.2f}" for ratio in ratios), strict=True))
            columns = {"attention / uniform": times, "attention": attention} | columns
        return columns


def measure(encoder, examples: Iterable[dict], most: int) -> tuple[FlowByType, FlowByType]:
    """Measures the attention of an encoder on examples.

    If a variant has no probabilities for pairs of tokens (`attention_flow.probabilities`), only
    uniform attention is measured.

    Args:
        examples: inputs without padding, each name -> <int32>[1, seq].
        most: largest number of examples with probabilities, which take quadratic memory.

    Returns:
        attention in the first `most` examples with data cells, and uniform attention in all
        examples.
    """
    config = encoder.config
    flow = FlowByType(config.num_hidden_layers, config.num_attention_heads)
    overall = FlowByType()
    for example in examples:
        context = TableContext.from_features(example).map(lambda ids: ids[0])
        overall.add(context)
        if flow.examples == most or not data_tokens(context).any():
            continue
        try:
            flow.add(context, [layer[0] for layer in probabilities(encoder, example)])
        except InputError as error:
            print(f"attention | {on_one_line(error)}: only uniform attention is measured")
            flow, most = FlowByType(), 0
    return flow, overall
