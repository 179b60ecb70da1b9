"""The layers of Hugging Face's TAPAS on request, run by the interpreter of its own environment.

    python hugging_face.py '{"config": {…}, "threads": 2}'

Its encoder as TapasModel has it: eager attention, as it offers no other, with the mask that
TapasModel makes where there is no padding, made once. In bfloat16 all of it is computed in it, and
in training what PyTorch's autocast chooses. As in mate-tf's part of the
comparison there are neither embeddings nor pooler. Its activation is that of its checkpoints, GELU
by erf, which PyTorch computes in one operation.
"""

import functools
import json
import pathlib
import sys
import time

import torch
import transformers
from transformers import masking_utils

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from mate_tf.analysis.cost import measuring_process  # the standard library only


class Measurements:
    """What is asked for, by the names of the requests.

    Args:
        config: mate-tf's EncoderConfig as a dict.
    """

    def __init__(self, config: dict):
        sizes = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
        sizes += ("hidden_dropout_prob", "attention_probs_dropout_prob")
        self._config = transformers.TapasConfig(
            attn_implementation="eager", vocab_size=32, **{size: config[size] for size in sizes}
        )
        self._calls = {}

    def prepare(self, variant, length, precision, xla, training) -> dict:
        """Makes the layers and calls them twice; memory as `measuring_process.Peak` has it."""
        del variant
        if precision not in ("float32", "bfloat16") or xla:
            raise ValueError("measured in float32 and bfloat16, without XLA")
        dtype = getattr(torch, precision)
        model = transformers.TapasModel(self._config).train(training)
        x = torch.randn(1, length, self._config.hidden_size)
        if not training:
            model, x = model.to(dtype), x.to(dtype)
        mask = masking_utils.create_bidirectional_mask(
            config=model.config, inputs_embeds=x, attention_mask=torch.ones(1, length)
        )
        function = functools.partial(_step, dtype) if training else _forward
        call = functools.partial(function, model.encoder, x, mask)
        with measuring_process.peak_of_block() as peak:
            call()
            call()
        self._calls[length, precision, training] = call
        return peak()._asdict()

    def run(self, length, precision, training, **_) -> tuple[float, float]:
        """Seconds on the clock and of the processors."""
        start, worked = time.perf_counter(), time.process_time()
        self._calls[length, precision, training]()
        return time.perf_counter() - start, time.process_time() - worked


def _forward(encoder, x, mask):
    with torch.inference_mode():
        return encoder(x, attention_mask=mask).last_hidden_state


def _step(dtype, encoder, x, mask):
    for parameter in encoder.parameters():
        parameter.grad = None
    with torch.autocast("cpu", dtype, enabled=dtype != torch.float32):
        loss = encoder(x, attention_mask=mask).last_hidden_state.square().mean()
    loss.backward()


def main() -> None:
    settings = json.loads(sys.argv[1])
    torch.set_num_threads(settings["threads"])
    measurements = Measurements(settings["config"])
    measuring_process.serve({"prepare": measurements.prepare, "run": measurements.run})


if __name__ == "__main__":
    main()
