"""Frees TensorFlow's graphs, which have millions of Python objects, and avoids them."""

import contextlib
import gc
import os
import sys
from collections.abc import Iterable

THOROUGH = os.environ.get("MATE_TF_THOROUGH") == "1"
"""All graphs and more examples, as in stages of .ci/run. CI=1 is set for its default run too."""


def large() -> bool:
    """Returns whether large graphs were built since garbage was last collected."""
    _, young, _ = gc.get_count()
    return young > 1  # collections of the youngest, 100,000 objects each


def gradients() -> list[str]:
    """Names of the custom gradients of all graphs. TensorFlow registers each under a name of its
    own and never removes it, and the gradient keeps its graph alive."""
    ops = sys.modules.get("tensorflow.python.framework.ops")
    registered = ops.gradient_registry._registry if ops else ()
    return [name for name in registered if name.startswith("CustomGradient-")]


def forget(names: Iterable[str]) -> None:
    """Removes custom gradients, whose graphs must not be used any more."""
    for name in names:
        del sys.modules["tensorflow.python.framework.ops"].gradient_registry._registry[name]


def share_stack() -> None:
    """Gives all operations of graphs one Python stack instead of that which has made each. They are
    for messages only. To take them was a seventh of the time of tracing."""
    stacks = sys.modules["tensorflow.python.util.tf_stack"]
    if THOROUGH or hasattr(stacks.extract_stack, "shared"):
        return
    shared = stacks.extract_stack()

    def extract_stack(stacklevel=1):
        return shared

    extract_stack.shared = True
    stacks.extract_stack = extract_stack


@contextlib.contextmanager
def eager():
    """Runs functions of the block eagerly: to trace them takes longer than a few steps. What is
    saved has its graphs."""
    import tensorflow as tf

    tf.config.run_functions_eagerly(True)
    try:
        yield
    finally:
        tf.config.run_functions_eagerly(False)


def avoided():
    """Returns the context of `eager`; with MATE_TF_THOROUGH=1 one in which functions are traced. A
    test that calls this, itself or in a fixture, gets the mark `thorough`."""
    return contextlib.nullcontext() if THOROUGH else eager()


@contextlib.contextmanager
def freed():
    """Frees the graphs of the block at its end, if they are large. Nothing may use them then."""
    before = set(gradients())
    try:
        yield
    finally:
        if large():
            forget(set(gradients()) - before)
            gc.collect()
