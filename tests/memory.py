"""Settings of glibc that let it keep less of the memory that is freed."""

import ctypes
import platform

_MMAP_THRESHOLD, _ARENA_MAX = -3, -8  # of <malloc.h>


def _libc():
    return ctypes.CDLL(None) if platform.libc_ver()[0] == "glibc" else None


def keep_little() -> None:
    """Lets all threads share two arenas, and large blocks go back to the system when freed."""
    libc = _libc()
    if libc:
        libc.mallopt(_ARENA_MAX, 2)
        libc.mallopt(_MMAP_THRESHOLD, 2**20)


def give_back() -> None:
    """Gives free memory back to the system."""
    libc = _libc()
    if libc:
        libc.malloc_trim(0)
