"""Masks in .npz files: one mask for all layers, by head, and how it was made."""

import io
import json
import os
import zipfile
from collections.abc import Mapping

import numpy as np
import tensorflow as tf

from mate_tf.errors import InputError
from mate_tf.files import paths, zips
from mate_tf.files.atomic import atomic_path

_LARGEST = 2**30  # bytes, unpacked; a mask of 16 heads for 16,384 tokens has half of it
_RATIO = 2**30  # a mask without a pair packs as tightly as zeros do


def save(path: str | os.PathLike, mask, made_by: Mapping = {}, of_last_token: bool = False) -> None:
    """Writes a mask to one .npz file, atomically.

    The file has `bits`, the mask's rows packed into bytes (<uint8>[heads, n, ceil(n / 8)], first
    position in the highest bit), `shape` (heads, n), `made_by`, a JSON text, and `of_last_token`,
    0 or 1.

    Args:
        mask: <bool>[1 or heads, n, n], query before key.
        made_by: how it was made, such as the options of its training; JSON values.
        of_last_token: whether the last row and column are those of each example's last token,
            wherever it is, and not of position n - 1.

    Raises:
        InputError: `mask` has another shape or dtype, or the file cannot be written.
    """
    mask = np.asarray(mask)
    if mask.dtype != bool or mask.ndim != 3 or mask.shape[1] != mask.shape[2] or not mask.size:
        raise InputError(
            f"{path}: a mask is <bool>[heads, n, n], not <{mask.dtype}>{list(mask.shape)}"
        )
    with atomic_path(path) as temporary, tf.io.gfile.GFile(temporary, "wb") as file:
        buffer = io.BytesIO()  # np.savez seeks, which remote files cannot
        np.savez_compressed(
            buffer,
            bits=np.packbits(mask, axis=-1),
            shape=np.array(mask.shape[:2]),
            made_by=np.array(json.dumps(dict(made_by), sort_keys=True)),
            of_last_token=np.array(int(of_last_token)),
        )
        file.write(buffer.getvalue())


def load(path: str | os.PathLike, num_heads: int | None = None) -> np.ndarray:
    """Reads a mask from a file that `save` wrote, <bool>[1 or heads, n, n].

    Args:
        num_heads: number of heads that the mask must fit; None: any.

    Raises:
        InputError: there is no such file, it is not a file of a mask, or the mask has neither 1 nor
            `num_heads` heads.
    """
    stored = _read(path)
    heads, n = stored["shape"]
    if num_heads is not None and heads not in (1, num_heads):
        raise InputError(f"{path}: a mask for {heads} heads, but the layers have {num_heads}")
    return np.unpackbits(stored["bits"], axis=-1, count=n).astype(bool)


def made_by(path: str | os.PathLike) -> dict:
    """Reads how the mask in a file was made, the argument `made_by` of `save`.

    Raises:
        InputError: there is no such file, or it is not a file of a mask.
    """
    return _read(path)["made_by"]


def has_last_token(path: str | os.PathLike) -> bool:
    """Reads the argument `of_last_token` of `save`; False for files that are older than it.

    Raises:
        InputError: there is no such file, or it is not a file of a mask.
    """
    return _read(path)["of_last_token"]


def _read(path) -> dict:
    path = os.fspath(path)
    try:
        if tf.io.gfile.exists(path):
            paths.check_regular(path)
        with tf.io.gfile.GFile(path, "rb") as file:
            content = file.read()
    except tf.errors.OpError as error:
        raise InputError(f"{path}: no mask has this name, and no such file") from error
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            zips.check(archive, len(content), _LARGEST, _RATIO)
        stored = dict(np.load(io.BytesIO(content), allow_pickle=False))
        heads, n = (int(size) for size in stored["shape"])
        bits = stored["bits"]
        fits = bits.dtype == np.uint8 and bits.shape == (heads, n, -(-n // 8))
        stored["made_by"] = json.loads(str(stored["made_by"]))
        stored["of_last_token"] = bool(int(stored.get("of_last_token", 0)))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    except Exception as error:  # a broken array can raise any exception
        raise InputError(f"{path}: not the file of a mask") from error
    if not fits:
        raise InputError(f"{path}: not the file of a mask")
    return stored | {"shape": (heads, n)}
