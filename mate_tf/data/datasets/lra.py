"""Reads the text, retrieval and image tasks of Long Range Arena (Tay et al., 2021).

ListOps is in `listops`.
"""

import os
import pathlib
import pickle
from collections.abc import Iterator

import numpy as np
import tensorflow as tf

from mate_tf.data.converters.sequences import interaction
from mate_tf.data.datasets import tsv
from mate_tf.errors import InputError
from mate_tf.files import paths
from mate_tf.protos import interaction_pb2
from mate_tf.tables.files import read_text

REVIEW_CLASSES = ("negative", "positive")
CITATION_CLASSES = ("unrelated", "citing")
IMAGE_CLASSES = (
    *("airplane", "automobile", "bird", "cat", "deer"),
    *("dog", "frog", "horse", "ship", "truck"),
)
PIXELS = tuple(map(str, range(256)))
"""Vocabulary of images."""

IMAGE_SIZE = 32

_REVIEW_FOLDERS = {"train": "train", "dev": "test", "test": "test"}
_REVIEW_LABELS = ("neg", "pos")
_PAIR_FILES = {"train": "train", "dev": "eval", "test": "test"}
_PAIR_COLUMNS = ("label", "id1", "id2", "text1", "text2")
_PAIR_LABELS = {"0": 0, "0.0": 0, "1": 1, "1.0": 1}
_IMAGE_FILES = {
    "train": [f"data_batch_{number}" for number in range(1, 6)],
    "test": ["test_batch"],
}
_DEV_SHARE = 0.1
_COLORS = 3


def read_reviews(input_dir: str | os.PathLike, split: str) -> Iterator[interaction_pb2.Interaction]:
    """Reads reviews of IMDb (Maas et al., 2011), one per file as in aclImdb_v1.

    The class is the opinion. There is no official "dev"; as in Long Range Arena, it is the test
    set.

    Args:
        input_dir: folder with train/neg, train/pos, test/neg and test/pos.
        split: "train", "dev" or "test".

    Raises:
        InputError: if the split is unknown, a folder is missing or has no reviews, or a review is
            not UTF-8 text; the message names it.
    """
    folder = pathlib.Path(input_dir) / _name_of_split("IMDb", _REVIEW_FOLDERS, split)
    for label, name in enumerate(_REVIEW_LABELS):
        paths = sorted((folder / name).glob("*.txt"))
        if not paths:
            raise InputError(f"{folder / name}: has no reviews, files *.txt")
        for path in paths:
            yield interaction(
                f"imdb_{split}_{name}_{path.stem}", [read_text(path)], class_index=label
            )


def read_citations(
    input_dir: str | os.PathLike, split: str
) -> Iterator[interaction_pb2.Interaction]:
    """Reads pairs of papers of the ACL Anthology Network; class 1 if one cites the other.

    The texts are not changed, as in Long Range Arena.

    Args:
        input_dir: folder with new_aan_pairs.train.tsv, .eval.tsv and .test.tsv.
        split: "train", "dev" or "test".

    Raises:
        InputError: if the split is unknown, or a file is missing or malformed; the message names
            file and line.
    """
    name = f"new_aan_pairs.{_name_of_split('AAN', _PAIR_FILES, split)}.tsv"
    rows = tsv.read(pathlib.Path(input_dir) / name, _PAIR_COLUMNS, header=False)
    for number, (where, row) in enumerate(rows):
        if row["label"] not in _PAIR_LABELS:
            raise InputError(f"{where}: label is {row['label']!r}, expected 0 or 1")
        yield interaction(
            f"aan_{split}_{number}",
            [row["text1"], row["text2"]],
            class_index=_PAIR_LABELS[row["label"]],
        )


def read_images(input_dir: str | os.PathLike, split: str) -> Iterator[interaction_pb2.Interaction]:
    """Reads images of CIFAR-10 as sequences of 1,024 grey values, row by row.

    The class is the object. Grey values are computed by `tf.image.rgb_to_grayscale`, as in Long
    Range Arena. "dev" is the last tenth of the training images. (Long Range Arena takes the last
    tenth in the order of TensorFlow Datasets, which differs.)

    Args:
        input_dir: folder with the Python version's data_batch_1 to 5 and test_batch.
        split: "train", "dev" or "test".

    Raises:
        InputError: if the split is unknown, or a file is missing or malformed; the message names
            it.
    """
    _name_of_split("CIFAR-10", {"train": "", "dev": "", "test": ""}, split)
    names = _IMAGE_FILES["test" if split == "test" else "train"]
    batches = [_image_batch(pathlib.Path(input_dir) / name) for name in names]
    colors, labels = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    first_dev = len(labels) - round(_DEV_SHARE * len(labels))
    kept = {"train": range(first_dev), "dev": range(first_dev, len(labels))}.get(
        split, range(len(labels))
    )
    for index in kept:
        yield interaction(
            f"cifar10_{split}_{index}",
            [" ".join(map(str, _grey(colors[index])))],
            class_index=int(labels[index]),
        )


def _grey(colors: np.ndarray) -> np.ndarray:
    """Converts <uint8>[3072] (all red, all green, all blue values) to grey <uint8>[1024]."""
    planes = colors.reshape(_COLORS, IMAGE_SIZE, IMAGE_SIZE)
    return tf.image.rgb_to_grayscale(planes.transpose(1, 2, 0)).numpy().ravel()


class _Unpickler(pickle.Unpickler):
    """Unpickler of arrays only, since a pickle of other classes may run any code."""

    _ALLOWED = frozenset(
        (module, name)
        for module in ("numpy", "numpy.core.multiarray", "numpy._core.multiarray", "_codecs")
        for name in ("ndarray", "dtype", "_reconstruct", "encode")
    )

    def find_class(self, module, name):
        """Returns one of the allowed classes; raises UnpicklingError for others."""
        if (module, name) not in self._ALLOWED:
            raise pickle.UnpicklingError(f"{module}.{name} is not part of a CIFAR-10 batch")
        return super().find_class(module, name)


def _image_batch(path: pathlib.Path) -> tuple[np.ndarray, np.ndarray]:
    """Reads colours <uint8>[images, 3072] and labels <int>[images] of a file."""
    try:
        with paths.open_regular(path) as file:
            content = _Unpickler(file, encoding="bytes").load()
        colors, labels = np.asarray(content[b"data"]), np.asarray(content[b"labels"])
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except Exception as error:  # a damaged pickle raises nearly anything
        raise InputError(f"{path}: is not a batch of CIFAR-10 for Python: {error!r}") from error
    shape = (len(labels), _COLORS * IMAGE_SIZE**2)
    if colors.dtype != np.uint8 or colors.shape != shape or labels.dtype.kind != "i":
        raise InputError(
            f"{path}: has {colors.dtype}{list(colors.shape)} for {len(labels)} labels, "
            f"expected uint8{list(shape)}"
        )
    if not len(labels) or labels.min() < 0 or labels.max() >= len(IMAGE_CLASSES):
        raise InputError(f"{path}: its labels are not from 0 to {len(IMAGE_CLASSES) - 1}")
    return colors, labels


def _name_of_split(name: str, splits: dict[str, str], split: str) -> str:
    """Returns the entry of a split; raises InputError if it is unknown."""
    if split not in splits:
        raise InputError(f"{name} has no split {split!r}, only {', '.join(splits)}")
    return splits[split]
