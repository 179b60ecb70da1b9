"""All analyses of trained models: printed tables, plots, and analysis.json."""

import numpy as np

from mate_tf.analysis.attention import examples
from mate_tf.analysis.attention.trained import TrainedModel
from mate_tf.analysis.plots import masks as mask_plots
from mate_tf.attention import mask_pruning
from mate_tf.attention.learned_mask import LearnedMaskPattern
from mate_tf.errors import InputError
from mate_tf.evaluation.metrics import comparison
from mate_tf.files.atomic import write_json


def learned_masks(trained: TrainedModel) -> dict:
    """Reports `learned_mask`: importance of positions and, with "dam", the mask of each head.

    The plots are those of SparseBERT's figures 2, 5 and 6.
    """
    results = {}
    for name, pattern in trained.learned(LearnedMaskPattern).items():
        importance = pattern.importance()
        normalised = mask_pruning.normalised(importance)
        by_head = [mask_plots.importance_by_position(each) for each in normalised]
        mean = {group: float(np.mean([head[group] for head in by_head])) for group in by_head[0]}
        columns = {"mean": mean}
        for title, choose in (("lowest head", min), ("highest head", max)):
            columns[title] = {group: choose(head[group] for head in by_head) for group in mean}
        print(f"\n{comparison(columns, 'importance')}\n")
        results[name] = {
            "objective": pattern.config.objective,
            "length": pattern.config.length,
            "importance": mean,
            "importance of each head": by_head,
            "importance by distance": mask_plots.importance_by_distance(normalised.mean(0)),
        }
        title = f"learned_mask ({name})"
        plots = {
            "importance": mask_plots.importance_map(importance, f"{title}: mean over the heads"),
            "importance_by_head": mask_plots.head_importance(importance, title),
        }
        if pattern.learns_mask:
            mask = pattern.final_mask()
            results[name]["sparsity of each head"] = [*map(mask_pruning.sparsity, mask)]
            plots["masks"] = mask_plots.head_masks(
                mask, f"{title}: sparsity {100 * mask_pruning.sparsity(mask):.1f} %"
            )
        for kind, figure in plots.items():
            trained.save_plot(figure, f"{name}.{kind}.png")
    return results


ANALYSES = {
    "learned masks": learned_masks,
    "masks of an example": examples.example_masks,
    "attention flow": examples.attention_flow,
    "table": examples.table_maps,
    "coverage": examples.coverage,
}
"""Name -> function of a `TrainedModel`. It writes plots and returns results for analysis.json, or
nothing if the analysis does not apply to the model."""


def analyze(*jobs) -> list[dict[str, dict]]:
    """Prints the results of all analyses, and writes plots and analysis.json.

    The files are written to <model_dir>/analysis of each job.

    Args:
        *jobs: the jobs, see `TrainedModel`.

    Returns:
        for each job: name of the analysis -> results, as in the JSON file. Empty if no analysis
        applies to the model.

    Raises:
        InputError: if there is no checkpoint, the checkpoint is of another model, examples are
            missing, or no analysis applies to any job.
    """
    all_found = []
    for trained in map(TrainedModel, jobs):
        result = {name: results for name, run in ANALYSES.items() if (results := run(trained))}
        all_found.append(result)
        if result:
            path = trained.path("analysis.json")
            write_json(path, result)
            print(f"analyzed | {path}")
    if not any(all_found):
        names = ", ".join(dict.fromkeys(config.name for config in trained.configs))
        raise InputError(
            f"{trained.checkpoint}: nothing to analyze: with attention {names}, every token "
            "attends to all tokens"
        )
    return all_found
