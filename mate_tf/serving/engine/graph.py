"""The graph of a table encoder for OpenVINO, made of its weights."""

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np
import openvino as ov
from openvino import opset14 as ops

from mate_tf.serving.engine.patterns import Dense, Windows

ACTIVATIONS = {
    "gelu": lambda x: ops.gelu(x, "tanh"),
    "gelu_exact": lambda x: ops.gelu(x, "erf"),
    "relu": ops.relu,
    "tanh": ops.tanh,
    "linear": lambda x: x,
}


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Sizes of an encoder, named as in `EncoderConfig`."""

    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    hidden_act: str
    layer_norm_epsilon: float
    softmax_temperature: float

    @property
    def head_size(self) -> int:
        """Width of a head."""
        return self.hidden_size // self.num_attention_heads

    @property
    def scale(self) -> float:
        """Factor of the dot products of queries and keys."""
        return 1 / (math.sqrt(self.head_size) * self.softmax_temperature)


SIZES = tuple(field.name for field in dataclasses.fields(Sizes))


class _Graph:
    """Makes nodes of the encoder."""

    def __init__(self, weights: Mapping[str, np.ndarray], sizes: Sizes, int8: bool):
        self._weights, self.sizes, self._int8 = weights, sizes, int8
        self.parameters: list = []

    def input(self, name: str, shape: Sequence[int], dtype=np.int32):
        """Adds an input; -1 stands for any size."""
        node = ops.parameter(list(shape), dtype, name=name)
        node.output(0).get_tensor().set_names({name})
        self.parameters.append(node)
        return node

    def weight(self, name: str):
        """Returns a weight as a constant, which shares the array's memory."""
        return _constant(self._weights[name])

    def kernel(self, name: str):
        """Returns the weights of a linear layer; with int8 in 8 bits, with a scale per output."""
        if not self._int8:
            return self.weight(name)
        values = np.asarray(self._weights[name], np.float32)
        scale = np.maximum(np.abs(values).max(axis=0, keepdims=True), 1e-12) / 127
        stored = ops.constant(np.round(values / scale).astype(np.int8))
        return ops.multiply(ops.convert(stored, np.float32), ops.constant(scale))

    def dense(self, x, name: str):
        """Applies a linear layer."""
        y = ops.matmul(x, self.kernel(f"{name}/kernel"), False, False)
        return ops.add(y, self.weight(f"{name}/bias"))

    def layer_norm(self, x, name: str):
        """Normalizes the last axis."""
        epsilon = self.sizes.layer_norm_epsilon
        axis = ops.constant(np.array([-1], np.int64))
        normal = ops.mvn(x, axis, True, epsilon, "inside_sqrt")
        return ops.add(
            ops.multiply(normal, self.weight(f"{name}/gamma")), self.weight(f"{name}/beta")
        )

    def embeddings(self, tables: Sequence[str], batch: int):
        """Sums the rows of embedding tables that the inputs name; they are normalized."""
        axis, parts = ops.constant(np.int64(0)), []
        for name in tables:
            ids = self.input(name, [batch, -1])
            # One row of zeros after the last one, for ids that the table lacks.
            table = np.asarray(self._weights[f"embeddings/{name}"], np.float32)
            if name.startswith("token_type"):
                table = np.concatenate([table, np.zeros_like(table[:1])])
            parts.append(ops.gather(_constant(table), ids, axis))
        total = parts[0]
        for part in parts[1:]:
            total = ops.add(total, part)
        return self.layer_norm(total, "embeddings/LayerNorm")

    def heads(self, x, name: str):
        """Projects to heads: [batch, seq, hidden] -> [batch, heads, seq, head_size]."""
        sizes = self.sizes
        shape = ops.constant(np.array([0, 0, sizes.num_attention_heads, sizes.head_size], np.int64))
        split = ops.reshape(self.dense(x, name), shape, True)
        return ops.transpose(split, _ints([0, 2, 1, 3]))

    def block(self, x, layer: int, attend):
        """Applies a layer of the encoder."""
        scope = f"encoder/layer_{layer}"
        projected = (
            self.heads(x, f"{scope}/attention/self/{n}") for n in ("query", "key", "value")
        )
        # [batch, heads, seq, head_size] -> [batch, seq, hidden]
        context = ops.transpose(attend(*projected), _ints([0, 2, 1, 3]))
        context = ops.reshape(context, _ints([0, 0, self.sizes.hidden_size]), True)
        attended = self.dense(context, f"{scope}/attention/output/dense")
        x = self.layer_norm(ops.add(x, attended), f"{scope}/attention/output/LayerNorm")
        inner = ACTIVATIONS[self.sizes.hidden_act](self.dense(x, f"{scope}/intermediate/dense"))
        y = self.dense(inner, f"{scope}/output/dense")
        return self.layer_norm(ops.add(x, y), f"{scope}/output/LayerNorm")

    def softmax_attention(self, query, key, value, bias):
        """Computes softmax(scale query key^T + bias) value, all [batch, heads, ...]."""
        scores = ops.multiply(ops.matmul(query, key, False, True), np.float32(self.sizes.scale))
        return ops.matmul(ops.softmax(ops.add(scores, bias), -1), value, False, False)


def _constant(values: np.ndarray) -> ov.Node:
    """Returns a constant that shares the memory of an array, which must be writable for that."""
    return ops.constant(np.require(values, np.float32, ["C", "W"]), shared_memory=True)


def _ints(values) -> ov.Node:
    return ops.constant(np.array(values, np.int64))


def encoder(
    weights: Mapping[str, np.ndarray],
    sizes: Sizes,
    tables: Sequence[str],
    pattern: Dense | Windows,
    int8: bool = False,
) -> ov.Model:
    """Makes the graph of an encoder.

    Args:
        weights: name in BERT's checkpoints, below bert/ -> array.
        sizes: its sizes.
        tables: names of the embedding tables, each of which is an input <int32>[batch, seq] of
            its rows.
        pattern: what heads attend to; its inputs follow.
        int8: round the weights of linear layers to 8 bits.

    Returns:
        A model with the output <float32>[batch, seq, hidden]. With `Windows` batch is 1.
    """
    graph = _Graph(weights, sizes, int8)
    x = graph.embeddings(tables, pattern.batch)
    attend = pattern.attention(graph)
    for layer in range(sizes.num_hidden_layers):
        x = graph.block(x, layer, attend)
    x.output(0).get_tensor().set_names({"sequence_output"})
    # Its constructors are declared for its base class.
    return ov.Model([x], graph.parameters, "encoder")  # pyright: ignore[reportGeneralTypeIssues]
