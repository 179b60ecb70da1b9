"""Tasks by their names in google-research/tapas. One file per task."""

from mate_tf.lazy import on_first_use
from mate_tf.tasks import (
    associative_recall,
    custom,
    denoise,
    glue,
    hybridqa,
    hybridqa_rc,
    listops,
    lra,
    pretrain,
    questions,
    sqa,
    squad,
    statements,
    summarize,
    swag,
    synthetic,
    tabfact,
    text_pretrain,
    wikisql,
    wtq,
)
from mate_tf.tasks.base import Capabilities, Task
from mate_tf.tasks.pretraining_task import PretrainTask
from mate_tf.tasks.registry import create, experiment, get, names, register
from mate_tf.tasks.sequence import SequenceTask
from mate_tf.tasks.table import TableTask

__all__ = [
    "Capabilities",
    "PretrainTask",
    "SequenceTask",
    "TableTask",
    "Task",
    "associative_recall",
    "create",
    "custom",
    "denoise",
    "experiment",
    "get",
    "glue",
    "hybridqa",
    "hybridqa_rc",
    "listops",
    "lra",
    "names",
    "pretrain",
    "questions",
    "register",
    "sqa",
    "squad",
    "statements",
    "summarize",
    "swag",
    "synthetic",
    "tabfact",
    "text_pretrain",
    "wikisql",
    "wtq",
]

__getattr__, __dir__ = on_first_use(__name__)
