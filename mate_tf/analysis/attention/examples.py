"""Reports on a model's attention in examples: masks, attention flow, maps, coverage."""

import itertools

import numpy as np
import tensorflow as tf

from mate_tf import attention
from mate_tf.analysis.attention import cell_maps, flow_by_type, mate_settings
from mate_tf.analysis.attention.flow import table_tokens
from mate_tf.analysis.attention.trained import TrainedModel, model_inputs
from mate_tf.analysis.plots import flow as flow_plots
from mate_tf.analysis.plots import masks as mask_plots
from mate_tf.analysis.plots import table_page
from mate_tf.analysis.plots import tables as table_plots
from mate_tf.attention import mask_pruning
from mate_tf.attention.config import option_names
from mate_tf.data import padding
from mate_tf.data.converters.tokenizer import read_vocabulary
from mate_tf.errors import InputError, on_one_line
from mate_tf.evaluation.metrics import comparison
from mate_tf.files.atomic import atomic_path
from mate_tf.models.encoder_config import EncoderConfig
from mate_tf.tables.text import counted

MAX_FLOW_EXAMPLES, MAX_COVERAGE_EXAMPLES = 200, 500
"""Largest number of examples for attention flow (quadratic memory), and for coverage."""

COVERAGES = (0.9, 0.95, 0.99, 1.0)
"""Coverages of `mate_exact` for which the cheapest settings are computed."""


def example_masks(trained: TrainedModel) -> dict:
    """Plots the masks of each head in the first example of the evaluation data.

    It skips variants that learn importance (see `learned`) and masks that allow all pairs.

    Returns:
        name of the plot -> variant, number of tokens, sparsity of each head.
    """
    numbers = {
        config: index
        for index, config in enumerate(trained.configs)
        if not attention.get(config.name).pattern.learns_importance
    }
    results = {}
    if not numbers:
        return results
    model, example = trained.model, next(iter(trained.examples()))
    example = {
        name: tf.reshape(example[name][:1], [model.num_parts, -1])[:1]
        for name in model_inputs(example)
    }
    question, masks = _question(trained, example), {}
    for number, layer in enumerate(model.encoder.inspect(example), 1):
        config = layer.pattern.config
        if config in numbers:
            by_content = layer.content_mask is not None
            shared = EncoderConfig.pattern_name(numbers[config])
            name = f"layer_{number}" if by_content else shared
            masks.setdefault((numbers[config], name), layer)
    for (_, name), layer in sorted(masks.items(), key=lambda item: item[0][0]):
        config, mask, seq = layer.pattern.config, layer.mask, layer.x.shape[1]
        real = np.flatnonzero(padding.real_tokens(layer.context.input_mask[0]))
        shown = np.broadcast_to(mask[0], [mask.shape[1], seq, seq])[:, real[:, None], real]
        if shown.all():
            continue
        sparsity = mask_pruning.sparsity(shown)
        summary = f"sparsity {100 * sparsity:.1f} % of {len(real)} tokens"
        print(f"mask | {name}, {config.name}: {summary}")
        title = "\n".join(filter(None, (f"{config.name} ({name}): {summary}", question)))
        trained.save_plot(mask_plots.head_masks(shown, title), f"{name}.example.png")
        results[name] = {
            "attention": config.name,
            "tokens": len(real),
            "sparsity of each head": [*map(mask_pruning.sparsity, shown)],
        }
    return results


def attention_flow(trained: TrainedModel) -> dict:
    """Measures the attention flow of table tokens (table 7) and finds row and column heads."""
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
    names = ", ".join(dict.fromkeys(config.name for config in trained.configs))
    title = f"{names}: attention from data cells, {counted(flow.examples, 'example')}"
    trained.save_plot(flow_plots.row_and_column_heads(flow, title), "heads.png")
    return results | {
        "examples with attention": flow.examples,
        "by layer and head": flow.by_head.tolist(),
        "heads like": likeness,
    }


def table_maps(trained: TrainedModel) -> dict:
    """Draws attention and masks over the table of the first example, as a plot and a page."""
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
    with atomic_path(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
        file.write(table_page.table_page(maps, title))
    print(f"page | {path}")
    return {"rows": maps.table.num_rows, "columns": maps.table.num_columns, "views": [*maps.views]}


def _question(trained: TrainedModel, example) -> str:
    """Returns the question of an example with a table in quotation marks; "" if it is not known."""
    features = {name: np.asarray(ids) for name, ids in example.items()}
    tokens = padding.real_tokens(features["input_mask"][0]).sum()
    features = {name: ids[:, :tokens] for name, ids in features.items()}
    if "column_ids" not in features or not table_tokens(features).any():
        return ""
    try:
        return f"“{cell_maps.words(features, read_vocabulary(trained.job.vocab_file))[1]}”"
    except InputError:
        return ""


def coverage(trained: TrainedModel) -> dict:
    """Measures the coverage of MATE and finds the cheapest settings for some coverages."""
    options = {c.name: c for c in trained.configs if "global_length" in option_names(c.name)}
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
