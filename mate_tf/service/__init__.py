"""Answers over HTTP (`mate-tf serve`), and as a tool of agents (`mate-tf mcp`).

What serves HTTP needs the extra `serve`, `agents` the extra `mcp`.
"""

from mate_tf.lazy import on_first_use

__getattr__, __dir__ = on_first_use(__name__)
