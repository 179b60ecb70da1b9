"""Strings in the graph of an export: tables and questions to features, outputs to answers."""

from mate_tf.lazy import on_first_use

__all__: list[str] = []

__getattr__, __dir__ = on_first_use(__name__)
