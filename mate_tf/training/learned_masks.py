"""Files of the masks that a training learned (SparseBERT, Algorithm 1)."""

import os

from mate_tf import attention
from mate_tf.checkpoints import pattern_variables
from mate_tf.models.encoder_config import EncoderConfig

FOLDER = "masks"


def save(experiment, model_dir: str) -> list[str]:
    """Writes the final mask of each pattern that learns one, from the last checkpoint.

    Args:
        experiment: the trained experiment.
        model_dir: folder of the training. Masks are written to masks/patterns_<number>.npz in it.

    Returns:
        paths of the files, in the order of the patterns; [] if no pattern learns a mask.

    Raises:
        InputError: if the checkpoint cannot be read.
    """
    learning = {
        index: config
        for index, config in enumerate(experiment.task.model.encoder.distinct_attention())
        if attention.get(config.name).pattern.saves_mask(config)
    }
    stored = pattern_variables(model_dir) if learning else {}
    paths = []
    for index, config in learning.items():
        pattern = attention.get(config.name).pattern.restored(config, stored[index])
        paths.append(os.path.join(model_dir, FOLDER, f"{EncoderConfig.pattern_name(index)}.npz"))
        pattern.save_mask(paths[-1])
        print(f"mask | {paths[-1]}: sparsity {float(pattern.sparsity()):.1%}", flush=True)
    return paths
