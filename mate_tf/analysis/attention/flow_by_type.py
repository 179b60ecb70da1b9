"""Where the attention of table tokens goes, by the type of the token that is attended to.

Table 7 of the MATE paper: the attention that flows from the tokens of data cells to [CLS], the
question, the header and the table, in the same column or row or not; mean over tokens, heads,
layers and examples, beside the same of a uniform attention without padding.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from mate_tf.analysis.attention.flow import probabilities
from mate_tf.attention import TableContext
from mate_tf.data import padding
from mate_tf.errors import InputError, on_one_line


class TokenType(NamedTuple):
    """A row of Table 7; None where the paper does not tell them apart."""

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
"""Of the tokens that are attended to, in the paper's order."""

ROW, COLUMN, NEITHER = "row", "column", "neither"
"""What a head may be like."""

_LEAST = 2  # times what a uniform attention gives to a row or column


def token_types(context: TableContext) -> np.ndarray:
    """The type of each token as data cells see it: <bool>[8, sources, seq].

    The sources are the tokens of data cells, in their order. [SEP] and what else stands in the
    first segment belong to the question.

    Args:
        context: of one example, <int>[seq] each.
    """
    segment, row, column, mask = map(np.asarray, context[:4])
    real, table = mask > 0, segment > 0
    header, data = real & table & (row == 0), data_tokens(context)
    first = np.arange(len(mask)) == 0
    same_row = row[data][:, None] == row
    same_column = column[data][:, None] == column
    found = [
        *(real & ~table & first, real & ~table & ~first),
        *(header & ~same_column, header & same_column),
        *(data & ~same_column & ~same_row, data & ~same_column & same_row),
        *(data & same_column & ~same_row, data & same_column & same_row),
    ]
    return np.stack([np.broadcast_to(each, [data.sum(), len(mask)]) for each in found])


def data_tokens(context: TableContext) -> np.ndarray:
    """The tokens of data cells, <bool>[seq]."""
    segment, row, _, mask = map(np.asarray, context[:4])
    return (mask > 0) & (segment > 0) & (row > 0)


class FlowByType:
    """Sums up attention by the type of the token that it goes to, example by example.

    Attributes:
        examples: with data cells, so far.

    Args:
        num_layers: of the encoder; 0 for the uniform attention alone.
        num_heads: of each layer.
    """

    def __init__(self, num_layers: int = 0, num_heads: int = 1):
        self.examples = 0
        self._sources = 0
        self._uniform = np.zeros(len(TYPES))
        self._attention = np.zeros([num_layers, num_heads, len(TYPES)])

    def add(self, context: TableContext, probabilities: Sequence = ()) -> None:
        """Adds an example; one without data cells counts for nothing.

        Args:
            context: <int>[seq] each.
            probabilities: of each layer <float>[heads, seq, seq], query before key.
        """
        types = token_types(context).astype(np.float32)
        data = data_tokens(context)
        if not data.any():
            return
        num_keys = padding.real_tokens(np.asarray(context.input_mask)).sum()
        self._uniform += types.sum((1, 2)) / num_keys
        for number, layer in enumerate(probabilities):
            flow = np.asarray(layer, np.float32)[:, data]
            self._attention[number] += np.einsum("hst,cst->hc", flow, types, optimize=True)
        self._sources += int(data.sum())
        self.examples += 1

    @property
    def uniform(self) -> np.ndarray:
        """Share of a uniform attention by type, <float>[8]."""
        return self._uniform / max(self._sources, 1)

    @property
    def by_head(self) -> np.ndarray:
        """Share of the attention by type, <float>[layers, heads, 8]."""
        return self._attention / max(self._sources, 1)

    @property
    def attention(self) -> np.ndarray:
        """The mean of `by_head` over layers and heads, <float>[8]."""
        return self.by_head.mean((0, 1))

    def head_likeness(self) -> list[list[str]]:
        """What each head of each layer behaves like: `ROW`, `COLUMN` or `NEITHER`.

        A head behaves like a row head if what it gives to the data cells of the own row (the own
        cell aside, which is in both) is at least twice what a uniform attention gives, and more
        times as much than what it gives to those of the own column; and the other way round.
        """
        row, column = map(self.times_uniform, (ROW, COLUMN))
        like = np.where(row > column, ROW, COLUMN)
        return np.where(np.maximum(row, column) < _LEAST, NEITHER, like).tolist()

    def times_uniform(self, kind: str) -> np.ndarray:
        """Attention to the data cells of the own `ROW` or `COLUMN`, the own cell aside.

        Returns:
            <float>[layers, heads], as a multiple of what a uniform attention gives.
        """
        index = TYPES.index(TokenType("table", same_column=kind == COLUMN, same_row=kind == ROW))
        return self.by_head[..., index] / max(self.uniform[index], 1e-9)

    def table(self) -> dict[str, dict[str, object]]:
        """Table 7, column by column: its name -> type -> share (float) or ratio (text)."""
        names = list(map(str, TYPES))
        columns = {"uniform": dict(zip(names, map(float, self.uniform), strict=True))}
        if self.by_head.size:
            attention = dict(zip(names, map(float, self.attention), strict=True))
            ratios = self.attention / np.maximum(self.uniform, 1e-9)
            times = dict(zip(names, (f"{ratio:.2f}" for ratio in ratios), strict=True))
            columns = {"attention / uniform": times, "attention": attention} | columns
        return columns


def measure(encoder, examples: Iterable[dict], most: int) -> tuple[FlowByType, FlowByType]:
    """The attention of an encoder on examples.

    Where a variant has no probabilities of pairs of tokens (`attention_flow.probabilities`), only
    the uniform attention is measured.

    Args:
        encoder: a `TableEncoder`.
        examples: <int32>[1, seq] each, the encoder's inputs, without padding.
        most: examples whose probabilities are looked at, since this takes quadratic memory.

    Returns:
        what flows in the first `most` examples that have data cells, and the uniform attention in
        all of them.
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
            print(f"attention | {on_one_line(error)}: only a uniform one is measured")
            flow, most = FlowByType(), 0
    return flow, overall
