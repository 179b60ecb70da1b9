"""Settings of the trainer: tf-models' own, with BERT's optimizer and learning rate beside them.

A YAML file may name them like the types of tf-models:

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
        pattern_learning_rate_factor: how many times the learning rate the variables of attention
            patterns get, such as alpha of `learned_mask`.
        epsilon: added to the root of the second moment.
        weight_decay_rate: share of a variable that a step takes off, times the learning rate.
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
        initial_learning_rate: rate that the warm-up rises to, and that the decay, which counts
            from step 0, begins with.
        decay_steps: step at which the rate is 0; 0: `trainer.train_steps`.
        warmup_ratio: share of `decay_steps` in which the rate rises.
        warmup_steps: steps in which the rate rises; negative: `warmup_ratio` decides.
    """

    initial_learning_rate: float = 5e-5
    decay_steps: int = 0
    warmup_ratio: float = 0.01
    warmup_steps: int = -1


@dataclasses.dataclass
class OptimizerConfig(optimization_config.OptimizerConfig):
    """tf-models' optimizers and `bert_adamw`.

    Attributes:
        type: name of the key below whose optimizer trains.
        bert_adamw: AdamW as BERT and TAPAS train with it.
    """

    type: str | None = "bert_adamw"
    bert_adamw: BertAdamWConfig = dataclasses.field(default_factory=BertAdamWConfig)


@dataclasses.dataclass
class LearningRateConfig(optimization_config.LrConfig):
    """tf-models' learning rates and `bert`.

    Attributes:
        type: name of the key below whose schedule is followed.
        bert: linear warm-up and linear decay, as BERT and TAPAS have it.
    """

    type: str | None = "bert"
    bert: BertLearningRateConfig = dataclasses.field(default_factory=BertLearningRateConfig)


@dataclasses.dataclass
class OptimizationConfig(optimization.OptimizationConfig):
    """tf-models' optimization config with BERT's as default."""

    optimizer: OptimizerConfig = dataclasses.field(default_factory=OptimizerConfig)
    learning_rate: LearningRateConfig = dataclasses.field(default_factory=LearningRateConfig)


@dataclasses.dataclass
class TrainerConfig(config_definitions.TrainerConfig):
    """tf-models' trainer config with that optimization.

    Attributes:
        continue_steps: go on at the step that `task.init_checkpoint` was saved at, in the schedule
            of the learning rate too, and with its optimizer's moments; False: at step 0.
        layer_log_interval: steps between lines of layers.jsonl (`training.layer_log`); 0: none.
        worker_timeout: seconds to wait for the other workers (`training.workers`) at the start.
    """

    optimizer_config: OptimizationConfig = dataclasses.field(default_factory=OptimizationConfig)
    continue_steps: bool = False
    layer_log_interval: int = 0
    worker_timeout: int = 300
