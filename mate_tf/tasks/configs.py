"""What experiments on table tasks say: data, model, training, in tf-models' terms."""

import dataclasses

from official.core import config_definitions
from official.modeling.hyperparams import base_config

from mate_tf.attention import AttentionConfig
from mate_tf.models.classifier import ClassifierConfig
from mate_tf.tables.conversion import ConversionConfig as conversion_options
from mate_tf.tasks.trainer_config import TrainerConfig

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
        """Returns the values as converters take them."""
        return conversion_options(**self.converter_options())

    def converter_options(self):
        """Returns the keyword arguments of `ExampleConverter` besides the vocabulary."""
        options = self.as_dict()
        del options["bert_vocab_file"]
        return options


@dataclasses.dataclass
class TableDataConfig(base_config.Config):
    """Where examples come from and how they are batched.

    Attributes:
        input_path: TFRecord files, a path or pattern.
        global_batch_size: examples per step over all replicas.
        is_training: shuffle and repeat; otherwise one pass in order, the last batch included.
        buckets: sequence lengths; a batch holds examples of one bucket and is padded to its length.
            Empty: every batch has the length of the longest possible example.
        max_batch_tokens: batches of long buckets are smaller, so that batch times length stays
            below this; 0: all have `global_batch_size`.
        curriculum_length: the first `curriculum_steps` batches have only examples of at most this
            many tokens. Training that resumes goes on where it was in the curriculum.
        curriculum_steps: see there; 0: none.
        shuffle_buffer_size: examples to draw from.
        static_shapes: all batches have one shape, as a TPU's program has: no `buckets`, and the
            last one of an evaluation is filled up. Training on a TPU or with
            XLA sets it.
        seed: of the shuffling; None: it follows `tf_random_seed`. Training that resumes adds the
            step that it goes on from, so that it does not repeat the order it began with.
    """

    input_path: str = ""
    global_batch_size: int = 32
    is_training: bool = False
    buckets: list[int] = dataclasses.field(default_factory=list)
    max_batch_tokens: int = 0
    curriculum_length: int = 0
    curriculum_steps: int = 0
    shuffle_buffer_size: int = 10_000
    static_shapes: bool = False
    seed: int | None = None


@dataclasses.dataclass
class TableTaskConfig(config_definitions.TaskConfig):
    """A task: its data, its model, where the weights come from.

    Attributes:
        name: the task's name, as in google-research/tapas.
        init_checkpoint: what to start from, anything `checkpoints.load` reads; empty: from scratch.
        skip_mismatched: leave variables of another shape in it aside instead of refusing them.
        reset_output_cls: leave its classification head aside.
        init_exclude: regular expression; variables with a match in their names are left aside, for
            example "pooler" of an encoder that was trained without it.
        freeze: regular expression; variables with a match in their names are not trained, for
            example "attention/self/tree/" for decision trees. A variable has two names: the
            reference's and its path in checkpoints.
        conversion: how the task's data become examples.
        model: the encoder and its heads.
        train_data: examples to learn from.
        validation_data: examples that are evaluated during and after training.
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


@dataclasses.dataclass
class BootstrapConfig(base_config.Config):
    """Treeformer's 2-D bootstrapping (paper, Algorithm 1); `training.bootstrap` trains with it.

    Attributes:
        layer_width: w, layers that get trees at a time, the last ones first; 0: no bootstrapping.
        start_height: h_s, trees begin one level higher.
        steps_before: steps without trees in any layer, before all others.
        steps_per_stage: steps after which layers get trees or trees grow; 0: the steps that there
            are in equal parts. The last stage has what is left.
        attention: of layers that have no trees yet.
    """

    layer_width: int = 0
    start_height: int = 0
    steps_before: int = 0
    steps_per_stage: int = 0
    attention: AttentionConfig = dataclasses.field(
        default_factory=lambda: AttentionConfig(name="full")
    )


@dataclasses.dataclass
class RuntimeConfig(config_definitions.RuntimeConfig):
    """tf-models' runtime config, with what finds a TPU by its name (`training.tpu`).

    Attributes:
        tpu_zone: where `tpu` is; None: in this machine's zone.
        gcp_project: whose it is; None: this machine's project.
    """

    tpu_zone: str | None = None
    gcp_project: str | None = None


@dataclasses.dataclass
class TableExperiment(config_definitions.ExperimentConfig):
    """Everything that one YAML file in configs/ may say.

    Attributes:
        task: data, model and the weights to start from.
        trainer: steps, intervals, optimizer and learning rate.
        runtime: devices, strategy and precision.
        bootstrap: how decision trees come into the layers, if they have any in the end.
        tf_random_seed: of the initial weights, the dropout and what has no seed of its own; None
            for others each time.
    """

    task: TableTaskConfig = dataclasses.field(default_factory=TableTaskConfig)
    trainer: TrainerConfig = dataclasses.field(default_factory=TrainerConfig)
    runtime: RuntimeConfig = dataclasses.field(default_factory=RuntimeConfig)
    bootstrap: BootstrapConfig = dataclasses.field(default_factory=BootstrapConfig)
    tf_random_seed: int | None = None


def fine_tuning(
    task: TableTaskConfig,
    *,
    train_steps: int,
    batch_size: int,
    learning_rate: float,
    warmup_ratio: float,
    grad_clipping: float | None = 10.0,
) -> TableExperiment:
    """An experiment as google-research/tapas fine-tunes: BERT's AdamW and learning rate.

    Args:
        task: what to learn.
        train_steps: steps of `batch_size` examples.
        batch_size: as above.
        learning_rate: its peak.
        warmup_ratio: share of the steps in which it rises.
        grad_clipping: bound of each element of a gradient, whose global norm is 1 at most anyway.
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
