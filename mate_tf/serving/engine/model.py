"""A table classifier that OpenVINO computes."""

import functools
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import openvino as ov

from mate_tf.serving.engine import graph, patterns, spans
from mate_tf.serving.engine.heads import Heads
from mate_tf.serving.engine.spans import Spans

TYPES = (
    *("segment_ids", "column_ids", "row_ids", "prev_label_ids"),
    *("column_ranks", "inv_column_ranks", "numeric_relations"),
)
"""Token types in the order of their embedding tables, as in `data.features.TOKEN_TYPES`."""

INPUTS = ("input_ids", "input_mask", *TYPES)

SHORT_INPUT = 448
"""Tokens up to which masks are no slower than windows."""

_ATTENTION = ("full", "mate_exact", "mate_efficient")

_PRECISIONS = {
    "float32": {"INFERENCE_PRECISION_HINT": "f32"},
    "bfloat16": {"INFERENCE_PRECISION_HINT": "bf16"},
}

INT8 = "int8"

# Values that enter linear layers are rounded in groups of so many, token by token. With limits for
# a whole layer, fitted by examples, it is 16 % faster, and probabilities differ four times as much.
_INT8_GROUP = {"DYNAMIC_QUANTIZATION_GROUP_SIZE": "64"}


def unsupported(config: Mapping[str, Any], precision: str) -> str | None:
    """Returns what OpenVINO does not compute of a model, in words; None if it computes it all.

    Args:
        config: fields of the `ClassifierConfig`, as JSON values.
        precision: dtype of the layers.
    """
    encoder = config["encoder"]
    attention = encoder["attention"]
    if not isinstance(attention, Mapping) or attention["name"] not in _ATTENTION:
        names = attention if not isinstance(attention, Mapping) else attention["name"]
        return f"attention {names!r}"
    if encoder["pack"]:
        return "packed examples"
    if config["span_prediction"] == "mlp" and config["span_activation"] not in spans.ACTIVATIONS:
        return f"span_activation {config['span_activation']!r}"
    if config["multiple_choice"] or config["num_towers"] > 1:
        return "sequences of several parts"
    if config["num_classification_labels"] == 1:
        return "regression"
    if encoder["hidden_act"] not in graph.ACTIVATIONS:
        return f"hidden_act {encoder['hidden_act']!r}"
    return None if precision in (*_PRECISIONS, INT8) else f"precision {precision!r}"


def has_bfloat16() -> bool:
    """Returns whether this processor multiplies in bfloat16."""
    return "BF16" in _core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")


@functools.cache
def _core() -> ov.Core:
    return ov.Core()


class EngineModel:
    """Computes the outputs of a `TableClassifier` for examples.

    Args:
        config: fields of the `ClassifierConfig`, as JSON values.
        weights: name in the reference's checkpoints -> array.
        precision: "float32"; "bfloat16", in which the processor must have matmuls; "int8" for
            linear layers in 8 bits, and all else in bfloat16 where the processor has it.
        threads: most threads; None: as many as processors.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        weights: Mapping[str, np.ndarray],
        precision: str = "float32",
        threads: int | None = None,
    ):
        encoder, attention = config["encoder"], config["encoder"]["attention"]
        self._config, self._heads, self._spans = config, Heads(config, weights), None
        if config["span_prediction"] != "none":
            self._spans = Spans(config, weights)
        self._encoder = {
            name.removeprefix("bert/"): each
            for name, each in weights.items()
            if name.startswith("bert/")
        }
        self._tables = _tables(encoder)
        self._sizes = graph.Sizes(**{name: encoder[name] for name in graph.SIZES})
        kinds, first = _kinds(attention, encoder["num_attention_heads"])
        diagonal = attention.get("diagonal", True)
        self._dense = patterns.Dense(kinds, first, diagonal)
        self._windows = None
        if attention["name"] == "mate_efficient":
            self._windows = patterns.Windows(kinds, first, diagonal)
        self._int8 = precision == INT8
        self._options: dict[str, Any] = {"PERFORMANCE_HINT": "LATENCY"} | _options(precision)
        if threads:
            self._options["INFERENCE_NUM_THREADS"] = threads
        self._compiled: dict[str, ov.InferRequest] = {}
        self._lock = threading.Lock()  # a request computes one batch at a time

    def __call__(self, examples: Sequence[Mapping[str, np.ndarray]]) -> list[dict[str, np.ndarray]]:
        """Computes the outputs of `ServingModule.serving_examples` for each example.

        Args:
            examples: for each one name -> <int>[seq] of `INPUTS`. Padding may be left out.
        """
        result: list = [None] * len(examples)
        dense = []
        for index, example in enumerate(examples):
            end = max(int(np.flatnonzero(example["input_mask"]).max(initial=0)) + 1, 1)
            example = {name: np.asarray(example[name][:end], np.int32) for name in INPUTS}
            if self._by_windows(example):
                result[index] = self._compute(self._windows, [example])[0]
            else:
                dense.append((index, example))
        if dense:
            outputs = self._compute(self._dense, [example for _, example in dense])
            for (index, _), each in zip(dense, outputs, strict=True):
                result[index] = each
        return result

    def _by_windows(self, example) -> bool:
        """Returns whether an example is computed by windows, which questions must not exceed."""
        if self._windows is None:
            return False
        if len(example["input_ids"]) <= max(SHORT_INPUT, self._windows.global_length):
            return False
        question = (example["segment_ids"] == 0) & (example["input_mask"] > 0)
        return question.sum() <= self._windows.global_length

    def _compute(self, pattern, examples) -> list[dict[str, np.ndarray]]:
        longest = max(len(each["input_ids"]) for each in examples)
        features = {
            name: np.stack(
                [np.pad(each[name], [0, longest - len(each[name])]) for each in examples]
            )
            for name in INPUTS
        }
        result = []
        for row, sequence in enumerate(self._encode(pattern, features)):
            own = {name: ids[row] for name, ids in features.items()}
            outputs = self._heads.outputs(own, sequence)
            if self._spans is not None:
                outputs |= self._spans.outputs(own, sequence)
            result.append(outputs)
        return result

    def encode(self, features: Mapping[str, np.ndarray]) -> np.ndarray:
        """Computes the output of the encoder for one example, <float32>[1, seq, hidden].

        Args:
            features: name -> <int32>[1, seq] of `INPUTS`.
        """
        example = {name: ids[0] for name, ids in features.items()}
        return self._encode(
            self._windows if self._by_windows(example) else self._dense, dict(features)
        )

    def _encode(self, pattern, features: dict[str, np.ndarray]) -> np.ndarray:
        inputs = self._embedded(features) | pattern.inputs(features)
        with self._lock:
            result = self._request(pattern).infer(inputs, share_inputs=True)["sequence_output"]
        return result.astype(np.float32, copy=False)

    def _request(self, pattern) -> ov.InferRequest:
        key = type(pattern).__name__
        if key not in self._compiled:
            model = graph.encoder(self._encoder, self._sizes, self._tables, pattern, self._int8)
            compiled = _core().compile_model(model, "CPU", self._options)
            self._compiled[key] = compiled.create_infer_request()
        return self._compiled[key]

    def _embedded(self, features) -> dict[str, np.ndarray]:
        """Returns the rows of the embedding tables, name -> <int32>[batch, seq]."""
        result, encoder = {}, self._config["encoder"]
        for table in self._tables:
            size = len(self._encoder[f"embeddings/{table}"])
            if table == "word_embeddings":
                result[table] = features["input_ids"]
            elif table == "position_embeddings":
                result[table] = self._positions(features, encoder, size)
            else:
                ids = features[TYPES[int(table.rpartition("_")[2])]]
                result[table] = np.where((ids >= 0) & (ids < size), ids, size).astype(np.int32)
        return result

    def _positions(self, features, encoder, size: int) -> np.ndarray:
        batch, seq = features["input_ids"].shape
        if not encoder["reset_position_index_per_cell"]:
            return np.broadcast_to(np.arange(seq, dtype=np.int32), [batch, seq])
        pairs = zip(features["column_ids"], features["row_ids"], strict=True)
        return np.minimum([patterns.positions_in_cell(*pair) for pair in pairs], size - 1)


def _options(precision: str) -> dict[str, str]:
    """Returns OpenVINO's options for a precision."""
    if precision != INT8:
        return _PRECISIONS[precision]
    return _PRECISIONS["bfloat16" if has_bfloat16() else "float32"] | _INT8_GROUP


def _tables(encoder: Mapping[str, Any]) -> list[str]:
    """Returns the names of the embedding tables of an encoder."""
    names = ["word_embeddings"]
    if not encoder["disable_position_embeddings"]:
        names.append("position_embeddings")
    disabled = encoder["disabled_features"]
    names += [f"token_type_embeddings_{i}" for i, each in enumerate(TYPES) if each not in disabled]
    return names


def _kinds(attention: Mapping[str, Any], heads: int) -> tuple[tuple[patterns.Kind, ...], int]:
    """Returns the kinds of heads of an attention variant, and G."""
    if attention["name"] == "full":
        return (patterns.Kind("", heads),), 0
    rows = int(heads * attention["row_heads_ratio"])
    windowed = attention["name"] == "mate_efficient" or attention["windowed"]
    kinds = []
    for ids, count, name in (("row_ids", rows, "row"), ("column_ids", heads - rows, "column")):
        radius = attention[f"{name}_radius"] or attention["radius"] if windowed else 0
        if count:
            kinds.append(patterns.Kind(ids, count, radius))
    return tuple(kinds), attention["global_length"]
