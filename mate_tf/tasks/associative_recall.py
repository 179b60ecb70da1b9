"""ASSOCIATIVE_RECALL: find the value of a key that occurs far back in the sequence."""

import dataclasses

from official.modeling.hyperparams import base_config

from mate_tf.data.converters.sequences import SYMBOLS
from mate_tf.data.datasets import associative_recall
from mate_tf.field_types import Count, CountOrZero, Tokens
from mate_tf.tasks import base, lra, registry, sequence


@dataclasses.dataclass
class RecallGenerationConfig(base_config.Config):
    """Settings of the generator. The fields from `length` on are `associative_recall.Rules`.

    Attributes:
        seed: seed of all three splits.
        num_train, num_dev, num_test: sequences in the split.
        length: symbols in a sequence, including the final key.
        num_pairs: pairs of key and value in a sequence, no key twice.
        num_keys: number of different keys.
        num_values: number of different values, which are the classes.
        min_distance: smallest number of symbols between the pair of the final key and the end.
        joined: whether key and value are one symbol.
    """

    seed: CountOrZero = 0
    num_train: Count = 20_000
    num_dev: CountOrZero = 1_000
    num_test: CountOrZero = 1_000
    length: Tokens = 511
    num_pairs: CountOrZero = 16
    num_keys: CountOrZero = 32
    num_values: CountOrZero = 8
    min_distance: CountOrZero = 256
    joined: bool = True

    def rules(self):
        """Returns the `associative_recall.Rules`. Raises InputError for contradictory settings."""
        names = (field.name for field in dataclasses.fields(associative_recall.Rules))
        return associative_recall.Rules(**{name: getattr(self, name) for name in names})


@dataclasses.dataclass
class RecallTaskConfig(sequence.SequenceTaskConfig):
    """Config of a task that generates its sequences.

    Attributes:
        generation: number and kind of the sequences.
    """

    generation: RecallGenerationConfig = dataclasses.field(default_factory=RecallGenerationConfig)


@registry.register
class AssociativeRecallTask(sequence.SequenceTask):
    """Long sequences that end with a key. The class is the value that was paired with that key."""

    name = "ASSOCIATIVE_RECALL"
    capabilities = base.Capabilities(reads_tables=False, needs_files=False)

    @property
    def class_names(self):
        """Names of the values, which are the classes."""
        return associative_recall.value_names(self.task_config.generation.rules())

    @property
    def symbols(self):
        """Keys, values, pairs and noise."""
        return associative_recall.symbols(self.task_config.generation.rules())

    def interactions(self, input_dir, split):
        generation = self.task_config.generation
        number = getattr(generation, f"num_{split}")
        return associative_recall.generate(generation.seed, split, number, generation.rules())

    @classmethod
    def experiment(cls):
        """Returns the settings of a small model with full attention."""
        model = lra.classifier(
            *(RecallGenerationConfig.num_values, (2, 4, 128, 256), 512, 512),
            hidden_layers=0,
            dropout=(0.0, 0.0),
            # As in SYNTHETIC: initial weights with which equal symbols attend to each other.
            initializer_range=0.08,
            key_initialization="query",
            word_embedding_scale=4.0,
        )
        return lra.experiment(
            *(cls.name, 512, SYMBOLS, model),
            config=RecallTaskConfig,
            train_steps=2_000,
            warmup_steps=100,
            learning_rate=0.01,
            weight_decay=0.0,
        )
