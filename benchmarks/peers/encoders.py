"""One TAPAS encoder in one stack, computed on request, by the interpreter that has the stack.

    python encoders.py '{"side": "hugging face bfloat16", "layers": 4, "threads": 2}'

Request: `encode` a length; returns the seconds. Sides of mate-tf need its interpreter, the others
one with torch, transformers, openvino and onnxruntime.
"""

import json
import os
import pathlib
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

HIDDEN, HEADS, QUESTION, ROW = 768, 12, 20, 24


def features(length: int) -> dict[str, np.ndarray]:
    """Returns a table of rows of six cells behind a question, name -> <int32>[1, length]."""
    draw, place = np.random.default_rng(0), np.arange(length)
    in_table = place >= QUESTION
    cell = np.maximum(place - QUESTION, 0)
    found = {
        "input_ids": draw.integers(1000, 30000, length),
        "input_mask": np.ones(length),
        "segment_ids": in_table,
        "column_ids": in_table * (1 + cell % ROW // 4),
        "row_ids": in_table * np.minimum(cell // ROW, 255),
        "prev_label_ids": np.zeros(length),
        "column_ranks": draw.integers(0, 100, length),
        "inv_column_ranks": draw.integers(0, 100, length),
        "numeric_relations": draw.integers(0, 3, length),
    }
    return {name: ids.astype(np.int32)[None] for name, ids in found.items()}


class MateTf:
    """Our encoder, by OpenVINO or TensorFlow."""

    def __init__(self, engine: str, attention: str, precision: str, layers: int, threads: int):
        import mate_tf  # noqa: F401, I001 - before TensorFlow, whose environment it sets
        import tensorflow as tf

        from mate_tf import checkpoints
        from mate_tf.layers.precision import policy
        from mate_tf.models.classifier import ClassifierConfig, TableClassifier
        from mate_tf.models.encoder import EncoderConfig
        from mate_tf.serving.engine.model import EngineModel

        tf.config.threading.set_intra_op_parallelism_threads(threads)
        encoder = EncoderConfig(
            num_hidden_layers=layers,
            reset_position_index_per_cell=True,
            attention={"name": attention},
        )
        with policy("float32" if engine == "openvino" else precision):
            made = TableClassifier(ClassifierConfig(encoder=encoder))
        if engine == "openvino":
            variables = checkpoints.checkpoint_variables(made)
            weights = {name: each.numpy() for name, each in variables.items()}
            model = EngineModel(made.config.as_dict(), weights, precision, threads)
            self._run = lambda given: model.encode(given)
            return
        compiled = tf.function(
            lambda given: made.encoder(given, training=False)["sequence_output"],
            autograph=False,
            reduce_retracing=True,
        )
        self._run = lambda given: compiled(
            {name: tf.constant(ids) for name, ids in given.items()}
        ).numpy()

    def encode(self, length: int) -> np.ndarray:
        """Returns <float>[1, length, hidden]."""
        return self._run(features(length))


class HuggingFace:
    """Hugging Face's TapasModel: by PyTorch, or converted for another runtime."""

    def __init__(self, runtime: str, precision: str, layers: int, threads: int):
        import torch
        import transformers

        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        config = transformers.TapasConfig(
            num_hidden_layers=layers,
            max_position_embeddings=8192,
            # Its reset of positions has operations that neither runtime has.
            reset_position_index_per_cell=runtime == "torch",
        )
        model = transformers.TapasModel(config).eval()
        if runtime in ("torch", "compile"):
            self._model = model.to(getattr(torch, precision))
            if runtime == "compile":
                self._model = torch.compile(self._model, dynamic=False)
            self._run = self._by_torch
        elif runtime == "openvino":
            self._by_openvino(model, precision, threads)
        else:
            self._by_onnxruntime(model, precision, threads)

    @staticmethod
    def _given(length: int):
        import torch

        own = features(length)
        types = np.stack([own[name] for name in list(own)[2:]], axis=-1)
        tensors = (own["input_ids"], own["input_mask"], types)
        return [torch.from_numpy(each.astype(np.int64)) for each in tensors]

    def encode(self, length: int) -> np.ndarray:
        """Returns <float>[1, length, hidden]."""
        return self._run(*self._given(length))

    def _by_torch(self, ids, mask, types):
        found = self._model(input_ids=ids, attention_mask=mask, token_type_ids=types)
        return found.last_hidden_state

    def _traced(self, model):
        import torch

        class Sequence(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.model = model

            def forward(self, ids, mask, types):
                found = self.model(input_ids=ids, attention_mask=mask, token_type_ids=types)
                return found.last_hidden_state

        return Sequence()

    def _by_openvino(self, model, precision, threads):
        import openvino as ov

        converted = ov.convert_model(self._traced(model), example_input=tuple(self._given(64)))
        hint = {"float32": "f32", "bfloat16": "bf16"}[precision]
        options = {
            "INFERENCE_PRECISION_HINT": hint,
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_NUM_THREADS": threads,
        }
        compiled = ov.Core().compile_model(converted, "CPU", options)
        self._run = lambda *given: compiled([each.numpy() for each in given])[0]

    def _by_onnxruntime(self, model, precision, threads):
        import onnxruntime
        import torch
        from onnxruntime import quantization

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            names = ["ids", "mask", "types"]
            torch.onnx.export(
                self._traced(model),
                tuple(self._given(64)),
                path,
                input_names=names,
                dynamic_axes={name: {1: "length"} for name in names},
                dynamo=False,
            )
            if precision == "int8":
                small = os.path.join(folder, "small.onnx")
                quantization.quantize_dynamic(path, small, weight_type=quantization.QuantType.QInt8)
                path = small
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = threads
            session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])
        self._run = lambda *given: session.run(
            None, {name: each.numpy() for name, each in zip(names, given, strict=True)}
        )[0]


class Handlers:
    """Handlers of the requests, one method each."""

    def __init__(self, side: str, layers: int, threads: int):
        stack, *words = side.split()
        made = MateTf if stack == "mate-tf" else HuggingFace
        self._encoder = made(*words, layers, threads)

    def encode(self, length: int) -> dict:
        """Encodes a table twice; returns the seconds of the second time, and whether it is finite.

        The first time warms the caches, which the other sides had.
        """
        self._encoder.encode(length)
        begin = time.perf_counter()
        found = self._encoder.encode(length)
        seconds = time.perf_counter() - begin
        return {"seconds": seconds, "finite": bool(np.isfinite(float(abs(found).sum())))}


def main() -> None:
    """Serves requests."""
    from mate_tf.analysis.cost import measuring_process  # the standard library only

    measuring_process.serve({"encode": Handlers(**json.loads(sys.argv[1])).encode})


if __name__ == "__main__":
    main()
