"""Tasks by the name that google-research/tapas gives them. One file per task."""

from mate_tf.tasks import (
    associative_recall,
    custom,
    glue,
    hybridqa,
    hybridqa_rc,
    listops,
    lra,
    pretrain,
    sqa,
    statements,
    synthetic,
    tabfact,
    text_pretrain,
    wikisql,
    wtq,
)
from mate_tf.tasks.registry import create, experiment, get, names, register

__all__ = [
    "associative_recall",
    "create",
    "custom",
    "experiment",
    "get",
    "glue",
    "hybridqa",
    "hybridqa_rc",
    "listops",
    "lra",
    "names",
    "pretrain",
    "register",
    "sqa",
    "statements",
    "synthetic",
    "tabfact",
    "text_pretrain",
    "wikisql",
    "wtq",
]
