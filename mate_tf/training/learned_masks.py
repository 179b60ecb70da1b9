"""Files of the masks that a training with `learned_mask` has found (SparseBERT, Algorithm 1)."""

import os

from mate_tf.attention.gumbel_mask import DAM
from mate_tf.attention.learned_mask import LearnedMaskPattern
from mate_tf.checkpoints import pattern_variables

FOLDER = "masks"


def save(experiment, model_dir: str) -> list[str]:
    """Writes the final mask of each pattern with the objective "dam" from the last checkpoint.

    Args:
        experiment: what was trained.
        model_dir: folder of the training; masks go to masks/patterns_<number>.npz in it.

    Returns:
        the paths, in the order of the patterns; none where no mask is learnt.

    Raises:
        InputError: the checkpoint cannot be read.
    """
    encoder = experiment.task.model.encoder
    distinct = dict.fromkeys(encoder.attention_per_layer())
    learning = {
        index: config
        for index, config in enumerate(distinct)
        if config.name == "learned_mask" and config.objective == DAM
    }
    stored = pattern_variables(model_dir) if learning else {}
    paths = []
    for index, config in learning.items():
        pattern = LearnedMaskPattern.restored(config, stored[index])
        paths.append(os.path.join(model_dir, FOLDER, f"patterns_{index}.npz"))
        pattern.save_mask(paths[-1])
        print(f"mask | {paths[-1]}: sparsity {float(pattern.sparsity()):.1%}", flush=True)
    return paths
