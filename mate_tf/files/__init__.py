"""Atomic writing of files, and files of JSON lines."""

from mate_tf.lazy import on_first_use

__getattr__, __dir__ = on_first_use(__name__)
