"""Tasks by the name that google-research/tapas gives them. One file per task."""

from mate_tf.tasks import pretrain, sqa, synthetic, tabfact, wtq
from mate_tf.tasks.base import create, experiment, get, names, register

__all__ = [
    "create",
    "experiment",
    "get",
    "names",
    "pretrain",
    "register",
    "sqa",
    "synthetic",
    "tabfact",
    "wtq",
]
