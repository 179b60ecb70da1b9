"""Patterns of attention, in NumPy and as parts of OpenVINO's graph.

The rules are those of `attention.masks.table`, which tests compare with.
"""

import dataclasses
from typing import NamedTuple

import numpy as np
from openvino import opset14 as ops

MASKED = -1e9
"""Addend to the score of a pair that is not allowed."""

BUCKETS_PER_BLOCK = 2
"""Buckets of queries in one matmul, as in `attention.mate_heads`."""


class Kind(NamedTuple):
    """Heads that attend alike.

    Attributes:
        ids: "row_ids" or "column_ids", which they compare; "" for heads that see all tokens.
        count: number of heads.
        radius: R; 0: without windows.
    """

    ids: str
    count: int
    radius: int = 0


class Tokens(NamedTuple):
    """Tokens of one example, <int>[seq] each, as one kind of heads compares them."""

    ids: np.ndarray
    question: np.ndarray
    real: np.ndarray
    bucket: np.ndarray


def tokens(
    features: dict[str, np.ndarray], kind: Kind, global_length: int
) -> tuple[Tokens, np.ndarray]:
    """Returns the tokens of an example and their order by id, the question first, padding last.

    Args:
        features: name -> <int32>[seq].
        kind: the heads.
        global_length: G.
    """
    real = features["input_mask"] > 0
    question = (features["segment_ids"] == 0) & real
    ids = features[kind.ids]
    key = np.where(real, np.where(question, -1, ids), np.iinfo(np.int32).max)
    order = np.argsort(key, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    bucket = np.zeros_like(order)
    if kind.radius:
        bucket = np.maximum((rank - global_length) // kind.radius + 1, 0)
    return Tokens(ids, question, real, bucket), order


def visible(queries: Tokens, keys: Tokens, diagonal: np.ndarray | None = None) -> np.ndarray:
    """Returns which keys each query attends to, <bool>[..., queries, keys].

    Args:
        queries, keys: <int>[..., queries] and <int>[..., keys].
        diagonal: <bool>[..., queries, keys], the pairs of a token and itself, which are left out.
    """
    q, k = Tokens(*(x[..., :, None] for x in queries)), Tokens(*(x[..., None, :] for x in keys))
    near = (np.abs(q.bucket - k.bucket) <= 1) | (q.bucket == 0) | (k.bucket == 0)
    allowed = (q.question | k.question | ((q.ids == k.ids) & near)) & q.real & k.real
    return allowed if diagonal is None else allowed & ~diagonal


def bias(mask: np.ndarray) -> np.ndarray:
    """Returns 0 for the allowed pairs of <bool>[...] and `MASKED` for the others, <float32>."""
    return np.where(mask, np.float32(0), np.float32(MASKED))


@dataclasses.dataclass(frozen=True)
class Dense:
    """Attention under a mask for each kind of heads, which the inputs have.

    Attributes:
        kinds: the kinds of heads.
        global_length: G.
        diagonal: whether tokens attend to themselves.
    """

    kinds: tuple[Kind, ...]
    global_length: int = 0
    diagonal: bool = True
    batch = -1

    def attention(self, graph):
        """Adds the inputs to a graph; returns the function of queries, keys and values."""
        inputs = [
            graph.input(f"bias_{index}", [-1, 1, -1, -1], np.float32)
            for index in range(len(self.kinds))
        ]
        real = graph.input("real", [-1, 1, -1, 1], np.float32)

        def attend(query, key, value):
            if len(self.kinds) == 1:
                attended = graph.softmax_attention(query, key, value, inputs[0])
            else:
                counts = ops.constant(np.array([kind.count for kind in self.kinds], np.int64))
                axis = ops.constant(np.int64(1))
                parts = [ops.variadic_split(x, axis, counts) for x in (query, key, value)]
                attended = ops.concat(
                    [
                        graph.softmax_attention(*(part.output(index) for part in parts), mask)
                        for index, mask in enumerate(inputs)
                    ],
                    1,
                )
            return ops.multiply(attended, real)

        return attend

    def inputs(self, features: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Returns the inputs for a batch.

        Args:
            features: name -> <int32>[batch, seq].
        """
        batch, seq = features["input_mask"].shape
        mask_inputs = {}
        for index, kind in enumerate(self.kinds):
            if not kind.ids:
                mask = (features["input_mask"] > 0)[:, None, :]
            else:
                mask = np.stack([self._mask(features, row, kind) for row in range(batch)])
            if not self.diagonal:
                mask = mask & ~np.eye(seq, dtype=bool)
            mask_inputs[f"bias_{index}"] = bias(mask)[:, None]
        if self.kinds[0].ids:
            real = (features["input_mask"] > 0)[:, None, :, None]
        else:
            real = np.broadcast_to(np.any(mask, axis=-1)[:, None, :, None], [batch, 1, seq, 1])
        mask_inputs["real"] = real.astype(np.float32)
        return mask_inputs

    def _mask(self, features, row: int, kind: Kind) -> np.ndarray:
        own, _ = tokens(
            {name: ids[row] for name, ids in features.items()}, kind, self.global_length
        )
        return visible(own, own)


@dataclasses.dataclass(frozen=True)
class Windows:
    """MATE in linear time (section 3.1): global tokens, and blocks of buckets with their windows.

    For one example at a time, whose question is not longer than G.
    """

    kinds: tuple[Kind, ...]
    global_length: int
    diagonal: bool = True
    batch = 1

    def attention(self, graph):
        """Adds the inputs to a graph; returns the function of queries, keys and values."""
        sizes = []
        for index in range(len(self.kinds)):
            sizes.append(
                {
                    "first": graph.input(f"first_{index}", [-1]),
                    "block": graph.input(f"block_{index}", [-1, -1]),
                    "window": graph.input(f"window_{index}", [-1, -1]),
                    "rank": graph.input(f"rank_{index}", [-1]),
                    "bias": graph.input(f"bias_{index}", [1, -1, -1, -1], np.float32),
                    "first_bias": graph.input(f"first_bias_{index}", [1, 1, -1, -1], np.float32),
                }
            )
        real = graph.input("real", [1, 1, -1, 1], np.float32)
        counts = ops.constant(np.array([kind.count for kind in self.kinds], np.int64))
        one = ops.constant(np.int64(1))

        def of_kind(index: int, query, key, value):
            own = sizes[index]
            # [1, heads, seq, size] -> [heads, seq, size]
            query, key, value = (
                ops.squeeze(x, ops.constant(np.array([0], np.int64))) for x in (query, key, value)
            )
            # [heads, global_length, size]
            first = ops.gather(query, own["first"], one)
            zero = ops.constant(np.array([0], np.int64))
            of_first = graph.softmax_attention(
                *(ops.unsqueeze(x, zero) for x in (first, key, value)), own["first_bias"]
            )
            # [heads, blocks, block or window, size]
            blocks = ops.gather(query, own["block"], one)
            keys, values = (ops.gather(x, own["window"], one) for x in (key, value))
            of_blocks = graph.softmax_attention(blocks, keys, values, own["bias"])
            # [heads, blocks, block, size] -> [1, heads, blocks * block, size]
            kind = self.kinds[index]
            size = graph.sizes.head_size
            flat = ops.reshape(
                of_blocks, ops.constant(np.array([1, kind.count, -1, size], np.int64)), False
            )
            together = ops.concat([of_first, flat], 2)
            return ops.gather(together, own["rank"], ops.constant(np.int64(2)))

        def attend(query, key, value):
            if len(self.kinds) == 1:
                return ops.multiply(of_kind(0, query, key, value), real)
            parts = [ops.variadic_split(x, one, counts) for x in (query, key, value)]
            heads = [
                of_kind(i, *(part.output(i) for part in parts)) for i in range(len(self.kinds))
            ]
            return ops.multiply(ops.concat(heads, 1), real)

        return attend

    def inputs(self, features: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Returns the inputs for one example.

        Args:
            features: name -> <int32>[1, seq].
        """
        own = {name: ids[0] for name, ids in features.items()}
        inputs = {}
        for index, kind in enumerate(self.kinds):
            inputs |= {
                f"{name}_{index}": each for name, each in self._build_kind(own, kind).items()
            }
        inputs["real"] = (own["input_mask"] > 0).astype(np.float32)[None, None, :, None]
        return inputs

    def _build_kind(self, features, kind: Kind) -> dict[str, np.ndarray]:
        held, order = tokens(features, kind, self.global_length)
        seq, first, radius = len(order), self.global_length, kind.radius
        block = BUCKETS_PER_BLOCK * radius
        number = max(-(-(seq - first) // block), 1)
        # Positions by rank: [global | radius | blocks | radius]; -1 is not a token.
        padded = np.full(first + radius + number * block + radius, -1)
        padded[:first] = order[:first]
        padded[first + radius : first + radius + seq - first] = order[first:]
        tail = padded[first:]
        starts = np.arange(number)[:, None] * block
        windows = tail[starts + np.arange(block + 2 * radius)]
        windows = np.concatenate(
            [np.broadcast_to(padded[:first], [number, first]), windows], axis=1
        )
        blocks = windows[:, first + radius : -radius]

        def take(positions):
            exists = positions >= 0
            index = np.maximum(positions, 0)
            taken = Tokens(*(part[index] for part in held))
            return taken._replace(real=taken.real & exists, question=taken.question & exists)

        rank = np.empty_like(order)
        rank[order] = np.arange(seq)
        everything = np.arange(seq)
        same = None if self.diagonal else blocks[:, :, None] == windows[:, None, :]
        of_first = None if self.diagonal else padded[:first, None] == everything
        return {
            "first": np.maximum(padded[:first], 0).astype(np.int32),
            "block": np.maximum(blocks, 0).astype(np.int32),
            "window": np.maximum(windows, 0).astype(np.int32),
            "rank": rank.astype(np.int32),
            "bias": bias(visible(take(blocks), take(windows), same))[None],
            "first_bias": bias(visible(take(padded[:first]), take(everything), of_first))[
                None, None
            ],
        }


def positions_in_cell(columns: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Returns the distance of each token from the first one of its cell, <int32>[seq].

    Args:
        columns, rows: <int32>[seq], ids of the tokens; all with (0, 0) are one cell.
    """
    cells = columns.astype(np.int64) << 32 | rows
    order = np.argsort(cells, kind="stable")
    ordered = cells[order]
    begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    lengths = np.diff(np.append(begins, len(order)))
    positions = np.empty(len(order), np.int32)
    positions[order] = order - np.repeat(order[begins], lengths)
    return positions
