"""Masks from learned importance (SparseBERT paper, section 3.4), and random masks to compare with.

All arrays are NumPy, [heads, n, n] with the query before the key. Sparsity is the share of the
pairs that are not in a mask.
"""

import numpy as np

from mate_tf.errors import InputError


def sparsity(mask) -> float:
    """Computes 1 - |M| / n^2 of <bool>[..., n, n], over all heads together."""
    return 1.0 - float(np.mean(np.asarray(mask)))


def normalised(importance) -> np.ndarray:
    """Scales the importance of each head to the range from 0 to 1, <float64>[heads, n, n].

    The paper does not say how figure 2 is normalized. A head with equal values everywhere gets
    zeros.
    """
    importance = np.asarray(importance, np.float64)
    low, high = (f(importance, axis=(-2, -1), keepdims=True) for f in (np.min, np.max))
    return (importance - low) / np.where(high > low, high - low, 1.0)


def prune(importance, share: float) -> np.ndarray:
    """Removes the least important pairs of each head: returns <bool>[heads, n, n].

    Args:
        importance: <float>[heads, n, n].
        share: share of each head's pairs to remove, from 0 to 1, rounded to whole pairs. Among
            equally important pairs the first ones are removed.

    Raises:
        InputError: `share` out of range, or importance of another shape.
    """
    importance = np.asarray(importance)
    if importance.ndim != 3 or importance.shape[1] != importance.shape[2]:
        raise InputError(f"importance is [heads, n, n], not {list(importance.shape)}")
    heads, n, _ = importance.shape
    order = np.argsort(importance.reshape(heads, -1), axis=-1, kind="stable")
    return _without(order[:, : _count(n, share)], n)


def random_mask(n: int, num_heads: int, share: float, seed: int = 0) -> np.ndarray:
    """Removes a share of random pairs from each head: the baseline of `prune`.

    Args:
        share: share of each head's pairs to remove, from 0 to 1.

    Returns:
        <bool>[heads, n, n]

    Raises:
        InputError: `share` out of range.
    """
    pairs = np.broadcast_to(np.arange(n**2), [num_heads, n**2])
    removed = np.random.default_rng(seed).permuted(pairs, axis=-1)[:, : _count(n, share)]
    return _without(removed, n)


def _count(n: int, share: float) -> int:
    if not 0 <= share <= 1:
        raise InputError(f"a share of pairs is between 0 and 1, not {share}")
    return round(share * n**2)


def _without(pairs, n):
    mask = np.ones([len(pairs), n**2], bool)
    np.put_along_axis(mask, pairs, False, axis=-1)
    return mask.reshape(-1, n, n)
