"""--mixed_precision: the precision that it stands for."""

import functools
import sys

from mate_tf.layers import precision


def of(flags) -> str | None:
    """Returns the precision of the layers; None without the flag. Says what `auto` has chosen."""
    if flags.mixed_precision != precision.AUTO:
        return flags.mixed_precision
    chosen = _OF_TPU if flags.use_tpu else precision.choose()
    _say(chosen)
    return chosen.precision


_OF_TPU = precision.Choice("bfloat16", "all TPUs have products in it")


@functools.cache
def _say(chosen: precision.Choice) -> None:
    """Prints the choice, once for both stages of a pipeline."""
    print(f"precision | {chosen.precision}: {chosen.reason}", file=sys.stderr, flush=True)
