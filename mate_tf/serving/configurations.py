"""Configurations of trained models, read from every kind of folder."""

import dataclasses
import os

from mate_tf import tasks
from mate_tf.errors import InputError
from mate_tf.files.json_files import read_json_object
from mate_tf.models import huggingface
from mate_tf.models.classifier import ClassifierConfig
from mate_tf.models.encoder import EncoderConfig
from mate_tf.serving import huggingface_vocabulary
from mate_tf.serving import model_folder as sources
from mate_tf.serving.model_folder import Kind, Source
from mate_tf.tables.conversion import ConversionConfig
from mate_tf.training import experiments

MAX_SEQ_LENGTH = 512
"""Tokens per example of TAPAS's models."""


@dataclasses.dataclass(frozen=True)
class Pretrained:
    """Configuration of a trained model, as its folder gives it.

    Attributes:
        source: the folder.
        task: name of the task that it answers.
        model: its config.
        conversion: how its examples are made.
        vocab_file: WordPiece vocabulary, or a tokenizer.json with one.
        class_names: names of the classes, if it classifies.
        precision: dtype to compute with, one of PRECISIONS; "" for float32.
    """

    source: Source
    task: str
    model: ClassifierConfig
    conversion: ConversionConfig
    vocab_file: str
    class_names: tuple[str, ...] = ()
    precision: str = ""


def read(source: Source, task: str | None = None) -> Pretrained:
    """Reads the configuration of a model, without its weights.

    Args:
        source: a folder of any kind but an export.
        task: name of the task; by default as the folder says.

    Raises:
        InputError: if a file cannot be read, or lacks a needed value.
    """
    if task is not None:
        task = tasks.get(task).name
    readers = {
        Kind.HUGGING_FACE: _huggingface,
        Kind.TAPAS: _tapas,
        Kind.TRAINED: _trained,
        Kind.PRESET: _preset,
    }
    return readers[source.kind](source, task)


def most_tokens(encoder: EncoderConfig) -> int | None:
    """Returns the longest sequence that has positions; None if any has."""
    if encoder.reset_position_index_per_cell or encoder.disable_position_embeddings:
        return None
    return encoder.max_position_embeddings


def _huggingface(source: Source, task: str | None) -> Pretrained:
    config = read_json_object(source.needed(Kind.HUGGING_FACE.value))
    architecture = (config.get("architectures") or ["model of unknown class"])[0]
    if architecture not in (huggingface.QUESTION_ANSWERING, huggingface.SEQUENCE_CLASSIFICATION):
        raise InputError(
            f"{source.name}: is a {architecture}, which does not answer questions; "
            f"--mode=train --init_checkpoint={source.name} fine-tunes it"
        )
    model = ClassifierConfig.from_huggingface(config)
    task = task or source.task
    class_names = _class_names(config, model.num_classification_labels, task)
    task = task or task_of_heads(model)
    tokenizer_file = source.file("tokenizer_config.json")
    tokenizer = read_json_object(tokenizer_file) if tokenizer_file else {}
    if tokenizer.get("do_lower_case") is False:
        raise InputError(f"{tokenizer_file}: do_lower_case is false: only uncased text is read")
    length = min(tokenizer.get("model_max_length") or MAX_SEQ_LENGTH, MAX_SEQ_LENGTH)
    names = ("cell_trim_length", "strip_column_names")
    options = {name: tokenizer[name] for name in names if tokenizer.get(name) is not None}
    return Pretrained(
        source=source,
        task=task,
        model=model,
        conversion=ConversionConfig(max_seq_length=_fitting_length(model, length), **options),
        vocab_file=huggingface_vocabulary.text_file(source.needed(*sources.VOCABULARY_FILES)),
        class_names=class_names,
    )


def _tapas(source: Source, task: str | None) -> Pretrained:
    bert_config = read_json_object(source.needed(Kind.TAPAS.value))
    task = task or source.task
    settings = source.file("tapas_config.json")
    if settings:
        model = ClassifierConfig.from_tapas(bert_config, **read_json_object(settings))
        task = task or task_of_heads(model)
    elif task:
        encoder = EncoderConfig.from_tapas(
            bert_config, reset_position_index_per_cell=source.resets_positions
        )
        model = tasks.experiment(task).task.model.replace(encoder=encoder)
    else:
        raise InputError(
            f"{source.name}: has no tapas_config.json, and its name says no task: give task= "
            f"(--task), one of {', '.join(sorted(sources.TASKS.values()))}"
        )
    _check_task(source, task)
    return Pretrained(
        source=source,
        task=task,
        model=model,
        conversion=ConversionConfig(max_seq_length=_fitting_length(model, MAX_SEQ_LENGTH)),
        vocab_file=huggingface_vocabulary.text_file(source.needed(*sources.VOCABULARY_FILES)),
        class_names=_class_names_of_task(task),
    )


def _trained(source: Source, task: str | None) -> Pretrained:
    path = source.needed(Kind.TRAINED.value)
    experiment = experiments.load_saved(source.folder, task=task)
    vocab_file = experiment.task.conversion.bert_vocab_file
    if not os.path.isfile(vocab_file):
        raise InputError(f"{path}: its vocabulary {vocab_file!r} is not there")
    return _from_experiment(source, experiment, vocab_file)


def _preset(source: Source, task: str | None) -> Pretrained:
    experiment = experiments.load(source.needed(Kind.PRESET.value), task=task)
    return _from_experiment(source, experiment, source.needed(*sources.VOCABULARY_FILES))


def _from_experiment(source: Source, experiment, vocab_file: str) -> Pretrained:
    config = experiment.task
    _check_task(source, config.name)
    return Pretrained(
        source=source,
        task=config.name,
        model=config.model,
        conversion=config.conversion.frozen(),
        vocab_file=vocab_file,
        class_names=tuple(tasks.create(config).class_names),
        precision=experiment.runtime.mixed_precision_dtype or "",
    )


def _check_task(source: Source, task: str) -> None:
    able = tasks.get(task).capabilities
    if not (able.answers_questions and able.reads_tables):
        raise InputError(f"{source.name}: task {task} does not answer questions about tables")


def task_of_heads(model: ClassifierConfig) -> str:
    """Returns the name of a task whose models have such heads."""
    if model.num_classification_labels:
        return "TABFACT"
    return "WTQ" if model.num_aggregation_labels else "SQA"


def _class_names(config: dict, number: int, task: str | None) -> tuple[str, ...]:
    """Returns the names in a config.json, or the task's in place of LABEL_0, LABEL_1."""
    names = config.get("id2label") or {}
    names = tuple(str(names.get(str(index), f"LABEL_{index}")) for index in range(number))
    of_task = _class_names_of_task(task) if task else ()
    unnamed = all(name == f"LABEL_{index}" for index, name in enumerate(names))
    return of_task if unnamed and len(of_task) == number else names


def _class_names_of_task(task: str) -> tuple[str, ...]:
    """Returns the names of the classes with the task's default settings."""
    return tuple(tasks.create(tasks.experiment(task).task).class_names)


def _fitting_length(model: ClassifierConfig, length: int) -> int:
    return min(length, most_tokens(model.encoder) or length)
