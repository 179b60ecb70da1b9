"""Settings of the trainer: tf-models' own, with BERT's optimizer and learning rate added.

A YAML file names them like the types of tf-models:

    trainer:
      optimizer_config:
        optimizer: {type: bert_adamw, bert_adamw: {weight_decay_rate: 0.01}}
        learning_rate: {type: bert, bert: {initial_learning_rate: 5.0e-5, warmup_ratio: 0.01}}
"""

import dataclasses

from official.core import config_definitions
from official.modeling import optimization
from official.modeling.hyperparams import base_config
from official.modeling.optimization.configs import optimization_config, optimizer_config

PATTERNS = r"\bpatterns_\d+/"
"""Regular expression that matches names of variables of attention patterns, such as alpha."""


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
    gradient_accumulation_steps: int = 1
    bias_correction: bool = False
    pattern_learning_rate_factor: float = 1.0
    epsilon: float = 1e-6
    weight_decay_rate: float = 0.01
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

    initial_learning_rate: float = 5e-5
    decay_steps: int = 0
    warmup_ratio: float = 0.01
    warmup_steps: int = -1


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
    layer_log_interval: int = 0
    worker_timeout: int = 300
