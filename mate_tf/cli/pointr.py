"""--task=POINTR: runs every mode for both stages in turn, then combines them.

```
<output_dir>/point, read            interactions and examples of each stage
<model_dir>/point, read             checkpoints and predictions of each stage
<model_dir>/<split>.predictions.json    answers for HybridQA's official evaluator
<export_dir>/point, read            the two SavedModels, which `PointrPredictor` loads
```
"""

import dataclasses
import os
import types

from mate_tf.cli import pointr_modes
from mate_tf.cli.ask import check_request
from mate_tf.cli.config_files import find_config
from mate_tf.cli.job import FLAG_OVERRIDES, Job
from mate_tf.errors import InputError
from mate_tf.pointr import config as pointr
from mate_tf.training import experiments

BOTH_STAGES = (
    "bert_vocab_file",
    "init_checkpoint",
    "mixed_precision",
    "skip_mismatched",
    "test_batch_size",
    "tf_random_seed",
)
"""Flags that apply to both stages."""

POINT_ONLY = (
    "attention",
    "global_length",
    "radius",
    "row_heads_ratio",
    "reset_position_index_per_cell",
    "expand_entity_descriptions",
    "entity_descriptions_sentence_limit",
    "use_entity_title",
)
"""Flags about long tables. They apply to the first stage only; the reader's inputs are short."""


@dataclasses.dataclass(frozen=True)
class Pipeline:
    """The jobs of both stages and their common settings.

    Attributes:
        config: a `PointrExperiment`.
        point, read: the `Job` of each stage.
        model_dir: folder for predictions and metrics of both stages together.
        export_dir: folder for the two SavedModels.
    """

    config: pointr.PointrExperiment
    point: Job
    read: Job
    model_dir: str
    export_dir: str

    @classmethod
    def from_flags(cls, flags) -> "Pipeline":
        """Reads the configuration: each stage's defaults, its file, the file, the flags.

        Raises:
            InputError: if any of them is not valid.
        """
        config_file = flags.config_file and find_config(flags.config_file)
        config = _read(config_file)
        stem = os.path.splitext(os.path.basename(config_file or "pointr"))[0]
        output_dir = flags.output_dir or os.path.join("out", stem)
        model_dir = flags.model_dir or os.path.join(output_dir, "model")
        export_dir = flags.export_dir or os.path.join(model_dir, "export")
        overrides = [experiments.read_override(text) for text in flags.params_override]
        for values, source in overrides:
            experiments.override(config, _without_stages(values), source)
            config.check(source)
        _check_flags(flags)
        jobs = {
            stage: Job.create(
                getattr(config, stage),
                _flags_of(stage, flags),
                [(values[stage], source) for values, source in overrides if stage in values],
                *(os.path.join(folder, stage) for folder in (output_dir, model_dir, export_dir)),
            )
            for stage in pointr.STAGES
        }
        return cls(config, model_dir=model_dir, export_dir=export_dir, **jobs)

    @property
    def jobs(self) -> tuple[Job, Job]:
        """The jobs of both stages, in the order in which they run."""
        return self.point, self.read


def main(flags) -> None:
    """Runs --mode for POINTR."""
    if flags.mode == "ask":
        _check_request(flags)
        pointr_modes.ask(flags)
    elif flags.mode in pointr_modes.MODES:
        pointr_modes.MODES[flags.mode](Pipeline.from_flags(flags))
    else:
        raise InputError(f"task {pointr.NAME} has no --mode={flags.mode}")


def _check_request(flags) -> None:
    check_request(flags)
    if not flags.export_dir:
        raise InputError(
            f"--task={pointr.NAME} --mode=ask needs --export_dir=FOLDER of the exported models"
        )


def _read(config_file: str | None) -> pointr.PointrExperiment:
    """Reads a config: the defaults, then the files of `<stage>.config_file`, then this file."""
    config = pointr.PointrExperiment()
    for given, source in experiments.read_chain(config_file) if config_file else ():
        for stage, task in pointr.STAGES.items():
            section = given.get(stage)
            if isinstance(section, dict) and "config_file" in section:
                path = find_config(str(section.pop("config_file")))
                setattr(config, stage, experiments.load(path, task=task))
        experiments.override(config, given, source)
    config.check(config_file or "the defaults")
    return config


def _without_stages(values: dict) -> dict:
    return {key: value for key, value in values.items() if key not in pointr.STAGES}


def _check_flags(flags) -> None:
    """Raises InputError for a flag that could apply to either stage."""
    for name in FLAG_OVERRIDES:
        if getattr(flags, name) is not None and name not in BOTH_STAGES + POINT_ONLY:
            key = FLAG_OVERRIDES[name]
            raise InputError(
                f"--{name}: for which stage? "
                f"Use --params_override=point.{key}=... or read.{key}=..."
            )


def _flags_of(stage: str, flags):
    """Returns the flags for `Job.create` of a stage. Flags that do not apply to it are None."""
    values = {name: getattr(flags, name) for name in flags}
    for name in FLAG_OVERRIDES:
        if name not in BOTH_STAGES and not (stage == pointr.POINT and name in POINT_ONLY):
            values[name] = None
    return types.SimpleNamespace(**values)
