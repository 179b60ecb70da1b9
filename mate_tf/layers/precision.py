"""Choice of the precision that layers compute in."""

import contextlib
import functools
import pathlib
import re
from typing import NamedTuple

import tensorflow as tf

from mate_tf.layers.framework import keras

PRECISIONS = ("float32", "bfloat16", "float16")
"""Precisions of the layers; variables, heads and losses stay float32."""

INT8 = "int8"
"""Weights of 8 bits, for answers only (`serving.engine`)."""

AUTO = "auto"
"""The value that stands for `choose().precision`."""

_AMPERE = (8, 0)  # compute capability of the first GPUs with bfloat16 matmuls


class Choice(NamedTuple):
    """A precision, and why it was chosen, in words."""

    precision: str
    reason: str


@contextlib.contextmanager
def policy(precision: str | None):
    """Sets Keras's global dtype policy within a block, and restores it at the end.

    Args:
        precision: one of PRECISIONS; None or "" for no change.
    """
    before = keras.mixed_precision.global_policy()
    if precision:
        name = precision if precision == "float32" else f"mixed_{precision}"
        keras.mixed_precision.set_global_policy(name)
    try:
        yield
    finally:
        keras.mixed_precision.set_global_policy(before)


@functools.cache
def choose() -> Choice:
    """Chooses bfloat16 where processor or GPUs have matmuls in it, else float32.

    float16 is never chosen: its range is small, and without such matmuls it is slower.
    """
    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        details = [tf.config.experimental.get_device_details(gpu) for gpu in gpus]
        if all(each.get("compute_capability", (0, 0)) >= _AMPERE for each in details):
            return Choice("bfloat16", "the GPU has bfloat16 matmuls")
        return Choice("float32", "the GPU has no bfloat16 matmuls")
    reason = bfloat16()
    if reason:
        return Choice("bfloat16", f"the processor has {reason}")
    return Choice("float32", "the processor has no bfloat16 matmuls")


def resolve(precision: str | None) -> str | None:
    """Returns the precision that AUTO stands for; any other one as it is."""
    return choose().precision if precision == AUTO else precision


CPU_INFO = pathlib.Path("/proc/cpuinfo")

_BFLOAT16 = ("amx_bf16", "avx512_bf16", "bf16")
"""Names on x86, and on ARM the last."""


def bfloat16() -> str:
    """Returns the name of the instructions for bfloat16 matmuls; "" without, or if unknown."""
    if not CPU_INFO.exists():
        return ""
    text = CPU_INFO.read_text(encoding="utf-8")
    lines = re.findall(r"^(?:flags|Features)\s*:(.*)$", text, re.MULTILINE)
    names = set(" ".join(lines).split())
    return next((name for name in _BFLOAT16 if name in names), "")
