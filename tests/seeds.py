"""Seeds of a run of tests; TensorFlow keeps the kernels it has built when it gets a new one."""

import random
import sys
import zlib

import numpy as np


class _Draws:
    """Whether a kernel that is left may have drawn by the seed, so that it must not be kept.
    TensorFlow's own kernels with a state ask for a seed when they are made: once for each eager
    operation, which a new seed ends, and once for an operation of a graph, which may run again."""

    eager = in_graph = False


def begin(name: str, seed: int):
    """Seeds Python, NumPy and, if it is imported, TensorFlow, by a seed and the name of a test.
    Returns TensorFlow's context, or None if it is not imported."""
    own = zlib.crc32(f"{seed} {name}".encode()) % 2**31
    random.seed(own)
    np.random.seed(own)
    if "tensorflow" not in sys.modules:
        return None
    _keep_kernels()
    context = sys.modules["tensorflow.python.eager.context"].context()
    # As tf.random.set_seed does, but all kernels stay: no other test has this seed, so none of them
    # has drawn by it.
    context._seed, context._rng = own, random.Random(own)
    backend = sys.modules.get("tf_keras.src.backend")
    if backend:  # a test that has called set_random_seed has left a generator there
        backend._SEED_GENERATOR.generator = random.Random(own)
    return context


def forget_graphs() -> None:
    """Says that no graph is left which draws by the seed."""
    _Draws.in_graph = False


def _keep_kernels() -> None:
    """Lets tf.random.set_seed build kernels anew only if one of them has drawn numbers. To build
    them, and functions above all, took a third of the time of tests that set a seed for each layer
    they make. Initial weights and the draws of this library have no state in kernels."""
    context = sys.modules["tensorflow.python.eager.context"]
    seeds = sys.modules["tensorflow.python.framework.random_seed"]
    if hasattr(seeds.get_seed, "counts"):
        return
    get_seed, set_global_seed = seeds.get_seed, context.Context._set_global_seed

    def get_and_note(op_seed):
        if context.executing_eagerly():
            _Draws.eager = True
        else:
            _Draws.in_graph = True
        return get_seed(op_seed)

    def set_and_keep(self, seed):
        if _Draws.eager or _Draws.in_graph:
            set_global_seed(self, seed)
            _Draws.eager = False
        else:
            self._seed, self._rng = seed, random.Random(int(seed))

    get_and_note.counts = True
    seeds.get_seed, context.Context._set_global_seed = get_and_note, set_and_keep
