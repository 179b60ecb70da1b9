"""Floating point operations (FLOPs) of an encoder's layers: from the graph, and by formula.

A multiplication and an addition count as two. The formula counts the matmuls of a forward
pass, which are nearly all FLOPs; they are compared with the machine's rate. The count from the
graph uses the numbers of TensorFlow's profiler for each operation, as in the MATE paper's figure 5.
It adds branches and `Einsum`, which the profiler omits. The profiler has no numbers for
element-wise functions such as exp and tanh (it has one for softmax), gathers, sorts and segment
sums; these are not counted. The graph is that before fusion by grappler or XLA.
"""

import dataclasses
import math

import tensorflow as tf
from tensorflow.python.framework import ops
from tensorflow.python.ops import cond_v2, op_selector

from mate_tf import attention
from mate_tf.analysis.cost import encoder_layers
from mate_tf.attention import abilities
from mate_tf.models.encoder_config import EncoderConfig

_PRODUCTS = {"MatMul": "transpose_a", "BatchMatMulV2": "adj_x", "BatchMatMulV3": "adj_x"}
"""Type of a matmul -> attribute that tells whether the first factor is transposed."""

_BRANCHES = ("If", "StatelessIf", "Case", "StatelessCase")
_LOOPS = ("While", "StatelessWhile")
_CALLS = ("PartitionedCall", "StatefulPartitionedCall")
_NO_TRAFFIC = ("Const", "Placeholder", "Identity", "Reshape", "ReadVariableOp", "ExpandDims")
_NO_TRAFFIC += ("Squeeze", "Shape", "NoOp", "StopGradient", *_BRANCHES, *_CALLS)


@dataclasses.dataclass
class Count:
    """Cost of a graph.

    Attributes:
        products: FLOPs of matmuls.
        everything: FLOPs of all operations with a known number.
        bytes: bytes that the operations read and write, without fusion and caches.
    """

    products: float = 0
    everything: float = 0
    bytes: float = 0

    def add(self, part: "Count") -> None:
        """Adds the cost of a part of the graph."""
        self.products += part.products
        self.everything += part.everything
        self.bytes += part.bytes


class Uncountable(Exception):
    """Raised if sizes or branches of a graph depend on values, so that FLOPs are unknown."""


def count_layers(config: EncoderConfig, length: int) -> Count:
    """Counts a forward pass for one example of `encoder_layers.table_context`, without running it.

    Raises:
        Uncountable: if shapes depend on values, as the blocks of `tree_fine` do on its leaves.
    """
    forward = encoder_layers.forward(config)
    x, context = encoder_layers.inputs(config, length)
    specs = [tf.TensorSpec.from_tensor(tensor) for tensor in (x, *context.tensors.values())]

    @tf.autograph.experimental.do_not_convert
    def call(x, *ids):
        return forward(x, attention.TableContext(*ids))

    wrapped = tf.compat.v1.wrap_function(call, specs)

    def branch(predicate):
        """Computes a predicate of the outermost graph from the ids of the context."""
        try:
            return wrapped.prune(wrapped.inputs[1 : len(specs)], predicate)(
                *context.tensors.values()
            )
        except op_selector.UnliftableError as error:
            raise Uncountable(f"{predicate.name} depends on the content") from error

    return count_graph(wrapped.graph, branch)


def count_graph(graph: tf.Graph, branch=None) -> Count:
    """Counts a graph with static shapes.

    Args:
        branch: function that returns the value of a tensor that selects a branch; None: the graph
            must have no branches.

    Raises:
        Uncountable: if shapes or branches are unknown, or there is a loop.
    """
    count = Count()
    for operation in graph.get_operations():
        kind = operation.type
        if kind in _LOOPS:
            raise Uncountable(f"{operation.name}: the number of executions is unknown")
        if kind in _BRANCHES:
            if branch is None:
                raise Uncountable(f"{operation.name}: the number of executions is unknown")
            count.add(count_graph(_taken(operation, branch(operation.inputs[0]))))
        elif kind in _CALLS:
            count.add(count_graph(*_called(operation, branch)))
        elif kind in _PRODUCTS or kind == "Einsum":
            matmul = _count_einsum(operation) if kind == "Einsum" else _count_matmul(operation)
            count.products += matmul
            count.everything += matmul
        else:
            count.everything += _count_others(graph, operation)
        if kind not in _NO_TRAFFIC:
            count.bytes += sum(_size(x) for x in (*operation.inputs, *operation.outputs))
    return count


def _taken(operation, value) -> tf.Graph:
    graphs = cond_v2.get_func_graphs(operation)
    value = value.numpy()
    # The first branch of an If is for True; branches of a Case are numbered.
    index = int(value) if operation.type.endswith("Case") else int(not value)
    return graphs[index]


def _called(operation, branch):
    """Returns the graph of a called function, and `branch` for the predicates within it."""
    graph = operation.graph._get_function(operation.get_attr("f").name).graph

    def branch_within(predicate):
        given = [
            outer
            for inner, outer in zip(graph.inputs, operation.inputs, strict=True)
            if inner is predicate
        ]
        if not given:
            raise Uncountable(f"{predicate.name} is computed within a function")
        return branch(given[0])

    return graph, branch and branch_within


def _count_matmul(operation) -> int:
    a, output = operation.inputs[0].shape, operation.outputs[0].shape
    if not (a.is_fully_defined() and output.is_fully_defined()):
        raise Uncountable(f"{operation.name}: the shape is unknown")
    transposed = operation.get_attr(_PRODUCTS[operation.type])
    return 2 * output.num_elements() * a[-2 if transposed else -1]


def _count_einsum(operation) -> int:
    """Returns the product of all axes' sizes, times two if an axis is summed over."""
    inputs, output = operation.get_attr("equation").decode().split("->")
    sizes = {}
    for labels, tensor in zip(inputs.split(","), operation.inputs, strict=True):
        if not tensor.shape.is_fully_defined():
            raise Uncountable(f"{operation.name}: the shape is unknown")
        sizes |= dict(zip(labels, tensor.shape, strict=True))
    return math.prod(sizes.values()) * (2 if set(sizes) - set(output) else 1)


def _count_others(graph, operation) -> int:
    try:
        return int(ops.get_stats_for_node_def(graph, operation.node_def, "flops").value or 0)
    except ValueError:  # unknown shape: small, or a matmul of the same graph raises Uncountable
        return 0


def _size(tensor) -> int:
    known = tensor.shape.is_fully_defined() and tensor.dtype not in (tf.resource, tf.variant)
    return tensor.shape.num_elements() * tensor.dtype.size if known else 0


def formula(config: EncoderConfig, length: int) -> float | None:
    """Returns the FLOPs of the layers' matmuls in a forward pass, by formula.

    A layer has 4 hidden^2 + 2 hidden * intermediate multiplications and additions per token, and
    those of the variant's attention (`TableAttention.flops`). Padding of blocks is not counted.

    Args:
        config: sizes, and one attention for all layers.
        length: tokens of the example.

    Returns:
        None if the variant has no formula.
    """
    options = config.attention_per_layer()[0]
    variant, hidden = attention.get(options.name), config.hidden_size
    own = variant.attention.flops(options, config.num_attention_heads, hidden, length)
    if own is None:
        return None
    tokens = length + abilities.num_added_tokens(variant.pattern, options)
    dense = 2 * tokens * (4 * hidden**2 + 2 * hidden * config.intermediate_size)
    return config.num_hidden_layers * (dense + own)
