"""Questions and statements about given tables, with their answers, from which models learn."""

from mate_tf.lazy import on_first_use

__all__: list[str] = []

__getattr__, __dir__ = on_first_use(__name__)
