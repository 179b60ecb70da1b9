"""Peak memory of a call, from Linux's account of this process. Imports the standard library only.

What the system gave to a process once, it often keeps: a peak means something only in a process
that has done nothing else before.
"""

import contextlib
import pathlib
from typing import NamedTuple


class Peak(NamedTuple):
    """Memory in bytes.

    Attributes:
        increment: how much more there was at the most than before the call, which is when weights
            and inputs are there already.
        peak: of the whole process.
    """

    increment: int
    peak: int


def status(field: str) -> int:
    """A field of /proc/self/status such as VmRSS, in bytes."""
    text = pathlib.Path("/proc/self/status").read_text(encoding="utf-8")
    return int(text.split(field + ":")[1].split()[0]) * 1024


@contextlib.contextmanager
def peak_of_block():
    """Gives a function that tells, after the block, the `Peak` within it."""
    before = status("VmRSS")
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    found = []
    yield lambda: found[0]
    peak = status("VmHWM")
    found.append(Peak(max(peak - before, 0), peak))
