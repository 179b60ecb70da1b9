"""Tasks by their names in google-research/tapas. Their modules are imported on first use."""

from typing import TYPE_CHECKING

from mate_tf.lazy import on_first_use
from mate_tf.tasks.registry import create, experiment, get, names, register

if TYPE_CHECKING:
    from mate_tf.tasks.base import Capabilities, Task
    from mate_tf.tasks.pretrain import PretrainTask
    from mate_tf.tasks.sequence import SequenceTask
    from mate_tf.tasks.table import TableTask

_EXPORTS = {
    "Capabilities": "mate_tf.tasks.base",
    "PretrainTask": "mate_tf.tasks.pretrain",
    "SequenceTask": "mate_tf.tasks.sequence",
    "TableTask": "mate_tf.tasks.table",
    "Task": "mate_tf.tasks.base",
}

__all__ = [
    "Capabilities",
    "PretrainTask",
    "SequenceTask",
    "TableTask",
    "Task",
    "create",
    "experiment",
    "get",
    "names",
    "register",
]

__getattr__, __dir__ = on_first_use(__name__, _EXPORTS)
