"""Reports on learned attention patterns: importance of positions and of relations."""

import numpy as np
from official.modeling import hyperparams

from mate_tf import attention
from mate_tf.analysis.attention import mate_from_relations
from mate_tf.analysis.attention.trained import Trained
from mate_tf.analysis.plots import masks as mask_plots
from mate_tf.attention import mask_pruning
from mate_tf.attention.learned_mask import LearnedMaskPattern
from mate_tf.attention.relation_mask import RELATIONS, RelationMaskPattern
from mate_tf.errors import InputError
from mate_tf.evaluation.metrics import comparison
from mate_tf.files.atomic import atomic_path

MAX_EXAMPLES = 2000
"""Largest number of examples for the settings of MATE. More examples change little."""


def learned_masks(trained: Trained) -> dict:
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


def relation_masks(trained: Trained) -> dict:
    """Reports `relation_mask`: importance of relations, and similar settings of MATE, as YAML."""
    learned = trained.learned(RelationMaskPattern)
    if not learned:
        return {}
    context, results, like = _context(trained), {}, {}
    for name, pattern in learned.items():
        importance = pattern.importance()
        settings = mate_from_relations.suggest(pattern.alpha.numpy(), context)
        like[pattern.config] = settings.attention
        results[name] = _relations(importance, settings) | {
            "objective": pattern.config.objective,
            "reached with these radii": settings.reached,
            "seen by MATE of what is kept": settings.seen,
        }
        trained.save_plot(
            mask_plots.relation_importance(
                importance, RELATIONS, settings.kept, f"relation_mask ({name})"
            ),
            f"{name}.relations.png",
        )
    experiment = trained.job.experiment.replace()
    encoder = experiment.task.model.encoder
    per_layer = [like.get(config, config) for config in encoder.attention_per_layer()]
    encoder.attention = per_layer if len(set(per_layer)) > 1 else per_layer[0]
    path = trained.path("mate_efficient.yaml")
    with atomic_path(path) as temporary:
        hyperparams.save_params_dict_to_yaml(experiment, temporary)
    print(f"configuration | --config_file={path}")
    return results


def _relations(importance, settings: mate_from_relations.MateSettings) -> dict:
    """Prints the importance by head and MATE's settings; returns them for the JSON file."""
    like = ["row" if is_row else "column" for is_row in settings.row_heads]
    heads = [dict(zip(RELATIONS, map(float, head), strict=True)) for head in importance]
    columns = {name: {n: head[name] for n, head in enumerate(heads, 1)} for name in RELATIONS}
    print(f"\n{comparison(columns | {'like': dict(enumerate(like, 1))}, 'head')}\n")
    options = settings.attention.as_dict()
    del options["name"]
    print(f"mate_efficient | {', '.join(f'{key}: {value}' for key, value in options.items())}")
    reached = [f"{share:.1%} of what {kind} heads keep" for kind, share in settings.reached.items()]
    print(
        f"reached | {', '.join(reached)}; "
        f"MATE's heads attend to {settings.seen:.1%} of all kept pairs"
    )
    return {
        "importance of each head": heads,
        "kept by each head": [
            [RELATIONS[number] for number in np.flatnonzero(head)] for head in settings.kept
        ],
        "heads like": like,
        "mate_efficient": options,
    }


def _context(trained: Trained) -> attention.TableContext:
    """Returns the tables for the settings of MATE; raises InputError if there are none."""
    context = trained.context(MAX_EXAMPLES)
    if context is None:
        path = trained.job.experiment.task.validation_data.input_path
        raise InputError(f"{path}: has no example with a table, which relations need")
    return context
