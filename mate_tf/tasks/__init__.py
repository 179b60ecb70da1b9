"""Tasks by the name that google-research/tapas gives them. One file per task."""

from mate_tf.tasks import (
    custom,
    hybridqa,
    hybridqa_rc,
    pretrain,
    sqa,
    statements,
    synthetic,
    tabfact,
    wikisql,
    wtq,
)
from mate_tf.tasks.registry import create, experiment, get, names, register

__all__ = [
    "create",
    "custom",
    "experiment",
    "get",
    "hybridqa",
    "hybridqa_rc",
    "names",
    "pretrain",
    "register",
    "sqa",
    "statements",
    "synthetic",
    "tabfact",
    "wikisql",
    "wtq",
]
