"""--mode=analyze: what a trained model attends to, as tables, JSON and plots."""

import importlib.util
import itertools

import numpy as np
import tensorflow as tf
from official.modeling import hyperparams

from mate_tf import attention
from mate_tf.analysis.attention import cell_maps, flow_by_type, mate_from_relations, mate_settings
from mate_tf.analysis.attention.flow import table_tokens
from mate_tf.analysis.plots import flow as flow_plots
from mate_tf.analysis.plots import masks as mask_plots
from mate_tf.analysis.plots import table_page
from mate_tf.analysis.plots import tables as table_plots
from mate_tf.attention import mask_pruning
from mate_tf.attention.learned_mask import LearnedMaskPattern
from mate_tf.attention.relation_mask import RELATIONS, RelationMaskPattern
from mate_tf.cli.job import Job
from mate_tf.cli.trained import Trained, model_inputs
from mate_tf.data.converters.tokenizer import read_vocabulary
from mate_tf.errors import InputError, on_one_line
from mate_tf.evaluation.metrics import comparison
from mate_tf.files.atomic import atomic_path, write_json, write_text

MAX_EXAMPLES = 2000
"""Of the evaluation data that learned relations are fitted to; more change little."""

MAX_FLOW_EXAMPLES, MAX_COVERAGE_EXAMPLES = 200, 500
"""The same for the attention flow, all of whose probabilities are written out, and for coverage."""

COVERAGES = (0.9, 0.95, 0.99, 1.0)
"""Shares of what `mate_exact` sees for which the cheapest settings are looked for."""


def main(flags) -> None:
    """Analyzes the last checkpoint in --model_dir or, if there is none, --init_checkpoint."""
    analyze(Job.from_flags(flags))


def analyze(*jobs: Job) -> list[dict[str, dict]]:
    """Prints what is found, and writes it to <model_dir>/analysis: plots and analysis.json.

    Returns:
        of each job: name of the analysis -> what it found, as in the JSON file; empty where there
        is nothing to analyze.

    Raises:
        InputError: there is no checkpoint, or one of another model; the examples that are needed
            are not there; there is nothing to analyze in any of the jobs; or no matplotlib.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise InputError("--mode=analyze needs matplotlib: pip install 'mate-tf[plots]'")
    all_found = []
    for trained in map(Trained, jobs):
        found = {name: results for name, run in ANALYSES.items() if (results := run(trained))}
        all_found.append(found)
        if found:
            path = trained.path("analysis.json")
            write_json(path, found)
            print(f"analyzed | {path}")
    if not any(all_found):
        names = ", ".join(dict.fromkeys(config.name for config in trained.configs))
        raise InputError(
            f"{trained.checkpoint}: nothing to analyze: with attention {names}, every token sees "
            "every other one"
        )
    return all_found


def learned_masks(trained: Trained) -> dict:
    """`learned_mask`: importance of positions and, with "dam", the mask of each head.

    SparseBERT's figures 2, 5 and 6.
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
        plots = {
            "importance": mask_plots.importance_map(importance, f"{name}, mean over the heads"),
            "importance_by_head": mask_plots.head_importance(importance, name),
        }
        if pattern.learns_mask:
            mask = pattern.final_mask()
            results[name]["sparsity of each head"] = [*map(mask_pruning.sparsity, mask)]
            plots["masks"] = mask_plots.head_masks(
                mask, f"{name}, sparsity {mask_pruning.sparsity(mask):.1%}"
            )
        for kind, figure in plots.items():
            trained.save_plot(figure, f"{name}.{kind}.png")
    return results


def relation_masks(trained: Trained) -> dict:
    """`relation_mask`: importance of relations, and settings of MATE like it, also as YAML."""
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
            mask_plots.relation_importance(importance, RELATIONS, settings.kept, name),
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
    """Prints what each head attends to and MATE's settings; returns it for the JSON file."""
    like = ["row" if is_row else "column" for is_row in settings.row_heads]
    heads = [dict(zip(RELATIONS, map(float, head), strict=True)) for head in importance]
    columns = {name: {n: head[name] for n, head in enumerate(heads, 1)} for name in RELATIONS}
    print(f"\n{comparison(columns | {'like': dict(enumerate(like, 1))}, 'head')}\n")
    options = settings.attention.as_dict()
    del options["name"]
    print(f"mate_efficient | {', '.join(f'{key}: {value}' for key, value in options.items())}")
    reached = [f"{share:.1%} of what {kind} heads keep" for kind, share in settings.reached.items()]
    print(
        f"reached | {', '.join(reached)}; MATE's heads see {settings.seen:.1%} of all that is kept"
    )
    return {
        "importance of each head": heads,
        "kept by each head": [
            [RELATIONS[number] for number in np.flatnonzero(head)] for head in settings.kept
        ],
        "heads like": like,
        "mate_efficient": options,
    }


def example_masks(trained: Trained) -> dict:
    """All other variants: who sees whom in an example, the first one of the evaluation data.

    Where every token sees every other one there is nothing to show.
    """
    others = {
        index: config
        for index, config in enumerate(trained.configs)
        if attention.get(config.name).pattern not in (LearnedMaskPattern, RelationMaskPattern)
    }
    results = {}
    if not others:
        return results
    model, example = trained.model, next(iter(trained.examples()))
    encoder = model.encoder
    parts = model.towers.num_parts if hasattr(model, "towers") else 1
    example = {
        name: tf.reshape(example[name][:1], [parts, -1])[:1] for name in model_inputs(example)
    }
    context = attention.TableContext.from_features(example)
    outputs = encoder(example, training=False)
    inputs = [outputs["embedding_output"], *outputs["encoder_outputs"][:-1]]
    for index, config in others.items():
        pattern = encoder.patterns[index]
        _, seen = pattern.add_tokens(inputs[0], context)
        real = np.flatnonzero(seen.input_mask[0])
        computed, masks = pattern(seen, training=False), {}
        for number, (block, x) in enumerate(zip(encoder.blocks, inputs, strict=True), 1):
            mask = block.attention.mask(x, computed) if block.attention_config == config else None
            if mask is not None:
                masks[f"layer_{number}"] = mask
        for name, mask in (masks or {f"patterns_{index}": pattern.mask(seen)}).items():
            seq = len(seen.input_mask[0])
            shown = np.broadcast_to(mask[0], [mask.shape[1], seq, seq])[:, real[:, None], real]
            if shown.all():
                continue
            sparsity = mask_pruning.sparsity(shown)
            print(f"mask | {name}, {config.name}: sparsity {sparsity:.1%} of {len(real)} tokens")
            title = f"{name}, {config.name}, {len(real)} tokens, sparsity {sparsity:.1%}"
            trained.save_plot(mask_plots.head_masks(shown, title), f"{name}.example.png")
            results[name] = {
                "attention": config.name,
                "tokens": len(real),
                "sparsity of each head": [*map(mask_pruning.sparsity, shown)],
            }
    return results


def attention_flow(trained: Trained) -> dict:
    """Where the attention of table tokens goes (table 7), and which heads look along rows."""
    examples = trained.examples_with_tables() if trained.has_examples else iter(())
    first = next(examples, None)
    if first is None:
        return {}
    flow, overall = flow_by_type.measure(
        trained.model.encoder, itertools.chain([first], examples), MAX_FLOW_EXAMPLES
    )
    table = flow.table() | overall.table()
    title = f"from table tokens of {overall.examples} examples to"
    print(f"\n{comparison(table, title)}\n")
    results = {"examples": overall.examples, "table 7": table}
    if not flow.examples:
        return results
    print(f"attention | mean over {flow.examples} of the examples, all layers and heads")
    likeness = flow.head_likeness()
    for number, heads in enumerate(likeness, 1):
        counts = ", ".join(f"{heads.count(kind)} {kind}" for kind in dict.fromkeys(heads))
        print(f"heads | layer {number} is like: {counts}")
    trained.save_plot(
        flow_plots.row_and_column_heads(flow, "from the tokens of data cells"), "heads.png"
    )
    return results | {
        "examples with attention": flow.examples,
        "by layer and head": flow.by_head.tolist(),
        "heads like": likeness,
    }


def table_maps(trained: Trained) -> dict:
    """Attention and masks drawn over a table, the first one of the evaluation data."""
    examples = trained.examples_with_tables() if trained.has_examples else ()
    example = next((each for each in examples if table_tokens(each).any()), None)
    if example is None:
        print("table | no example with a table: none is drawn")
        return {}
    try:
        pieces = read_vocabulary(trained.job.vocab_file)
        maps = cell_maps.measure(trained.model.encoder, example, pieces)
    except InputError as error:
        print(f"table | {on_one_line(error)}: none is drawn")
        return {}
    title = f"{', '.join(dict.fromkeys(config.name for config in trained.configs))}: "
    title += trained.checkpoint
    trained.save_plot(table_plots.table_maps(maps, title), "table.png")
    path = trained.path("table.html")
    write_text(path, table_page.table_page(maps, title))
    print(f"page | {path}")
    return {"rows": maps.table.num_rows, "columns": maps.table.num_columns, "views": [*maps.views]}


def coverage(trained: Trained) -> dict:
    """What the attention of MATE reaches, and the cheapest settings for some coverages."""
    options = {c.name: c for c in trained.configs if hasattr(c, "global_length")}
    context = trained.context(MAX_COVERAGE_EXAMPLES) if options and trained.has_examples else None
    if context is None:
        return {}
    results = {}
    for name, config in options.items():
        radii = [config.get(f"{kind}_radius") or config.radius for kind in ("row", "column")]
        reached = attention.coverage(context, config.global_length, *radii)
        print(f"coverage | {name}, G {config.global_length}, R {radii}: {reached:.2%}")
        results[name] = {"global_length": config.global_length, "radii": radii, "reached": reached}
    rows = {f"{share:.0%}": mate_settings.cheapest(context, share)._asdict() for share in COVERAGES}
    columns = {
        "G": {name: str(row["global_length"]) for name, row in rows.items()},
        "R rows": {name: str(row["row_radius"]) for name, row in rows.items()},
        "R columns": {name: str(row["column_radius"]) for name, row in rows.items()},
        "pairs of full attention": {name: row["compared"] for name, row in rows.items()},
    }
    print(f"\n{comparison(columns, 'coverage')}\n")
    return results | {"cheapest": rows}


def _context(trained: Trained) -> attention.TableContext:
    """The tables that settings are fitted to; InputError if there is none."""
    context = trained.context(MAX_EXAMPLES)
    if context is None:
        path = trained.job.experiment.task.validation_data.input_path
        raise InputError(f"{path}: has no example with a table, whose relations these are")
    return context


ANALYSES = {
    "learned masks": learned_masks,
    "relations": relation_masks,
    "masks of an example": example_masks,
    "attention flow": attention_flow,
    "table": table_maps,
    "coverage": coverage,
}
"""Each takes a `Trained`, writes its plots, and returns what goes into analysis.json: empty where
the model has nothing of the kind."""
