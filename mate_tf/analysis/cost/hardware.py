"""The device that computes, in words. Imports TensorFlow on use only."""

import pathlib
import platform
import re

CPU_INFO = pathlib.Path("/proc/cpuinfo")


def describe() -> dict[str, str]:
    """Returns the `device` that TensorFlow computes on, and the version of `tensorflow`."""
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    names = [tf.config.experimental.get_device_details(gpu).get("device_name") for gpu in gpus]
    return {
        "device": ", ".join(name or "GPU" for name in names) or processor(),
        "tensorflow": tf.__version__,
    }


def processor() -> str:
    """Returns the name of the processor, without clock rate and trademarks."""
    text = CPU_INFO.read_text(encoding="utf-8") if CPU_INFO.exists() else ""
    match = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    name = match[1] if match else platform.processor() or platform.machine() or "CPU"
    name = re.sub(r"\((?:R|TM|r|tm)\)| CPU| Processor| @.*", "", name)
    return " ".join(name.split())
