"""--mode=analyze: what a trained model attends to, as tables, JSON and plots."""

import dataclasses
import functools
import importlib.util
import json
import os

import numpy as np
import tensorflow as tf
from official.modeling import hyperparams

from mate_tf import attention, checkpoints
from mate_tf.analysis import mask_plots, mate_from_relations
from mate_tf.attention import mask_pruning
from mate_tf.attention.learned_mask import LearnedMaskPattern
from mate_tf.attention.relation_mask import RELATIONS, RelationMaskPattern
from mate_tf.cli.job import Job, require_examples
from mate_tf.data import features as feature_names
from mate_tf.data.atomic import atomic_path
from mate_tf.errors import InputError
from mate_tf.evaluation.metrics import comparison
from mate_tf.training import experiments, trainer

FOLDER = "analysis"
"""In the model folder."""

MAX_EXAMPLES = 2000
"""Of the evaluation data that settings are fitted to; more change little."""


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
            with atomic_path(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
                json.dump(found, file, indent=2)
            print(f"analyzed | {path}")
    if not any(all_found):
        names = ", ".join(dict.fromkeys(config.name for config in trained.configs))
        raise InputError(
            f"{trained.checkpoint}: nothing to analyze: with attention {names}, every token sees "
            "every other one"
        )
    return all_found


@dataclasses.dataclass(frozen=True)
class Trained:
    """What is analyzed: the model of a job with the weights of a checkpoint.

    Attributes:
        job: the job.
    """

    job: Job

    @functools.cached_property
    def checkpoint(self) -> str:
        """The last one in the model folder, or `init_checkpoint` if there is none."""
        folder, initial = self.job.model_dir, self.job.experiment.task.init_checkpoint
        if initial and not tf.train.latest_checkpoint(folder):
            return initial
        experiments.check_same_model(self.job.experiment, folder, "encoder")
        return trainer.latest_checkpoint(folder)

    @functools.cached_property
    def configs(self) -> list:
        """The distinct AttentionConfigs, in the order of the encoder's patterns."""
        encoder = self.job.experiment.task.model.encoder
        return list(dict.fromkeys(encoder.attention_per_layer()))

    @functools.cached_property
    def model(self):
        """The whole model, for what depends on more than the patterns."""
        if self.checkpoint != self.job.experiment.task.init_checkpoint:
            return trainer.load_model(self.job.experiment, self.job.model_dir)
        model = self.job.task.build_model()
        print(f"loaded | {self.checkpoint}: {checkpoints.load(model, self.checkpoint)}")
        return model

    def learned(self, pattern_type) -> dict[str, attention.AttentionPattern]:
        """What of one type of patterns was learned: "patterns_<number>" -> pattern.

        Raises:
            InputError: the checkpoint is of a model that learned none.
        """
        wanted = {
            index: config
            for index, config in enumerate(self.configs)
            if attention.get(config.name).pattern is pattern_type
        }
        stored = checkpoints.pattern_variables(self.checkpoint) if wanted else {}
        for index, config in wanted.items():
            if "alpha" not in stored.get(index, ()):
                raise InputError(
                    f"{self.checkpoint}: is of a model without attention {config.name!r}: it has "
                    f"no patterns/{index}/alpha"
                )
        return {
            f"patterns_{index}": pattern_type.restored(config, stored[index])
            for index, config in wanted.items()
        }

    def examples(self) -> tf.data.Dataset:
        """Batches of the evaluation data; InputError if it is not there."""
        data = self.job.experiment.task.validation_data
        require_examples(data.input_path)
        return self.job.task.build_inputs(data)

    def path(self, name: str) -> str:
        """Of a file in the folder of the analysis."""
        return os.path.join(self.job.model_dir, FOLDER, name)

    def save_plot(self, figure, name: str) -> str:
        """Writes a figure, and says so; returns its path."""
        with atomic_path(self.path(name)) as temporary:
            figure.savefig(temporary, format="png", dpi=120)
        print(f"plotted | {self.path(name)}")
        return self.path(name)


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
        name: tf.reshape(example[name][:1], [parts, -1])[:1]
        for name in feature_names.names(feature_names.MODEL_INPUTS)
        if name in example
    }
    context = attention.TableContext(*(example[name] for name in attention.TableContext._fields))
    real = np.flatnonzero(context.input_mask[0])
    outputs = encoder(example, training=False)
    inputs = [outputs["embedding_output"], *outputs["encoder_outputs"][:-1]]
    for index, config in others.items():
        pattern = encoder.patterns[index]
        computed, masks = pattern(context, training=False), {}
        for number, (block, x) in enumerate(zip(encoder.blocks, inputs, strict=True), 1):
            mask = block.attention.mask(x, computed) if block.attention_config == config else None
            if mask is not None:
                masks[f"layer_{number}"] = mask
        for name, mask in (masks or {f"patterns_{index}": pattern.mask(context)}).items():
            seq = len(context.input_mask[0])
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


def _context(trained: Trained) -> attention.TableContext:
    """Where tokens stand in the tables of the evaluation data, up to MAX_EXAMPLES of them."""
    length = trained.job.experiment.task.conversion.max_seq_length
    found = {name: [] for name in attention.TableContext._fields}
    for batch in trained.examples().as_numpy_iterator():
        with_table = (batch["column_ids"] > 0).any(1)
        for name, rows in found.items():
            ids = batch[name][with_table]
            rows.append(np.pad(ids, [[0, 0], [0, length - ids.shape[1]]]))
        if sum(map(len, found["input_mask"])) >= MAX_EXAMPLES:
            break
    context = attention.TableContext(
        *(np.concatenate(rows)[:MAX_EXAMPLES] for rows in found.values())
    )
    if not len(context.input_mask):
        path = trained.job.experiment.task.validation_data.input_path
        raise InputError(f"{path}: has no example with a table, whose relations these are")
    return context


ANALYSES = {
    "learned masks": learned_masks,
    "relations": relation_masks,
    "masks of an example": example_masks,
}
"""Each takes a `Trained`, writes its plots, and returns what goes into analysis.json: empty where
the model has nothing of the kind."""
