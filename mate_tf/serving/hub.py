"""Models by their names on the Hugging Face hub. Does not import TensorFlow."""

import importlib.util
import os
import re

from mate_tf.errors import InputError

_PART = r"[\w-][\w.-]*"
_NAME = re.compile(rf"({_PART}/{_PART})(?:@({_PART}(?:/{_PART})*))?")
_OF_A_FILE = re.compile(r"\.(ckpt|index|bin|safetensors|json|pt|h5)\b|\bckpt-\d+$")
_WEIGHTS = (
    ("model*.safetensors", "model.safetensors.index.json"),
    ("pytorch_model*.bin", "pytorch_model.bin.index.json"),
)
"""Patterns of files with weights. Only one kind is fetched, the first that a model has."""

_OTHERS = (
    "config.json",
    "config.yaml",
    "vocab.txt",
    "tokenizer.json",
    "tokenizer_config.json",
    "calibration.json",
)


def is_name(text: str) -> bool:
    """Returns whether a text can name a model, such as "google/tapas-base-finetuned-wtq".

    An @ precedes a revision: a branch, a tag or a commit. A path that begins with an existing
    folder is not a name, and neither is one of a file.
    """
    match = _NAME.fullmatch(text)
    is_path = match and (_OF_A_FILE.search(match[1]) or os.path.exists(text.split("/")[0]))
    return bool(match) and not is_path


def model(name: str) -> str:
    """Returns a name without its revision."""
    return name.partition("@")[0]


def pinned(name: str, folder: str) -> str:
    """Returns the name of a model with the commit that was fetched, which names it for ever.

    Args:
        name: owner and name of a model, with or without a revision.
        folder: what `fetch` returned; huggingface_hub names it by the commit.
    """
    return f"{model(name)}@{os.path.basename(folder)}"


def fetch(name: str) -> str:
    """Downloads a model, unless it is in the cache of huggingface_hub.

    The cache, the token for private models and offline use are those of huggingface_hub
    (HF_HOME, HF_TOKEN, HF_HUB_OFFLINE).

    Args:
        name: owner and name of a model; after an @ the revision, by default the newest.

    Returns:
        the folder with its files in the cache.

    Raises:
        InputError: huggingface_hub is not installed; there is no such model or revision; the hub
            cannot be reached and the model is not in the cache.
    """
    if importlib.util.find_spec("huggingface_hub") is None:
        raise InputError(
            f"{name}: no such folder; to fetch it from the Hugging Face hub: "
            "pip install 'mate-tf[hub]'"
        )
    import huggingface_hub

    revision = name.partition("@")[2] or None
    for weights in _WEIGHTS:
        try:
            folder = huggingface_hub.snapshot_download(
                model(name), revision=revision, allow_patterns=[*weights, *_OTHERS]
            )
        except Exception as error:  # each version of the library has other classes for the network
            raise InputError(
                f"{name}: no such folder, and not fetched from the Hugging Face hub: "
                f"{_reason(error)}"
            ) from error
        if any(file.endswith((".safetensors", ".bin")) for file in os.listdir(folder)):
            return folder
    raise InputError(f"{name}: this model has no weights as .safetensors or .bin")


def _reason(error: Exception) -> str:
    """Returns why a model was not fetched, in one sentence."""
    from huggingface_hub import errors

    if isinstance(error, errors.RepositoryNotFoundError):  # also one that needs a token
        return "there is no model of this name, or it needs a token (HF_TOKEN)"
    if isinstance(error, errors.RevisionNotFoundError):
        return "the model has no such revision"
    if isinstance(error, errors.LocalEntryNotFoundError):
        return "it cannot be reached, and the model is not in the cache"
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
