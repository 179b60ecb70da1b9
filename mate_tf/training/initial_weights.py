"""Weights of a trained model, for use without training."""

from mate_tf import checkpoints
from mate_tf.errors import InputError

_CELL_SCORERS = ("output_weights", "output_bias")


def load_all(model, path: str) -> None:
    """Loads all weights that a model needs for its answers.

    Args:
        model: the model.
        path: as `checkpoints.load` takes it.

    Raises:
        InputError: if the checkpoint cannot be read, or lacks some of them.
    """
    missing = set(checkpoints.load(model, path).missing)
    if getattr(model.config, "disable_per_token_loss", False):
        missing -= set(_CELL_SCORERS)  # a model that only classifies chooses no cells
    if not missing:
        return
    names = sorted(missing)
    listed = ", ".join(names[:3]) + ", …" * (len(names) > 3)
    if all("/attention/" in name or "/pattern_" in name for name in names):
        variants = ", ".join(each.name for each in model.config.encoder.distinct_attention())
        raise InputError(f"{path}: attention {variants} has weights that are not here: {listed}")
    raise InputError(f"{path}: not trained to answer questions: it has no {listed}")
