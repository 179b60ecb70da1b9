"""Reads, checks, overrides and saves experiments as YAML files."""

import os
import re
import typing

import tensorflow as tf
from official.modeling import hyperparams
from official.modeling.hyperparams import base_config, params_dict

from mate_tf import field_types, tasks
from mate_tf.attention import AttentionConfig
from mate_tf.errors import InputError, suggestion
from mate_tf.files import paths, yaml_files
from mate_tf.files.atomic import atomic_path
from mate_tf.files.config_files import find_config, with_bases
from mate_tf.tasks.configs import TableExperiment

PARAMS_FILE = "params.yaml"
VOCABULARY_FILE = "vocab.txt"
OVERRIDE = "--params_override"

_CHOICES = {
    "runtime.mixed_precision_dtype": ("float32", "float16", "bfloat16"),
    "runtime.distribution_strategy": (
        *("off", "one_device", "mirrored"),
        *("multi_worker_mirrored", "parameter_server", "tpu"),
    ),
}
"""Keys with a fixed set of values. tf-models would raise only when it begins to train."""


def load(config_file=None, params_override=(), task=None) -> TableExperiment:
    """Returns the defaults of a task, overridden by a file and then by single values.

    Args:
        config_file: YAML file with any part of a `TableExperiment`. It may start from another one
            (`files.config_files.with_bases`).
        params_override: strings, each a YAML file, a YAML mapping or "task.a.b=1,trainer.c=2".
        task: name of the task; by default the file's `task.name`.

    Returns:
        the experiment. `resolve` fills in derived values, such as `decay_steps`, when it runs.

    Raises:
        InputError: for an unreadable file, an unknown key or a value of a wrong type. The message
            names the key and the file or flag.
    """
    chain = read_chain(config_file) if config_file else []
    named = None
    for given, _ in chain:
        section = given.get("task")
        # `override` below checks the types of all values.
        if isinstance(section, dict) and section.get("name") is not None:
            named = str(section["name"])
    name = task or named
    if not name:
        where = f"{config_file}: has no task.name" if config_file else "no --config_file"
        raise InputError(f"{where}, and no --task is given; tasks: {', '.join(tasks.names())}")
    if named and named.upper() != name.upper():
        raise InputError(f"{config_file}: is an experiment for task {named}, not for {name}")
    experiment = tasks.experiment(name)
    for given, source in chain:
        override(experiment, given, source)
    for text in [params_override] if isinstance(params_override, str) else params_override:
        override(experiment, *read_override(text))
    return experiment


def override(config, given, source):
    """Sets the values of a nested dict in a config.

    Args:
        config: a tf-models Config; changed in place.
        given: dict, as deep as needed.
        source: file or flag, for messages.

    Raises:
        InputError: for an unknown key, or a value of a wrong type or range (`mate_tf.field_types`);
            then nothing is changed.
    """
    _check(config, given, source, "")
    try:
        config.override(given, is_strict=True)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{source}: {error}") from error


def read_override(text):
    """Parses one --params_override.

    Args:
        text: a YAML file, also one of configs/ by its name, a YAML mapping or
            "task.a.b=1,trainer.c=2".

    Returns:
        (values, source), two arguments of `override`.

    Raises:
        InputError: if `text` has none of these formats.
    """
    if re.match(r"\s*[\w.]+(\[\d+\])?\s*=", text):
        try:
            text = hyperparams.nested_csv_str_to_json_str(text)
        except ValueError as error:
            raise InputError(f"{OVERRIDE}={text}: {error}") from error
    elif os.path.splitext(text)[1] in (".yaml", ".yml", ".json"):
        return read_yaml(find_config(text, f"{OVERRIDE}=")), text
    return _parse_yaml(text, OVERRIDE), OVERRIDE


def check(experiment: TableExperiment) -> None:
    """Raises InputError for a value out of its range, or values that contradict each other."""
    field_types.check_all(experiment)
    trainer = experiment.trainer
    if trainer.summary_interval % trainer.steps_per_loop:
        raise field_types.refused(
            "trainer.summary_interval",
            trainer.summary_interval,
            f"a multiple of trainer.steps_per_loop={trainer.steps_per_loop}",
        )
    for part in ("optimizer", "learning_rate"):
        if getattr(trainer.optimizer_config, part).type is None:
            key = f"trainer.optimizer_config.{part}.type"
            raise field_types.refused(key, None, "a name")
    for part in ("learning_rate", "warmup"):
        chosen = getattr(trainer.optimizer_config, part)
        if chosen.type is not None:
            _check_schedule(chosen.get(), f"trainer.optimizer_config.{part}.{chosen.type}")


def _check_schedule(schedule, path):
    """Checks that a learning rate or warm-up has all values. tf-models has no defaults of some."""
    for key, value in schedule.as_dict().items():
        if value is None and key != "staircase":
            raise field_types.refused(f"{path}.{key}", None, f"a value, which {path} needs")
    if hasattr(schedule, "boundaries") and len(schedule.values) != len(schedule.boundaries) + 1:
        number = len(schedule.boundaries) + 1
        raise field_types.refused(
            f"{path}.values", schedule.values, f"{number} values, by boundaries"
        )


def resolve(experiment: TableExperiment) -> TableExperiment:
    """Returns a copy in which values that derive from others are filled in.

    Raises:
        InputError: see `check`.
    """
    check(experiment)
    experiment = experiment.replace()
    rate = experiment.trainer.optimizer_config.learning_rate
    if rate.type == "bert" and not rate.bert.decay_steps:
        rate.bert.decay_steps = experiment.trainer.train_steps
    on_tpu = experiment.runtime.distribution_strategy == "tpu"
    if on_tpu or experiment.runtime.enable_xla:
        experiment.task.train_data.static_shapes = True
    if on_tpu:
        experiment.task.validation_data.static_shapes = True
    return experiment


def save(experiment: TableExperiment, model_dir: str) -> str:
    """Writes params.yaml into the model folder and returns its path. `load` reads it back.

    Copies the vocabulary next to it, so that the folder can be moved and used from anywhere.
    """
    path = os.path.join(model_dir, PARAMS_FILE)
    with atomic_path(path) as temporary:
        hyperparams.save_params_dict_to_yaml(experiment, temporary)
    vocab_file, copy = (
        experiment.task.conversion.bert_vocab_file,
        os.path.join(model_dir, VOCABULARY_FILE),
    )
    if os.path.isfile(vocab_file) and os.path.realpath(vocab_file) != os.path.realpath(copy):
        with atomic_path(copy) as temporary:
            tf.io.gfile.copy(vocab_file, temporary, overwrite=True)
    return path


def load_saved(model_dir: str, task: str | None = None) -> TableExperiment:
    """Loads the experiment of a training run, with the vocabulary that its folder holds.

    Args:
        task: as for `load`.

    Raises:
        InputError: if the folder has no params.yaml, or it cannot be used.
    """
    path = os.path.join(model_dir, PARAMS_FILE)
    if not os.path.exists(path):
        raise InputError(f"{path}: no such file; --mode=train writes it")
    experiment = load(path, task=task)
    copy = os.path.join(model_dir, VOCABULARY_FILE)
    if os.path.isfile(copy):
        experiment.task.conversion.bert_vocab_file = copy
    return experiment


def check_same_model(experiment: TableExperiment, model_dir: str, part: str = "") -> None:
    """Checks that an experiment has the model that was trained in a folder.

    Models can have the same variables and compute different outputs, for example with another
    attention. So this compares the saved configuration. It ignores `encoder.pack` and
    `encoder.pack_share`, which do not change the outputs.

    Args:
        experiment: the experiment to run now.
        model_dir: folder of the training. It may be empty or missing.
        part: key of `task.model` to compare; "": all keys.

    Raises:
        InputError: if a key differs. The message has the first such key and both values.
    """
    path = os.path.join(model_dir, PARAMS_FILE)
    if not os.path.exists(path):
        return
    trained = load(path).task.model.as_dict()
    wanted = experiment.task.model.as_dict()
    for key in ("pack", "pack_share"):
        trained["encoder"][key] = wanted["encoder"][key]
    for key in [part] if part else wanted:
        difference = first_difference(trained[key], wanted[key], f"task.model.{key}")
        if difference:
            name, before, now = difference
            raise InputError(
                f"{path}: the model here was trained with {name}={before}, not {now}; "
                "give another --model_dir"
            )


def first_difference(before, now, key=""):
    """Returns (key, value, other value) of the first difference, or None if both are equal.

    Args:
        before, now: values, or dicts as deep as needed.
        key: key of both; "" for whole configurations.
    """
    if isinstance(before, dict) and isinstance(now, dict):
        for name in before | now:
            inner = before.get(name), now.get(name)
            difference = first_difference(*inner, f"{key}.{name}".removeprefix("."))
            if difference:
                return difference
        return None
    before, now = (list(each) if isinstance(each, tuple) else each for each in (before, now))
    return None if before == now else (key, before, now)


def read_chain(path):
    """Reads a YAML file and those that it starts from: pairs (values, path), the file itself last.

    Raises:
        InputError: see `read_yaml` and `files.config_files.with_bases`.
    """
    return with_bases(path, read_yaml)


def read_yaml(path):
    """Reads a YAML file as a dict.

    Raises:
        InputError: if it cannot be read or parsed.
    """
    return _parse_yaml(paths.read_text(path, yaml_files.MAX_BYTES, path), path)


def _parse_yaml(text, source):
    # This loader reads 1e-3 as a number. YAML 1.1 reads it as text.
    content = yaml_files.parse_yaml(text, source, params_dict._LOADER)
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise InputError(f"{source}: expected keys and values, got {text.strip()[:60]!r}")
    return content


def _check(config, given, source, prefix):
    annotations = field_types.annotations(type(config))
    for key, value in given.items():
        path = f"{prefix}{key}"
        known = [name for name in config.__dict__ if name not in config.RESERVED_ATTR]
        if key not in known:
            hint = suggestion(str(key), known)
            raise InputError(f"{source}: unknown key {path!r}; {hint}")
        current, annotation = getattr(config, key), annotations.get(key, typing.Any)
        if annotation is AttentionConfig:
            _check_attention(current, value, source, path)
            continue
        if current is None and isinstance(value, dict):
            current = _optional_config(annotation)
        if isinstance(current, base_config.Config) and isinstance(value, dict):
            _check(current, value, source, f"{path}.")
            continue
        field_types.check(path, value, annotation, source)
        choices = [name for name in known if name != "type"] if key == "type" else None
        choices = choices or _CHOICES.get(path)
        if choices and value is not None and value not in choices:
            raise field_types.refused(path, value, f"one of {', '.join(choices)}", source)


def _check_attention(current, value, source, path):
    """Checks the AttentionConfig of all layers, or a list with one for each layer."""
    if isinstance(value, list | tuple):
        for layer, part in enumerate(value):
            _check_attention(AttentionConfig(), part, source, f"{path}[{layer}]")
        return
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise field_types.refused(path, value, "keys and values", source)
    base = current if isinstance(current, AttentionConfig) else AttentionConfig()
    try:
        base.replace(**value)
    except field_types.ValueRefusedError as error:
        message = str(error).removeprefix("attention")
        raise InputError(f"{source}: {path}{message}") from error
    except InputError as error:
        raise InputError(f"{source}: {path}: {error}") from error


def _optional_config(annotation):
    """Returns a new config of the type in an annotation such as `EMAConfig | None`, or None."""
    for part in typing.get_args(annotation):
        if isinstance(part, type) and issubclass(part, base_config.Config):
            return part()
    return None
