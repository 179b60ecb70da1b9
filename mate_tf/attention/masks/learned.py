"""From importance to masks (SparseBERT paper, section 3.4), and the masks it is compared with.

Everything is NumPy, <…>[heads, n, n]; sparsity is the share of pairs that are not in a mask.
"""

import numpy as np

from mate_tf.errors import InputError


def sparsity(mask) -> float:
    """1 - |M| / n^2, over all heads together if there are some."""
    return 1.0 - float(np.mean(np.asarray(mask)))


def normalised(importance) -> np.ndarray:
    """Importance of each head, its smallest value at 0 and its largest at 1.

    The paper does not say how figure 2 is normalised. A head in which all is equal gets zeros.
    """
    importance = np.asarray(importance, np.float64)
    low, high = (f(importance, axis=(-2, -1), keepdims=True) for f in (np.min, np.max))
    return (importance - low) / np.where(high > low, high - low, 1.0)


def prune(importance, share: float) -> np.ndarray:
    """The mask without the least important pairs of each head: <bool>[heads, n, n].

    Args:
        importance: <float>[heads, n, n].
        share: of each head's pairs, how many go; rounded to whole pairs. Of equally important ones
            the first go.

    Raises:
        InputError: a share outside of 0 to 1, or importance of another shape.
    """
    importance = np.asarray(importance)
    if importance.ndim != 3 or importance.shape[1] != importance.shape[2]:
        raise InputError(f"importance is [heads, n, n], not {list(importance.shape)}")
    heads, n, _ = importance.shape
    order = np.argsort(importance.reshape(heads, -1), axis=-1, kind="stable")
    return _without(order[:, : _count(n, share)], n)


def random_mask(n: int, num_heads: int, share: float, seed: int = 0) -> np.ndarray:
    """The baseline of `prune`: as many random pairs go from each head; <bool>[heads, n, n].

    Raises:
        InputError: a share outside of 0 to 1.
    """
    return _random(n, num_heads, _count(n, share), seed)


def randomly_dropped(n: int, num_heads: int, seed: int = 0) -> np.ndarray:
    """As many random pairs off as the diagonal has, n in each head (tables 1 and 2)."""
    return _random(n, num_heads, n, seed)


def _count(n: int, share: float) -> int:
    if not 0 <= share <= 1:
        raise InputError(f"a share of pairs is between 0 and 1, not {share}")
    return round(share * n**2)


def _random(n, num_heads, count, seed):
    pairs = np.broadcast_to(np.arange(n**2), [num_heads, n**2])
    return _without(np.random.default_rng(seed).permuted(pairs, axis=-1)[:, :count], n)


def _without(pairs, n):
    mask = np.ones([len(pairs), n**2], bool)
    np.put_along_axis(mask, pairs, False, axis=-1)
    return mask.reshape(-1, n, n)
