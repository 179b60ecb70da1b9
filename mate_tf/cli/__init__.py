"""The command line: `flags` defines all flags, `main` dispatches to `modes`."""

from mate_tf.lazy import on_first_use

__getattr__, __dir__ = on_first_use(__name__)
