"""Kind and files of a folder with a trained model. Does not import TensorFlow."""

import dataclasses
import enum
import os
import re

from mate_tf.errors import InputError

VOCABULARY_FILES = ("vocab.txt", "tokenizer.json")
WEIGHTS = "model.safetensors"
"""Weights of a preset, and of most of Hugging Face's models."""

POINTR = "pointr.json"
"""File in a folder with both models of POINTR, which are in folders in it."""


class Kind(enum.Enum):
    """Kind of a folder; the value is the file that tells it."""

    EXPORT = "saved_model.pb"
    TRAINED = "params.yaml"
    PRESET = "config.yaml"
    HUGGING_FACE = "config.json"
    TAPAS = "bert_config.json"


_DESCRIPTIONS = {
    Kind.HUGGING_FACE: "a Hugging Face model",
    Kind.TAPAS: "a TAPAS checkpoint",
    Kind.TRAINED: "a --model_dir",
    Kind.PRESET: "a preset",
    Kind.EXPORT: "an --export_dir",
}
TASKS = {
    "sqa": "SQA",
    "wtq": "WTQ",
    "wikisql": "WIKISQL_SUPERVISED",
    "tabfact": "TABFACT",
}
"""Word in the name of a TAPAS checkpoint -> task. Those of WikiSQL are supervised."""


@dataclasses.dataclass(frozen=True)
class Source:
    """A trained model on disk.

    Attributes:
        name: folder as the user gave it, or name of a model on the hub with its commit.
        title: the last part of the name: what the folder, or the model on the hub, is called.
        kind: the kind of its files.
        folder: folder with its configuration and vocabulary.
        checkpoint: what `checkpoints.load` reads: the folder, or the checkpoint that was named.
    """

    name: str
    title: str
    kind: Kind
    folder: str
    checkpoint: str

    @property
    def task(self) -> str | None:
        """Task in the title, such as "WTQ" for tapas_wtq_wikisql_sqa_inter_masklm_base_reset.

        If there are several, it is the first one, which was trained last.
        """
        return next((TASKS[word] for word in self._words() if word in TASKS), None)

    @property
    def resets_positions(self) -> bool:
        """Returns whether positions restart in each cell by the title, as in TAPAS's names."""
        return "reset" in self._words()

    def file(self, *names: str) -> str | None:
        """Returns the path of the first of these files that is in the folder."""
        paths = (os.path.join(self.folder, name) for name in names)
        return next(filter(os.path.isfile, paths), None)

    def needed(self, *names: str) -> str:
        """Returns the path of the first of these files; InputError if the folder has none."""
        path = self.file(*names)
        if path is None:
            raise InputError(f"{self.folder}: has no {' or '.join(names)}")
        return path

    def _words(self) -> list[str]:
        return re.split(r"[^a-z0-9]+", self.title.lower())


def find(folder_or_name: str | os.PathLike) -> Source:
    """Finds a trained model.

    Args:
        folder_or_name: a folder; a checkpoint in one, by its file or prefix; or the name of a model
            on the Hugging Face hub, with or without @revision, which is fetched.

    Raises:
        InputError: there is nothing of that name, or files of the model are missing.
    """
    name = os.path.expanduser(os.fspath(folder_or_name))
    title = ""
    if os.path.isdir(name):
        folder = checkpoint = name
    elif os.path.isfile(name) or os.path.isfile(f"{name}.index"):
        folder, checkpoint = os.path.dirname(name) or ".", name
    else:
        from mate_tf.serving import hub  # few models are there

        if not hub.is_name(name):
            raise InputError(f"{name}: no such folder or checkpoint")
        folder = checkpoint = hub.fetch(name)
        title, name = hub.model(name).partition("/")[2], hub.pinned(name, folder)
    title = title or os.path.basename(os.path.abspath(folder))
    source = Source(name, title, _kind(folder), folder, checkpoint)
    _check_files(source)
    return source


def holds_pointr(folder: str | os.PathLike) -> bool:
    """Returns whether a folder has both models of POINTR."""
    return os.path.isfile(os.path.join(folder, POINTR))


def _kind(folder: str) -> Kind:
    for kind in Kind:
        if os.path.isfile(os.path.join(folder, kind.value)):
            return kind
    if holds_pointr(folder):
        raise InputError(f"{folder}: holds both stages of POINTR; use mate_tf.PointrPredictor")
    known = ", ".join(f"{kind.value} ({text})" for kind, text in _DESCRIPTIONS.items())
    raise InputError(f"{folder}: no trained model here; it has none of {known}")


def _check_files(source: Source) -> None:
    """Raises InputError for a folder without weights or without a vocabulary."""
    files = os.listdir(source.folder)
    endings = {
        Kind.HUGGING_FACE: (".safetensors", ".bin"),
        Kind.TAPAS: (".index",),
        Kind.TRAINED: (".index",),
        Kind.PRESET: (".safetensors",),
    }
    if source.kind not in endings:
        return
    wanted = endings[source.kind]
    if not any(name.endswith(wanted) for name in files):
        raise InputError(
            f"{source.folder}: {source.kind.value} is here, but no weights "
            f"({' or '.join(f'*{ending}' for ending in wanted)})"
        )
    if source.kind is not Kind.TRAINED and source.file(*VOCABULARY_FILES) is None:
        raise InputError(f"{source.folder}: has neither {' nor '.join(VOCABULARY_FILES)}")
