"""GPUs that are measured: names, memory, and the peak memory of calls.

Imports TensorFlow on use only. The first operation of a process takes all memory of a GPU, unless
`ENVIRONMENT` is set before. So the process that prints the report leaves GPUs to its workers.
"""

import contextlib
import csv
import os
import shutil
import subprocess

from mate_tf.analysis.cost.measuring_process import Peak

ENVIRONMENT = {"TF_FORCE_GPU_ALLOW_GROWTH": "true", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
"""Environment of workers: several processes share a GPU, numbered as nvidia-smi does."""

_QUERY = ("nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader")


def devices() -> list:
    """Returns TensorFlow's GPUs, without a claim on their memory."""
    import tensorflow as tf

    return tf.config.list_physical_devices("GPU")


def leave_to_workers() -> None:
    """Hides GPUs from this process. Does nothing without a GPU."""
    import tensorflow as tf

    if devices():
        with contextlib.suppress(RuntimeError):  # in use already
            tf.config.set_visible_devices([], "GPU")


def describe() -> list[str]:
    """Returns a line for each GPU, and one if the driver lists GPUs that TensorFlow does not see.

    Names and compute capabilities are TensorFlow's; memory and driver are those of nvidia-smi.
    """
    import tensorflow as tf

    visible, listed = devices(), _listed()
    lines = []
    for number, device in enumerate(visible):
        details = tf.config.experimental.get_device_details(device)
        name = details.get("device_name", "GPU")
        facts = [f"GPU {number}: {name}"]
        if "compute_capability" in details:
            facts.append("compute capability {}.{}".format(*details["compute_capability"]))
        # Other GPUs may be hidden; equal names have equal memory.
        same = [each for each in listed if each[0] == name]
        if same:
            facts.append(f"{same[0][1]}, driver {same[0][2]}")
        lines.append(", ".join(facts))
    if listed and not visible:
        names = ", ".join(each[0] for each in listed)
        lines.append(
            f"nvidia-smi lists {names}, but TensorFlow sees no GPU: pip install 'mate-tf[gpu]', "
            "and see docs/gpus.md"
        )
    return lines


def _listed() -> list[list[str]]:
    """Returns [name, memory, driver] of each GPU that nvidia-smi lists."""
    if os.environ.get("CUDA_VISIBLE_DEVICES") == "-1" or not shutil.which(_QUERY[0]):
        return []
    result = subprocess.run(_QUERY, capture_output=True, text=True, timeout=60)
    rows = csv.reader(result.stdout.splitlines(), skipinitialspace=True)
    return [row for row in rows if len(row) == 3] if result.returncode == 0 else []


@contextlib.contextmanager
def peak_of_block():
    """Yields a function that returns the `Peak` of the first GPU's memory within the block."""
    import tensorflow as tf

    before = tf.config.experimental.get_memory_info("GPU:0")["current"]
    tf.config.experimental.reset_memory_stats("GPU:0")
    peaks = []
    yield lambda: peaks[0]
    peak = tf.config.experimental.get_memory_info("GPU:0")["peak"]
    peaks.append(Peak(max(peak - before, 0), peak))
