"""Instructions that the processor has."""

import pathlib
import re

CPU_INFO = pathlib.Path("/proc/cpuinfo")

_BFLOAT16 = ("amx_bf16", "avx512_bf16", "bf16")
"""Names on x86, and on ARM the last."""


def bfloat16() -> str:
    """Returns the name of the instructions for products in bfloat16; "" without, or if unknown."""
    if not CPU_INFO.exists():
        return ""
    text = CPU_INFO.read_text(encoding="utf-8")
    lines = re.findall(r"^(?:flags|Features)\s*:(.*)$", text, re.MULTILINE)
    names = set(" ".join(lines).split())
    return next((name for name in _BFLOAT16 if name in names), "")
