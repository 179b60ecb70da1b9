"""Treeformer's 2-D bootstrapping: more and more layers get decision trees, and the trees grow.

If all layers get trees at once, training stops at a high loss (Treeformer, section 3.3).
Algorithm 1 therefore works in stages. The last layers get trees first. Their trees grow level by
level, and each stage starts from the weights of the previous one. Then the layers below get trees,
while the finished layers keep their height, or begin again (`BootstrapConfig.finished`).

An experiment with `bootstrap.layer_width` trains in such stages. Its `task.model.encoder.attention`
is the attention of the final model. Steps, learning rate and the optimizer's moments continue from
stage to stage as in a single training.
"""

import dataclasses
import os

from mate_tf import attention, field_types
from mate_tf.attention import AttentionConfig
from mate_tf.attention.abilities import HasTrees
from mate_tf.checkpoints.latest import latest
from mate_tf.errors import InputError
from mate_tf.tasks.configs import TableExperiment
from mate_tf.training import experiments, layer_log, trainer

_FOLDER = "stage_{}"

KEEP, RESTART = "keep", "restart"
FINISHED = (KEEP, RESTART)
"""Values of `bootstrap.finished`."""


@dataclasses.dataclass(frozen=True)
class Stage:
    """A part of the training in which the trees do not change.

    Attributes:
        number: number of the stage, from 1.
        first_step: global step at which it begins.
        experiment: the experiment to train up to its `trainer.train_steps`. `train` sets its
            `task.init_checkpoint` to the last checkpoint of the previous stage.
    """

    number: int
    first_step: int
    experiment: TableExperiment

    @property
    def last_step(self) -> int:
        """Global step at which the stage ends."""
        return self.experiment.trainer.train_steps

    def __str__(self):
        layers = self.experiment.task.model.encoder.attention_per_layer()
        texts = (
            f"{config.name} {tree_height(config)}" if has_trees(config) else config.name
            for config in layers
        )
        return f"steps {self.first_step} to {self.last_step} | {', '.join(texts)}"


def train(experiment: TableExperiment, model_dir: str) -> dict:
    """Trains like `trainer.train`, in stages if the experiment has `bootstrap.layer_width`.

    Stage n writes to model_dir/stage_n. The last stage writes to `model_dir` itself, which then
    looks like an ordinary training of the target model. An interrupted training resumes in the same
    stage, from its last checkpoint.

    Raises:
        InputError: see `stages` and `trainer.train`; also if `model_dir` has a stage of another
            schedule.
    """
    if not experiment.bootstrap.layer_width:
        return trainer.train(experiment, model_dir)
    planned = stages(experiment)
    folders = _folders(model_dir, planned)
    steps = [trainer.global_step(folder) for folder in folders]
    for stage, folder, step in zip(planned[:-1], folders, steps, strict=False):
        experiments.check_same_model(stage.experiment, folder)
        if step > stage.last_step:
            raise InputError(
                f"{folder}: was trained for {step} steps, but this stage now ends after "
                f"{stage.last_step}; give another --model_dir"
            )
    begun = max((index for index, step in enumerate(steps) if step), default=0)
    for stage, folder in list(zip(planned, folders, strict=True))[begun:]:
        if trainer.global_step(folder) == stage.last_step and stage is not planned[-1]:
            continue
        if stage.number > 1:
            before = latest(folders[stage.number - 2])
            stage.experiment.task.init_checkpoint = before or ""
        print(f"stage | {stage.number} of {len(planned)} | {stage}", flush=True)
        metrics = trainer.train(stage.experiment, folder)
    return metrics


def stages(experiment: TableExperiment) -> list[Stage]:
    """Returns the stages of Algorithm 1 of the paper, for the layers that have trees in the end.

    If layers of one group have trees of different heights, each grows up to its own height.

    Raises:
        InputError: if `bootstrap.finished` is unknown, no layer has trees, they cannot grow from
            `start_height`, or there are more stages than steps.
    """
    experiment = experiments.resolve(experiment)
    config = experiment.bootstrap
    target = experiment.task.model.encoder.attention_per_layer()
    patterns = list(_patterns(config, target))
    ends = _last_steps(config, experiment.trainer.train_steps, len(patterns))
    planned, first_step = [], 0
    for number, (pattern, end) in enumerate(zip(patterns, ends, strict=True), start=1):
        of_stage = experiment.replace()
        of_stage.bootstrap.layer_width = 0
        of_stage.trainer.train_steps = end
        of_stage.trainer.layer_log_interval = (
            experiment.trainer.layer_log_interval or experiment.trainer.summary_interval
        )
        if number < len(patterns):
            of_stage.task.model.encoder.attention = pattern
        if number > 1:
            of_stage.trainer.continue_steps = True
            of_stage.task.override({"init_exclude": "", "reset_output_cls": False})
            # Trees that begin again are lower than those of the stage before, which do not fit.
            of_stage.task.skip_mismatched = config.finished == RESTART
        planned.append(Stage(number, first_step, of_stage))
        first_step = end
    return planned


def read_log(model_dir: str) -> list[dict]:
    """Returns the lines of layers.jsonl of all stages in order, with a key `stage`, from 1."""
    folders, number = [], 1
    while os.path.isdir(folder := os.path.join(model_dir, _FOLDER.format(number))):
        folders.append(folder)
        number += 1
    return [
        {"stage": stage, **line}
        for stage, folder in enumerate([*folders, model_dir], start=1)
        for line in layer_log.read(folder)
    ]


def has_trees(config: AttentionConfig) -> bool:
    """Returns whether a layer with this attention has decision trees."""
    return tree_height(config) is not None


def tree_height(config: AttentionConfig) -> int | None:
    """Returns the height of the decision trees of a layer with this attention; None: no trees."""
    layer = attention.get(config.name).attention
    return layer.tree_height(config) if issubclass(layer, HasTrees) else None


def _patterns(config, target):
    """Yields for each stage the list of all layers' attention configs."""
    of_trees = [layer for layer, config_of in enumerate(target) if has_trees(config_of)]
    if not of_trees:
        raise InputError(
            f"bootstrap.layer_width={config.layer_width}: no layer of task.model.encoder.attention "
            "has trees"
        )
    if config.finished not in FINISHED:
        raise field_types.refused(
            "bootstrap.finished", config.finished, f"one of {', '.join(FINISHED)}"
        )
    start = config.start_height
    layers = [config.attention if has_trees(each) else each for each in target]
    if config.steps_before:
        yield list(layers)
    for end in range(len(of_trees), 0, -config.layer_width):
        last = end if config.finished == KEEP else None
        group = of_trees[max(0, end - config.layer_width) : last]
        heights = {layer: tree_height(target[layer]) or 0 for layer in group}
        if not 0 <= start < max(heights.values()):
            raise InputError(
                f"bootstrap.start_height={start}: trees of height {max(heights.values())} "
                "cannot grow from there"
            )
        for height in range(start + 1, max(heights.values()) + 1):
            for layer in group:
                layers[layer] = _with_height(target[layer], min(height, heights[layer]))
            yield list(layers)


def _with_height(config, height):
    return attention.get(config.name).attention.with_tree_height(config, height)


def _last_steps(config, train_steps, number):
    """Returns the last step of each of `number` stages. The last stage ends at `train_steps`."""
    before = config.steps_before
    count = number - bool(before)
    if config.steps_per_stage:
        ends = [before + index * config.steps_per_stage for index in range(1, count)]
    else:
        ends = [before + (train_steps - before) * index // count for index in range(1, count)]
    ends = [*([before] if before else []), *ends, train_steps]
    if any(end <= start for start, end in zip([0, *ends], ends, strict=False)):
        raise InputError(
            f"trainer.train_steps={train_steps} are too few for {number} stages of bootstrapping "
            f"that end after {', '.join(map(str, ends[:-1]))} and more steps"
        )
    return ends


def _folders(model_dir, planned):
    return [
        *(os.path.join(model_dir, _FOLDER.format(stage.number)) for stage in planned[:-1]),
        model_dir,
    ]
