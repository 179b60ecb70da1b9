"""Peak memory of a call, from Linux's /proc/self. Imports the standard library only.

A process often keeps memory that it has freed. So a peak is meaningful only in a process that has
done nothing else before.
"""

import contextlib
import pathlib
from typing import NamedTuple


class Peak(NamedTuple):
    """Memory in bytes.

    Attributes:
        increment: peak minus the memory before the call, when weights and inputs already exist.
        peak: peak of the whole process.
    """

    increment: int
    peak: int


def status(field: str) -> int:
    """Returns a field of /proc/self/status, such as VmRSS, in bytes."""
    text = pathlib.Path("/proc/self/status").read_text(encoding="utf-8")
    return int(text.split(field + ":")[1].split()[0]) * 1024


@contextlib.contextmanager
def peak_of_block():
    """Yields a function that returns the `Peak` within the block, once the block has ended."""
    before = status("VmRSS")
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    found = []
    yield lambda: found[0]
    peak = status("VmHWM")
    found.append(Peak(max(peak - before, 0), peak))
