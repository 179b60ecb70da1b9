"""Configs of experiments: data, model and training, as subclasses of tf-models' configs.

A YAML file names the optimizer and the learning rate like the types of tf-models:

    trainer:
      optimizer_config:
        optimizer: {type: bert_adamw, bert_adamw: {weight_decay_rate: 0.01}}
        learning_rate: {type: bert, bert: {initial_learning_rate: 5.0e-5, warmup_ratio: 0.01}}
"""

import dataclasses
from typing import Annotated

from official.core import config_definitions
from official.modeling import optimization
from official.modeling.hyperparams import base_config
from official.modeling.optimization.configs import optimization_config, optimizer_config

from mate_tf.attention import AttentionConfig
from mate_tf.field_types import (
    MOST,
    Count,
    CountOrZero,
    NotNegative,
    Positive,
    Range,
    Share,
    Tokens,
)
from mate_tf.models.classifier import ClassifierConfig
from mate_tf.tables.conversion import ConversionConfig as conversion_options
from mate_tf.tasks import registry
from mate_tf.tasks.optimizers import PATTERNS  # the import registers `bert_adamw` and `bert`

_Conversion = dataclasses.make_dataclass(
    "_Conversion",
    [(field.name, field.type, field.default) for field in dataclasses.fields(conversion_options)],
    bases=(base_config.Config,),
    namespace={"__doc__": conversion_options.__doc__, "__module__": __name__},
)


@dataclasses.dataclass
class ConversionConfig(_Conversion):
    """Conversion of interactions to examples, with the fields of `tables.conversion`.

    Attributes:
        bert_vocab_file: WordPiece vocabulary, one piece a line.
    """

    bert_vocab_file: str = ""

    def frozen(self) -> conversion_options:
        """Returns the frozen `tables.conversion` config that converters take."""
        return conversion_options(**self.converter_options())

    def converter_options(self):
        """Returns the keyword arguments of `ExampleConverter` besides the vocabulary."""
        options = self.as_dict()
        del options["bert_vocab_file"]
        return options


@dataclasses.dataclass
class TableDataConfig(base_config.Config):
    """Files of examples, and how the examples are batched.

    Attributes:
        input_path: TFRecord files, a path or pattern.
        global_batch_size: examples per step over all replicas.
        is_training: shuffle and repeat. False: one pass in order, with the last, smaller batch.
        buckets: sequence lengths. A batch has examples of one bucket and is padded to its length.
            Empty: every batch has the length of the longest possible example.
        max_batch_tokens: upper bound of batch size times length; batches of long buckets are
            smaller. 0: all batches have `global_batch_size` examples.
        curriculum_length: the first `curriculum_steps` batches have only examples of at most this
            many tokens. A resumed training continues the curriculum.
        curriculum_steps: batches with short examples only; 0: no curriculum.
        shuffle_buffer_size: size of the shuffle buffer, in examples.
        static_shapes: all batches have one shape, as TPUs and XLA need it: `buckets` are ignored,
            and the last batch of an evaluation is padded with empty examples. Training on a TPU
            or with XLA sets it.
        seed: seed of the shuffling; None: `tf_random_seed`, and without that another order in each
            process.
        skip_batches: number of batches that are left out at the start. A resumed training with a
            seed sets it to the number of batches that have been read.
    """

    input_path: str = ""
    global_batch_size: Annotated[int, Range(1, 1_000_000)] = 32
    is_training: bool = False
    buckets: list[Tokens] = dataclasses.field(default_factory=list)
    max_batch_tokens: CountOrZero = 0
    curriculum_length: CountOrZero = 0
    curriculum_steps: CountOrZero = 0
    shuffle_buffer_size: CountOrZero = 10_000
    static_shapes: bool = False
    seed: CountOrZero | None = None
    skip_batches: CountOrZero = 0


@dataclasses.dataclass
class TableTaskConfig(config_definitions.TaskConfig):
    """Config of a task: its data, its model, its initial weights.

    Attributes:
        name: the task's name, as in google-research/tapas.
        init_checkpoint: checkpoint with the initial weights, in any format of `checkpoints.load`;
            empty: training from scratch.
        skip_mismatched: skip variables of another shape in `init_checkpoint` instead of raising.
        reset_output_cls: do not load the classification head from `init_checkpoint`.
        init_exclude: regular expression; variables with a match in their names are not loaded, for
            example "pooler" of an encoder that was trained without it.
        freeze: regular expression; variables with a match in their names are not trained, for
            example "attention/self/tree/" for decision trees. A variable has two names: the
            reference's and its path in checkpoints.
        conversion: conversion of the task's data to examples.
        model: the encoder and its heads.
        train_data: examples to learn from.
        validation_data: examples for evaluation during and after training.
    """

    name: str = ""
    init_checkpoint: str = ""
    skip_mismatched: bool = False
    reset_output_cls: bool = False
    init_exclude: str = ""
    freeze: str = ""
    conversion: ConversionConfig = dataclasses.field(default_factory=ConversionConfig)
    model: ClassifierConfig = dataclasses.field(default_factory=ClassifierConfig)
    train_data: TableDataConfig = dataclasses.field(
        default_factory=lambda: TableDataConfig(is_training=True)
    )
    validation_data: TableDataConfig = dataclasses.field(default_factory=TableDataConfig)


# tf-models' `task_factory.get_task` asks the config for its task. Subclasses inherit this.
base_config.bind(TableTaskConfig)(registry.create)


@dataclasses.dataclass
class BertAdamWConfig(optimizer_config.AdamWeightDecayConfig):
    """Settings of `BertAdamW`; the defaults are BERT's and TAPAS's.

    Attributes:
        name: name of the optimizer.
        gradient_accumulation_steps: batches over which gradients are averaged before a step.
        bias_correction: correct the moments' bias towards 0, as Adam does and BERT does not.
        pattern_learning_rate_factor: factor of the learning rate for the variables of attention
            patterns, such as alpha of `learned_mask`.
        epsilon: number added to the root of the second moment.
        weight_decay_rate: a step subtracts this times the learning rate times the variable.
        exclude_from_weight_decay: regular expressions; variables with a match in their names do
            not decay.
    """

    name: str = "BertAdamW"
    gradient_accumulation_steps: Annotated[int, Range(1, 1_000_000)] = 1
    bias_correction: bool = False
    pattern_learning_rate_factor: NotNegative = 1.0
    epsilon: Positive = 1e-6
    weight_decay_rate: NotNegative = 0.01
    exclude_from_weight_decay: list[str] = dataclasses.field(
        default_factory=lambda: ["LayerNorm", "layer_norm", "bias", PATTERNS]
    )


@dataclasses.dataclass
class BertLearningRateConfig(base_config.Config):
    """Settings of `LinearDecayWithWarmup`.

    Attributes:
        initial_learning_rate: target of the warm-up, and start of the decay. Both count from step
            0.
        decay_steps: step at which the rate is 0; 0: `trainer.train_steps`.
        warmup_ratio: share of `decay_steps` in which the rate rises.
        warmup_steps: steps in which the rate rises; negative: `warmup_ratio` applies.
    """

    initial_learning_rate: NotNegative = 5e-5
    decay_steps: CountOrZero = 0
    warmup_ratio: Share = 0.01
    warmup_steps: Annotated[int, Range(-1, MOST)] = -1


@dataclasses.dataclass
class OptimizerConfig(optimization_config.OptimizerConfig):
    """tf-models' optimizers and `bert_adamw`.

    Attributes:
        type: key of the optimizer to use.
        bert_adamw: AdamW of BERT and TAPAS.
    """

    type: str | None = "bert_adamw"
    bert_adamw: BertAdamWConfig = dataclasses.field(default_factory=BertAdamWConfig)


@dataclasses.dataclass
class LearningRateConfig(optimization_config.LrConfig):
    """tf-models' learning rates and `bert`.

    Attributes:
        type: key of the schedule to use.
        bert: linear warm-up and linear decay, as in BERT and TAPAS.
    """

    type: str | None = "bert"
    bert: BertLearningRateConfig = dataclasses.field(default_factory=BertLearningRateConfig)


@dataclasses.dataclass
class OptimizationConfig(optimization.OptimizationConfig):
    """tf-models' optimization config with BERT's optimizer and learning rate as defaults."""

    optimizer: OptimizerConfig = dataclasses.field(default_factory=OptimizerConfig)
    learning_rate: LearningRateConfig = dataclasses.field(default_factory=LearningRateConfig)


@dataclasses.dataclass
class TrainerConfig(config_definitions.TrainerConfig):
    """tf-models' trainer config with this `OptimizationConfig`.

    Attributes:
        continue_steps: begin at the step of `task.init_checkpoint`, with its optimizer's moments,
            also in the schedule of the learning rate. False: begin at step 0.
        layer_log_interval: steps between lines of layers.jsonl (`training.layer_log`); 0: no file.
        worker_timeout: seconds to wait for the other workers (`training.workers`) at the start.
    """

    optimizer_config: OptimizationConfig = dataclasses.field(default_factory=OptimizationConfig)
    continue_steps: bool = False
    layer_log_interval: CountOrZero = 0
    worker_timeout: Count = 300


@dataclasses.dataclass
class BootstrapConfig(base_config.Config):
    """Treeformer's 2-D bootstrapping (paper, Algorithm 1); `training.bootstrap` trains with it.

    Attributes:
        layer_width: w, number of layers that get trees at a time, the last ones first;
            0: no bootstrapping.
        start_height: h_s; the first trees have height h_s + 1.
        steps_before: steps of a first stage without trees in any layer.
        steps_per_stage: steps of a stage; 0: `trainer.train_steps` are divided equally. The last
            stage has the remaining steps.
        attention: attention of the layers that have no trees yet.
        finished: what happens to layers with trees of full height when the layers before them get
            trees. "keep": they keep them, as the text of section 3.3 says: all parameters
            initialize the next model, and only the trees of the new layers are random. "restart":
            they begin again at height start_height + 1, with new trees, and grow with the new
            layers, as the inner loop of Algorithm 1 says: it trains models with height h in all
            layers from idx on. That throws away what the trees have learned, and once more for
            each group of layers, so "keep" is the default.
    """

    layer_width: CountOrZero = 0
    start_height: CountOrZero = 0
    steps_before: CountOrZero = 0
    steps_per_stage: CountOrZero = 0
    attention: AttentionConfig = dataclasses.field(
        default_factory=lambda: AttentionConfig(name="full")
    )
    finished: str = "keep"


@dataclasses.dataclass
class RuntimeConfig(config_definitions.RuntimeConfig):
    """tf-models' runtime config, with the zone and project of a TPU (`training.tpu`).

    Attributes:
        tpu_zone: Google Cloud zone of `tpu`; None: this machine's zone.
        gcp_project: Google Cloud project of `tpu`; None: this machine's project.
    """

    tpu_zone: str | None = None
    gcp_project: str | None = None


@dataclasses.dataclass
class TableExperiment(config_definitions.ExperimentConfig):
    """Config of an experiment: the contents of a YAML file in configs/.

    Attributes:
        task: data, model and the weights to start from.
        trainer: steps, intervals, optimizer and learning rate.
        runtime: devices, strategy and precision.
        bootstrap: stages in which layers get decision trees.
        tf_random_seed: seed of the initial weights, of dropout and of everything that has no seed
            of its own; None: another seed each time.
    """

    task: TableTaskConfig = dataclasses.field(default_factory=TableTaskConfig)
    trainer: TrainerConfig = dataclasses.field(default_factory=TrainerConfig)
    runtime: RuntimeConfig = dataclasses.field(default_factory=RuntimeConfig)
    bootstrap: BootstrapConfig = dataclasses.field(default_factory=BootstrapConfig)
    tf_random_seed: CountOrZero | None = None


def fine_tuning(
    task: TableTaskConfig,
    *,
    train_steps: int,
    batch_size: int,
    learning_rate: float,
    warmup_ratio: float,
    grad_clipping: float | None = 10.0,
) -> TableExperiment:
    """Returns an experiment with BERT's AdamW and learning rate, as google-research/tapas has it.

    `grad_clipping` bounds each element of a gradient; then the global norm is clipped to 1.
    """
    task.train_data.override({"is_training": True, "global_batch_size": batch_size})
    experiment = TableExperiment(task=task)
    experiment.trainer = TrainerConfig(
        train_steps=train_steps,
        steps_per_loop=100,
        summary_interval=100,
        checkpoint_interval=1000,
        validation_interval=5000,
    )
    experiment.trainer.optimizer_config.override(
        {
            "optimizer": {"bert_adamw": {"clipvalue": grad_clipping}},
            "learning_rate": {
                "bert": {"initial_learning_rate": learning_rate, "warmup_ratio": warmup_ratio}
            },
        }
    )
    return experiment
