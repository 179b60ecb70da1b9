"""A process that measures encoder layers on request (`measuring_process.serve`).

    python -m mate_tf.analysis.cost.encoder_worker '{"config": {…}, "threads": 2, "variants": []}'

`config` is an EncoderConfig as a dict. `variants` are Python files that register more variants.
"""

import dataclasses
import functools
import importlib.util
import json
import pathlib
import sys
from collections.abc import Sequence

from mate_tf.analysis.cost import gpu, measuring_process, speed


class Measurements:
    """Handlers of the requests, one method each.

    Args:
        config: EncoderConfig.
    """

    def __init__(self, config):
        self._config = config
        self._calls = {}

    def flops(self, variant: str, length: int) -> dict:
        """Counts the FLOPs of a forward pass. Returns a `flops.Count` as a dict."""
        from mate_tf.analysis.cost import encoder_layers, flops

        config = encoder_layers.variant_config(self._config, variant, length)
        return dataclasses.asdict(flops.count_layers(config, length))

    def prepare(self, **case) -> dict:
        """Builds the layers of an `encoder_layers.Case` and calls them twice.

        Returns:
            the `Peak` of these calls as a dict, in bytes; of the GPU if there is one.
        """
        from mate_tf.analysis.cost import encoder_layers

        of_case = encoder_layers.Case(**case)
        config = encoder_layers.variant_config(self._config, of_case.variant, of_case.length)
        inputs = self._inputs(of_case.length, of_case.precision)
        call = functools.partial(encoder_layers.function(config, of_case), *inputs)
        measured = gpu if gpu.devices() else measuring_process
        with measured.peak_of_block() as peak:
            speed.seconds(call)
            speed.seconds(call)
        self._calls[of_case] = call
        return peak()._asdict()

    def run(self, **case) -> tuple[float, float]:
        """Returns `speed.seconds` of a prepared case."""
        from mate_tf.analysis.cost import encoder_layers

        return speed.seconds(self._calls[encoder_layers.Case(**case)])

    def rates(self, precisions: Sequence[str] = ("float32",)) -> dict[str, float]:
        """Returns the rates of the machine, see `speed.Machine`."""
        return self._machine.rates(precisions)

    @functools.cached_property
    def _machine(self):
        return speed.Machine(speed.MATMUL_ON_GPU) if gpu.devices() else speed.Machine()

    @functools.lru_cache(maxsize=4)  # noqa: B019  one object a process
    def _inputs(self, length, precision):
        from mate_tf.analysis.cost import encoder_layers

        return encoder_layers.inputs(self._config, length, precision)


def load(path: str):
    """Imports a Python file, which may register variants, and returns the module."""
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Serves requests with the settings in the first command line argument, in JSON."""
    settings = json.loads(sys.argv[1])
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(settings["threads"])
    tf.config.threading.set_inter_op_parallelism_threads(settings["threads"])
    from mate_tf.models.encoder_config import EncoderConfig

    for path in settings["variants"]:
        load(path)
    measurements = Measurements(EncoderConfig(settings["config"]))
    names = ("flops", "prepare", "run", "rates")
    measuring_process.serve({name: getattr(measurements, name) for name in names})


if __name__ == "__main__":
    main()
