"""Static masks: masks of positions only (SparseBERT paper, section 2.2 and figure 1).

Each is a function of the length n: <bool>[n, n], query before key, an array if n is an int and a
tensor if n is an <int>[]. Docstrings give the sparsity at n = 128, with and without the diagonal.
These are the figures of the paper (tables 3 and 4). Where its text describes another mask, the
function has the sparsity of the tables, and its docstring says so.
"""

import numpy as np
import tensorflow as tf

from mate_tf.errors import InputError

_PRIME = 2**31 - 1


def star(n, diagonal: bool = True):
    """Computes the mask of Star-Transformer: neighbours and the first token; 96.1 and 96.9 %.

    The ring of the neighbours is open between the last token and the second one. Closed, it would
    join unrelated tokens, or padding.
    """
    i, j = _positions(n)
    return _masked((abs(i - j) <= 1) | (i == 0) | (j == 0), i, j, diagonal)


def logsparse(n, diagonal: bool = True):
    """Computes the mask of LogSparse: distances 1, 2, 4, 8, … on both sides; 89.8 and 90.6 %.

    In the paper's text a token attends to earlier tokens only, which would be 94.5 %.
    """
    i, j = _positions(n)
    distance = abs(i - j)
    return _masked((distance & (distance - 1)) == 0, i, j, diagonal)


def strided(n, stride: int = 4, diagonal: bool = True):
    """Computes the strided mask of Sparse Transformer; 70.4 and 71.2 %.

    It allows distances below `stride` and multiples of `stride`.
    """
    _check(stride=stride, least=1)
    i, j = _positions(n)
    distance = abs(i - j)
    return _masked((distance < stride) | (distance % stride == 0), i, j, diagonal)


def fixed(n, stride: int = 4, diagonal: bool = True):
    """Computes the fixed mask of Sparse Transformer; 72.7 and 73.4 %.

    It allows pairs within a block of `stride` tokens, and the last token of each block as key.
    """
    _check(stride=stride, least=1)
    i, j = _positions(n)
    return _masked((i // stride == j // stride) | (j % stride == stride - 1), i, j, diagonal)


def longformer(n, window: int = 5, num_global: int = 2, seed: int = 0, diagonal: bool = True):
    """Computes the mask of Longformer: a window and random global tokens; 88.7 and 89.5 %.

    The paper's text says window 2, which would be 93.1 %. One global token is drawn from each of
    `num_global` equal parts of the sequence.
    """
    _check(window=window, num_global=num_global)
    i, j = _positions(n)
    mask = abs(i - j) <= window
    for position in _drawn_positions(_draws(seed, num_global), n):
        mask |= (i == position) | (j == position)
    return _masked(mask, i, j, diagonal)


def bigbird(n, window: int = 1, num_random: int = 2, seed: int = 0, diagonal: bool = True):
    """Computes the mask of BigBird by tokens; 93.11 and 93.89 % (paper: 93.2 and 93.9).

    It allows a window, `num_random` random keys of each query, one from each of as many equal parts
    of the sequence, and all pairs with the first or the last token. The random keys of a query may
    be in its window: how many, `seed` decides.
    """
    _check(window=window, num_random=num_random)
    i, j = _positions(n)
    last = _length(n) - 1
    mask = (abs(i - j) <= window) | (i == 0) | (j == 0) | (i == last) | (j == last)
    for position in _drawn_positions([_hash(i, draw) for draw in _draws(seed, num_random)], n):
        mask |= j == position
    return _masked(mask, i, j, diagonal)


MASKS = {mask.__name__: mask for mask in (star, logsparse, strided, fixed, longformer, bigbird)}
"""The functions of this module by name."""


def _positions(n):
    """Returns the positions of queries and of keys, <int64>[n, 1] and [1, n]."""
    positions = np.arange(n, dtype=np.int64) if isinstance(n, int) else tf.range(_length(n))
    return positions[:, None], positions[None, :]


def _length(n):
    return n if isinstance(n, int) else tf.cast(n, tf.int64)


def _masked(mask, i, j, diagonal):
    return mask if diagonal else mask & (i != j)


def _draws(seed: int, count: int) -> list[int]:
    """Draws `count` random numbers below _PRIME."""
    return np.random.default_rng(seed).integers(_PRIME, size=count).tolist()


def _hash(i, draw: int):
    """Returns a pseudo-random number below _PRIME for each i, equal in NumPy and TensorFlow."""
    for factor in (48271, 69621, 16807):
        i = (i * i + i * factor + draw) % _PRIME
    return i


def _drawn_positions(draws: list, n) -> list:
    """Maps the k-th draw, a number below _PRIME, to a position in the k-th equal part of n."""
    count = len(draws)
    return [(k * _PRIME + draw) * _length(n) // (count * _PRIME) for k, draw in enumerate(draws)]


def _check(least: int = 0, **options) -> None:
    for name, value in options.items():
        if value < least:
            raise InputError(f"{name} must be {least} or more, not {value}")
