"""Checkpoints of tf-models' BERT encoders, converted to the reference's names and shapes.

BertEncoder and BertEncoderV2 of official.nlp.modeling keep their layers under the same attributes
in every model and checkpoint. Kernels of attention have an axis for heads: query, key and value
[hidden, heads, head_size], output [heads, head_size, hidden].
"""

from mate_tf.checkpoints import bundle
from mate_tf.checkpoints.stored_tensor import StoredTensor

_EMBEDDINGS = {
    "bert/embeddings/word_embeddings": "_embedding_layer/embeddings",
    "bert/embeddings/position_embeddings": "_position_embedding_layer/embeddings",
    "bert/embeddings/token_type_embeddings": "_type_embedding_layer/embeddings",
}
_LAYERS = {
    "bert/embeddings/LayerNorm": "_embedding_norm_layer",
    "bert/pooler/dense": "_pooler_layer",
}
_BLOCK = {
    "attention/self/query": "_attention_layer/_query_dense",
    "attention/self/key": "_attention_layer/_key_dense",
    "attention/self/value": "_attention_layer/_value_dense",
    "attention/output/dense": "_attention_layer/_output_dense",
    "attention/output/LayerNorm": "_attention_layer_norm",
    "intermediate/dense": "_intermediate_dense",
    "output/dense": "_output_dense",
    "output/LayerNorm": "_output_layer_norm",
}
_MASKED_LM = {
    "cls/predictions/transform/dense": "dense",
    "cls/predictions/transform/LayerNorm": "layer_norm",
}
_PARAMETERS = ("kernel", "bias", "gamma", "beta")


def by_reference_name(
    tensors: dict[str, StoredTensor], graph: bundle.ObjectGraph
) -> dict[str, StoredTensor] | None:
    """Returns tensors with the names and shapes of BERT's TF1 checkpoints.

    A tensor that BERT does not have keeps its name.

    Args:
        tensors: tensors of the checkpoint by name.

    Returns:
        name -> tensor, or None if the checkpoint has no tf-models encoder.
    """
    encoder = _node_with(graph, {"_embedding_layer", "_transformer_layers"})
    if encoder is None:
        return None
    stored = bundle.paths(graph, encoder)
    layers_of = (path for path in stored if path.startswith("_transformer_layers/"))
    num_layers = len({path.split("/")[1] for path in layers_of})
    names = {ours: stored.get(theirs) for ours, theirs in _EMBEDDINGS.items()}
    layers = _LAYERS | {
        f"bert/encoder/layer_{index}/{ours}": f"_transformer_layers/{index}/{theirs}"
        for index in range(num_layers)
        for ours, theirs in _BLOCK.items()
    }
    names |= _parameters(layers, stored)
    masked_lm = _node_with(graph, {"dense", "layer_norm", "output_bias/bias"})
    if masked_lm is not None:
        stored = bundle.paths(graph, masked_lm)
        names |= _parameters(_MASKED_LM, stored)
        names["cls/predictions/output_bias"] = stored["output_bias/bias"]
    renamed = {
        ours: _without_head_axis(ours, tensors[theirs])
        for ours, theirs in names.items()
        if theirs in tensors
    }
    rest = tensors.keys() - set(names.values())
    return renamed | {name: tensors[name] for name in rest}


def _parameters(layers, stored) -> dict[str, str]:
    return {
        f"{ours}/{parameter}": stored[f"{theirs}/{parameter}"]
        for ours, theirs in layers.items()
        for parameter in _PARAMETERS
        if f"{theirs}/{parameter}" in stored
    }


def _node_with(graph, attributes) -> int | None:
    """Returns the index of the first node with these attributes, or None."""
    for index, node in enumerate(graph.nodes):
        if attributes <= {child.local_name for child in node.children}:
            return index
    return None


def _without_head_axis(name, tensor: StoredTensor) -> StoredTensor:
    """Reshapes kernels and biases of attention to matrices and vectors; others stay the same."""
    if "/attention/self/" in name:
        # [..., heads, head_size] -> [..., hidden]
        hidden = tensor.shape[-2] * tensor.shape[-1]
        return tensor.reshaped(*tensor.shape[:-2], hidden)
    if name.endswith("/attention/output/dense/kernel"):
        # [heads, head_size, hidden] -> [heads * head_size, hidden]
        return tensor.reshaped(tensor.shape[0] * tensor.shape[1], tensor.shape[2])
    return tensor
