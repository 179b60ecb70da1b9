"""Writes the model of a `Predictor`: presets, Hugging Face's format, SavedModels, to the hub.

A preset is a folder with config.yaml (task, conversion, model and precision), vocab.txt,
model.safetensors with the reference's names of variables, README.md, its model card, and
calibration.json, if its answers have a confidence.
"""

import dataclasses
import importlib.util
import os
import shutil
import tempfile
from typing import Any

from mate_tf.errors import InputError
from mate_tf.evaluation.calibration import FILE, Calibration
from mate_tf.files import folder as folders
from mate_tf.files import paths
from mate_tf.serving import confidence, model_folder
from mate_tf.serving.model_folder import Kind, Source
from mate_tf.tables.conversion import READING_OPTIONS

CARD = "README.md"
VOCABULARY = "vocab.txt"

_DTYPES = {"float32": "F32", "bfloat16": "BF16", "int8": None}
_STORED_PRECISIONS = ("bfloat16", "float16")
"""Precisions that config.yaml has. Weights of 8 bits are made when a model is loaded."""

_CARD = """\
---
language: en
license: {license}
library_name: mate-tf
pipeline_tag: {pipeline}
tags:
- mate-tf
---

# {title}

A model of mate-tf that {able}.

| | |
|---|---|
| attention | {attention} |
| size | {layers} layers of width {hidden}, {parameters:.1f} million parameters |
| length | {length} tokens of question and table |
| precision | {precision} |
| confidence | {confidence} |

## Use

mate-tf loads it with its extra `hub`; transformers does not load it.

```python
import mate_tf

predictor = mate_tf.Predictor.from_pretrained("{name}")
answer = predictor.ask("my.csv", "who has the highest score?")
print(answer.text, answer.coordinates)
```
"""


@dataclasses.dataclass(frozen=True)
class TrainedModel:
    """A model that can be written.

    Attributes:
        name: its name, for errors.
        served: what answers: a `LiveModel`, `EngineServed` or `WithFloat32`.
        calibration: of its answers; None: without.
        source: where it was loaded from; None: a model of this process.
        task: name of its task, if that was given when it was loaded.

    Raises:
        InputError: if it is an export, which has no weights to save.
    """

    name: str
    served: Any
    calibration: Calibration | None
    source: Source | None = None
    task: str | None = None

    def __post_init__(self):
        if self.served.keras_model is None:
            raise InputError(
                f"{self.name}: is an export, which is not saved again; give the folder of its "
                "weights to Predictor.from_pretrained"
            )


def huggingface(trained: TrainedModel, folder: str | os.PathLike) -> None:
    """Writes the folder of `Predictor.save_pretrained`.

    Raises:
        InputError: see there.
    """
    from mate_tf import checkpoints

    model = trained.served
    checkpoints.save_huggingface(
        model.keras_model, folder, model.converter.vocab_file, model.class_names
    )
    _write_calibration(folder, trained.calibration)


def export(trained: TrainedModel, folder: str | os.PathLike) -> str:
    """Writes the SavedModel of `Predictor.export`, and returns its folder.

    Raises:
        InputError: see there.
    """
    from mate_tf.serving import export

    paths.check_no_pattern(folder, os.fspath(folder))
    converter = trained.served.converter
    return export.export(
        trained.served.keras_model,
        os.fspath(folder),
        converter.vocab_file,
        dataclasses.asdict(converter.config),
        trained.served.class_names,
        calibration=trained.calibration,
        reading={name: getattr(converter.config, name) for name in READING_OPTIONS},
    )


def preset(
    trained: TrainedModel,
    folder: str | os.PathLike,
    license: str = "unknown",
    dtype: str | None = None,
    name: str = "",
) -> None:
    """Writes a preset, which replaces an earlier one in the same folder at the end.

    Args:
        trained: the model.
        folder: a local folder. A model card that is there stays.
        license, dtype: see `Predictor.save_preset`.
        name: what the model card loads the model by; by default the folder.

    Raises:
        InputError: `dtype` is not one of these, or the folder has something else in it.
    """
    if dtype is not None and dtype not in _DTYPES:
        raise InputError(f"dtype={dtype!r} is not one of {', '.join(map(repr, _DTYPES))}")
    folder = os.fspath(folder)
    if paths.is_remote(folder):
        raise InputError(f"{folder}: presets are written to local folders")
    is_preset = os.path.isfile(os.path.join(folder, Kind.PRESET.value))
    if os.path.exists(folder) and not is_preset and (os.path.isfile(folder) or os.listdir(folder)):
        raise InputError(f"{folder}: exists and is not a preset; give another folder")
    card = os.path.join(folder, CARD)
    with folders.replaced(folder) as new:
        os.makedirs(new)
        _write_files(trained, new, dtype)
        if os.path.isfile(card):
            shutil.copyfile(card, os.path.join(new, CARD))
        else:
            _write_text(new, CARD, _card(trained, name or folder, license))


def push(
    trained: TrainedModel,
    name: str,
    license: str = "unknown",
    private: bool | None = None,
    token: str | None = None,
) -> str:
    """Writes a preset to the Hugging Face hub; see `Predictor.push_to_hub`.

    Returns:
        the name of the model on the hub, with its owner.

    Raises:
        InputError: huggingface_hub is not installed, or the hub refuses the model.
    """
    if importlib.util.find_spec("huggingface_hub") is None:
        raise InputError(f"{name}: to push it to the Hugging Face hub: pip install 'mate-tf[hub]'")
    import huggingface_hub

    with tempfile.TemporaryDirectory(prefix="mate_tf_") as temporary:
        folder = os.path.join(temporary, "preset")
        preset(trained, folder, license, name=name)
        try:
            made = huggingface_hub.create_repo(name, private=private, token=token, exist_ok=True)
            # Somebody may have edited the card on the hub.
            has_card = huggingface_hub.file_exists(made.repo_id, CARD, token=token)
            huggingface_hub.upload_folder(
                repo_id=made.repo_id,
                folder_path=folder,
                commit_message="Model of mate-tf",
                ignore_patterns=[CARD] if has_card else None,
                delete_patterns=[FILE],  # an earlier one, unless the model has a calibration
                token=token,
            )
        except Exception as error:  # each version of the library has other classes for the network
            reason = " ".join(str(error).split())
            raise InputError(
                f"{name}: not pushed to the Hugging Face hub: {type(error).__name__}: {reason}"
            ) from error
    return made.repo_id


def _write_files(trained: TrainedModel, folder: str, dtype: str | None) -> None:
    """Writes all files of a preset but the card."""
    import yaml

    from mate_tf import checkpoints
    from mate_tf.checkpoints import channels, finite, safetensors

    model = trained.served
    weights = checkpoints.checkpoint_variables(model.keras_model)
    weights = {name: variable.numpy() for name, variable in weights.items()}
    for name, values in weights.items():
        finite.check(trained.name, name, values)
    dtype = dtype or _smallest(weights)
    if dtype == "int8":
        weights = channels.rounded(weights)
    safetensors.write(os.path.join(folder, model_folder.WEIGHTS), weights, _DTYPES[dtype])
    shutil.copyfile(model.converter.vocab_file, os.path.join(folder, VOCABULARY))
    config = {
        "task": {
            **_task(trained),
            "conversion": dataclasses.asdict(model.converter.config),
            "model": dict(model.config),
        }
    }
    if model.precision in _STORED_PRECISIONS:
        config["runtime"] = {"mixed_precision_dtype": model.precision}
    _write_text(folder, Kind.PRESET.value, yaml.safe_dump(config, sort_keys=False))
    _write_calibration(folder, trained.calibration)


def _smallest(weights: dict) -> str:
    """Returns the smallest of `_DTYPES` that has exactly these values <float32>[...]."""
    from mate_tf.checkpoints import channels
    from mate_tf.checkpoints.safetensors import DTYPES

    rounded = {
        "int8": channels.restored("", channels.rounded(weights)),
        "bfloat16": {name: each.astype(DTYPES["BF16"]) for name, each in weights.items()},
    }
    for dtype, rounded_weights in rounded.items():
        if all((rounded_weights[name] == each).all() for name, each in weights.items()):
            return dtype
    return "float32"


def _task(trained: TrainedModel) -> dict:
    """Returns the name of the task in config.yaml; of a model with classes, their names.

    So classes are known without the task, which needs TensorFlow.
    """
    from mate_tf.serving import configurations

    if classes := list(trained.served.class_names):
        return {"name": "CUSTOM", "labels": classes}
    if trained.source is not None:
        return {"name": configurations.read(trained.source, trained.task).task}
    return {"name": configurations.task_of_heads(trained.served.keras_model.config)}


def _write_calibration(folder: str | os.PathLike, calibration: Calibration | None) -> None:
    if calibration is not None:
        confidence.write(folder, dataclasses.replace(calibration, weights=""))


def _write_text(folder: str, name: str, text: str) -> None:
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def _card(trained: TrainedModel, name: str, license: str) -> str:
    """Returns the model card."""
    model = trained.served
    encoder = model.config["encoder"]
    attention = encoder["attention"]
    layers = attention if isinstance(attention, list) else [attention]
    classes = ", ".join(model.class_names)
    fitted = "fitted (calibration.json)" if trained.calibration else "none: nothing was fitted"
    return _CARD.format(
        license=license,
        pipeline="text-classification" if classes else "table-question-answering",
        title=os.path.basename(os.path.abspath(name)),
        able=f"decides about a table: {classes}" if classes else "answers questions about a table",
        attention=", ".join(dict.fromkeys(each["name"] for each in layers)),
        layers=encoder["num_hidden_layers"],
        hidden=encoder["hidden_size"],
        parameters=model.keras_model.count_params() / 1e6,
        length=model.converter.max_seq_length,
        precision=model.precision,
        confidence=fitted,
        name=name,
    )
