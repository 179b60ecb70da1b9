"""Input pipelines whose iterators are freed at once."""

import sys


def without_autotune() -> None:
    """Switches the autotuning of tf.data off.

    Its thread sleeps between two rounds, up to a minute after some training, and whoever frees the
    iterator waits for it. Jobs that are processes of their own run with it.
    """
    datasets = sys.modules["tensorflow.python.data.ops.dataset_ops"]
    iterated = datasets.DatasetV2._apply_debug_options  # of a dataset before it is iterated over
    if hasattr(iterated, "autotunes"):
        return
    options = datasets.options_lib.Options()
    options.autotune.enabled = False

    def iterated_without(dataset):
        return iterated(dataset.with_options(options))

    iterated_without.autotunes = False
    datasets.DatasetV2._apply_debug_options = iterated_without
