"""Registry of tasks by name. Names of TAPAS's tasks are those of google-research/tapas.

A module of a task is imported when the task is asked for, here or in tf-models' experiment factory.
"""

import functools
import importlib

from official.core import exp_factory

from mate_tf.errors import InputError, suggestion

MODULES = {
    "associative_recall": ("ASSOCIATIVE_RECALL",),
    "custom": ("CUSTOM",),
    "denoise": ("DENOISE",),
    "glue": ("COLA", "MNLI", "MRPC", "QNLI", "QQP", "RTE", "SST-2", "STS-B", "WNLI"),
    "hybridqa": ("HYBRIDQA", "HYBRIDQA_RC"),
    "lra": ("LISTOPS", "LRA_IMAGE", "LRA_RETRIEVAL", "LRA_TEXT"),
    "pretrain": ("PRETRAIN",),
    "questions": ("QUESTIONS",),
    "sqa": ("SQA",),
    "squad": ("SQUAD",),
    "swag": ("SWAG",),
    "synthetic": ("SYNTHETIC",),
    "tabfact": ("STATEMENTS", "TABFACT"),
    "text_pretrain": ("TEXT_PRETRAIN",),
    "text_to_text": ("SUMMARIZE",),
    "wtq": ("WIKISQL", "WIKISQL_SUPERVISED", "WTQ"),
}
"""Module of this package -> names of the tasks that it registers."""

_MODULE_OF = {
    name: f"{__package__}.{module}" for module, names in MODULES.items() for name in names
}
_TASKS = {}  # name -> class of the tasks whose modules are imported


def register(task_class):
    """Class decorator that registers a task here and in tf-models' experiment factory.

    Raises:
        ValueError: if there is a task of that name.
    """
    name = task_class.name
    if name in _TASKS or _MODULE_OF.get(name, task_class.__module__) != task_class.__module__:
        raise ValueError(f"task {name!r} is registered twice")
    _TASKS[name] = task_class
    if name not in _MODULE_OF:
        exp_factory.register_config_factory(f"mate_tf/{name}")(task_class.experiment)
    return task_class


def names() -> list[str]:
    """Returns the names of all tasks, sorted. Imports none of them."""
    return sorted({*_MODULE_OF, *_TASKS})


def get(name: str):
    """Returns the class of a task, in upper or lower case.

    Raises:
        InputError: if there is no task of that name.
    """
    name = name.upper()
    if name not in _TASKS and name in _MODULE_OF:
        importlib.import_module(_MODULE_OF[name])
    if name not in _TASKS:
        raise InputError(f"unknown task {name!r}; {suggestion(name, names())}")
    return _TASKS[name]


def experiment(name: str):
    """Returns the default hyper-parameters of a task, a `TableExperiment`."""
    return get(name).experiment()


def create(config, **kwargs):
    """Builds the task that a config, a `TableTaskConfig`, describes.

    tf-models' task factory calls this for such a config (`tasks.configs`).

    Args:
        config: the config; `name` is the task's.
        **kwargs: arguments of tf-models' `Task`, such as `logging_dir`.

    Raises:
        InputError: if there is no task of that name.
    """
    return get(config.name)(config, **kwargs)


for _name in _MODULE_OF:
    exp_factory.register_config_factory(f"mate_tf/{_name}")(functools.partial(experiment, _name))
