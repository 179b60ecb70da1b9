"""A process that measures encoder layers on request (`workers.serve`).

    python -m mate_tf.analysis.cost.encoder_worker '{"config": {…}, "threads": 2, "variants": []}'

`config` is an EncoderConfig as a dict, `variants` are Python files that register further ones.
"""

import dataclasses
import functools
import importlib.util
import json
import pathlib
import sys

from mate_tf.analysis.cost import memory, speed, workers


class Measurements:
    """What is asked for, by the names of the requests.

    Args:
        config: EncoderConfig.
    """

    def __init__(self, config):
        self._config = config
        self._calls = {}

    def flops(self, variant: str, length: int) -> dict:
        """Of a forward pass, a `flops.Count` as a dict."""
        from mate_tf.analysis.cost import encoder_layers, flops

        config = encoder_layers.of_variant(self._config, variant, length)
        return dataclasses.asdict(flops.of_layers(config, length))

    def prepare(self, **case) -> dict:
        """Makes the layers of an `encoder_layers.Case` and calls them twice; its memory.Peak."""
        from mate_tf.analysis.cost import encoder_layers

        of_case = encoder_layers.Case(**case)
        config = encoder_layers.of_variant(self._config, of_case.variant, of_case.length)
        inputs = self._inputs(of_case.length, of_case.precision)
        call = functools.partial(encoder_layers.function(config, of_case), *inputs)
        with memory.peak_of_block() as peak:
            speed.seconds(call)
            speed.seconds(call)
        self._calls[of_case] = call
        return peak()._asdict()

    def run(self, **case) -> tuple[float, float]:
        """What `speed.seconds` gives for a case that is prepared."""
        from mate_tf.analysis.cost import encoder_layers

        return speed.seconds(self._calls[encoder_layers.Case(**case)])

    def rates(self) -> dict[str, float]:
        """What the machine can do, see `speed.Machine`."""
        return self._machine.rates()

    @functools.cached_property
    def _machine(self):
        return speed.Machine()

    @functools.lru_cache(maxsize=4)  # noqa: B019  one object a process
    def _inputs(self, length, precision):
        from mate_tf.analysis.cost import encoder_layers

        return encoder_layers.inputs(self._config, length, precision)


def load(path: str):
    """The module in a Python file, which may register variants."""
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    settings = json.loads(sys.argv[1])
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(settings["threads"])
    tf.config.threading.set_inter_op_parallelism_threads(settings["threads"])
    from mate_tf.models.encoder_config import EncoderConfig

    for path in settings["variants"]:
        load(path)
    measurements = Measurements(EncoderConfig(settings["config"]))
    names = ("flops", "prepare", "run", "rates")
    workers.serve({name: getattr(measurements, name) for name in names})


if __name__ == "__main__":
    main()
