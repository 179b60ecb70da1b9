"""Floating point operations of an encoder's layers: from the graph, and by formula.

A multiplication and an addition are two. By formula: the matrix products of a forward pass, which
are nearly all there is; what is compared with a machine's rate. From the graph: each operation as
TensorFlow's profiler counts it, which is what the MATE paper's figure 5 shows. The profiler alone
would miss what is inside branches, and every `Einsum`; both are counted here. Not counted, as the
profiler has no figures for it: exp, tanh and the like (softmax it has), gathering, sorting, sums
over segments. Operations are those before anything is fused, by grappler or XLA.
"""

import dataclasses
import math

import tensorflow as tf
from tensorflow.python.framework import ops
from tensorflow.python.ops import cond_v2, op_selector

from mate_tf import attention
from mate_tf.analysis.cost import encoder_layers
from mate_tf.models.encoder_config import EncoderConfig

_PRODUCTS = {"MatMul": "transpose_a", "BatchMatMulV2": "adj_x", "BatchMatMulV3": "adj_x"}
"""Matrix products, and what says that the first factor is transposed."""

_BRANCHES = ("If", "StatelessIf", "Case", "StatelessCase")
_LOOPS = ("While", "StatelessWhile")
_NO_TRAFFIC = ("Const", "Placeholder", "Identity", "Reshape", "ReadVariableOp", "ExpandDims")
_NO_TRAFFIC += ("Squeeze", "Shape", "NoOp", "StopGradient", *_BRANCHES)


@dataclasses.dataclass
class Count:
    """What a graph asks for.

    Attributes:
        products: FLOPs of matrix products.
        everything: these and all others that are known.
        bytes: what its operations read and write, if none were fused and nothing came from a cache.
    """

    products: float = 0
    everything: float = 0
    bytes: float = 0


class Uncountable(Exception):
    """The graph does not say how much is computed: sizes or branches depend on the content."""


def of_layers(config: EncoderConfig, length: int) -> Count:
    """Of a forward pass for one example of `encoder_layers.table_context`; nothing is computed.

    Raises:
        Uncountable: as in `tree_fine`, whose blocks are as large as leaves are.
    """
    forward = encoder_layers.forward(config)
    x, context = encoder_layers.inputs(config, length)
    specs = [tf.TensorSpec.from_tensor(tensor) for tensor in (x, *context[:4])]

    @tf.autograph.experimental.do_not_convert
    def call(x, *ids):
        return forward(x, attention.TableContext(*ids))

    wrapped = tf.compat.v1.wrap_function(call, specs)

    def branch(predicate):
        """Which branch of the outermost graph these ids take."""
        try:
            return wrapped.prune(wrapped.inputs[1 : len(specs)], predicate)(*context)
        except op_selector.UnliftableError as error:
            raise Uncountable(f"{predicate.name} depends on the content") from error

    return of_graph(wrapped.graph, branch)


def of_graph(graph: tf.Graph, branch=None) -> Count:
    """Of a graph with static shapes.

    Args:
        graph: the graph.
        branch: tensor of the graph that chooses a branch -> its value; None: there are none.

    Raises:
        Uncountable: shapes are unknown, there is a loop or a branch that nobody can tell.
    """
    count = Count()
    for operation in graph.get_operations():
        kind = operation.type
        if kind in _LOOPS or (kind in _BRANCHES and branch is None):
            raise Uncountable(f"{operation.name}: how often is not known before")
        if kind in _BRANCHES:
            of_branch = of_graph(_taken(operation, branch(operation.inputs[0])))
            count.products += of_branch.products
            count.everything += of_branch.everything
            count.bytes += of_branch.bytes
        elif kind in _PRODUCTS or kind == "Einsum":
            products = _of_einsum(operation) if kind == "Einsum" else _of_product(operation)
            count.products += products
            count.everything += products
        else:
            count.everything += _of_others(graph, operation)
        if kind not in _NO_TRAFFIC:
            count.bytes += sum(_size(x) for x in (*operation.inputs, *operation.outputs))
    return count


def _taken(operation, value) -> tf.Graph:
    graphs = cond_v2.get_func_graphs(operation)
    value = value.numpy()
    # of If the first one is for True, of Case they are numbered
    index = int(value) if operation.type.endswith("Case") else int(not value)
    return graphs[index]


def _of_product(operation) -> int:
    a, output = operation.inputs[0].shape, operation.outputs[0].shape
    if not (a.is_fully_defined() and output.is_fully_defined()):
        raise Uncountable(f"{operation.name}: the shape is not known before")
    transposed = operation.get_attr(_PRODUCTS[operation.type])
    return 2 * output.num_elements() * a[-2 if transposed else -1]


def _of_einsum(operation) -> int:
    """Two for each combination of the axes, if one of them is summed over; else one."""
    inputs, output = operation.get_attr("equation").decode().split("->")
    sizes = {}
    for labels, tensor in zip(inputs.split(","), operation.inputs, strict=True):
        if not tensor.shape.is_fully_defined():
            raise Uncountable(f"{operation.name}: the shape is not known before")
        sizes |= dict(zip(labels, tensor.shape, strict=True))
    return math.prod(sizes.values()) * (2 if set(sizes) - set(output) else 1)


def _of_others(graph, operation) -> int:
    try:
        return int(ops.get_stats_for_node_def(graph, operation.node_def, "flops").value or 0)
    except ValueError:  # a shape that is not known; what is large has one, or a product has none
        return 0


def _size(tensor) -> int:
    known = tensor.shape.is_fully_defined() and tensor.dtype not in (tf.resource, tf.variant)
    return tensor.shape.num_elements() * tensor.dtype.size if known else 0


def formula(config: EncoderConfig, length: int) -> float | None:
    """Returns the FLOPs of the matrix products of the layers in a forward pass, by formula.

    Per layer and token 4 hidden^2 + 2 hidden intermediate multiplications and additions, and those
    of the variant's attention (`TableAttention.flops`). Padding of blocks is not counted.

    Args:
        config: sizes, and one attention for all layers.
        length: tokens of the one example.

    Returns:
        None if the variant has no formula.
    """
    options = config.attention_per_layer()[0]
    variant, hidden = attention.get(options.name), config.hidden_size
    own = variant.attention.flops(options, config.num_attention_heads, hidden, length)
    if own is None:
        return None
    tokens = length + variant.pattern.num_added_tokens(options)
    dense = 2 * tokens * (4 * hidden**2 + 2 * hidden * config.intermediate_size)
    return config.num_hidden_layers * (dense + own)
