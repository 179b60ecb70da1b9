"""Registry of tasks by name. Names of TAPAS's tasks are those of google-research/tapas."""

from official.core import exp_factory

from mate_tf.errors import InputError
from mate_tf.tasks.base import Task
from mate_tf.tasks.configs import TableExperiment, TableTaskConfig

_TASKS: dict[str, type[Task]] = {}


def register(task_class):
    """Class decorator that registers a task here and in tf-models' experiment factory."""
    name = task_class.name
    if name in _TASKS:
        raise ValueError(f"task {name!r} is registered twice")
    _TASKS[name] = task_class
    exp_factory.register_config_factory(f"mate_tf/{name}")(task_class.experiment)
    return task_class


def names() -> list[str]:
    """Returns the names of all registered tasks, sorted."""
    return sorted(_TASKS)


def get(name: str) -> type[Task]:
    """Returns the task class of a name, in upper or lower case.

    Raises:
        InputError: if there is no task of that name.
    """
    if name.upper() not in _TASKS:
        raise InputError(f"task {name!r} is not one of {', '.join(names())}")
    return _TASKS[name.upper()]


def experiment(name: str) -> TableExperiment:
    """Returns the default hyper-parameters of a task."""
    return get(name).experiment()


def create(config: TableTaskConfig) -> Task:
    """Builds the task that a config describes."""
    return get(config.name)(config)
