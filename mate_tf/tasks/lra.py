"""LISTOPS, LRA_TEXT, LRA_RETRIEVAL, LRA_IMAGE: Long Range Arena (Tay et al., 2021).

The values are those of Treeformer's table 8. Settings that the table does not give are those of
Long Range Arena's configurations: Adam with weight decay on all variables, the learning rates, and
a classifier with a hidden layer of the width of the feed-forward networks.
"""

import dataclasses
import os

from official.modeling.hyperparams import base_config

from mate_tf.data.converters.sequences import BYTES, SYMBOLS
from mate_tf.data.datasets import listops
from mate_tf.data.datasets import lra as files
from mate_tf.field_types import Count, CountOrZero
from mate_tf.tasks import base, configs, registry, sequence

_BYTE_VOCABULARY = 260  # four special pieces and the bytes


def classifier(
    num_labels: int,
    sizes,
    vocab_size: int,
    positions: int,
    *,
    hidden_layers=1,
    num_towers=1,
    dropout=(0.1, 0.1),
    **encoder,
):
    """Returns the config of a classifier like those of Long Range Arena.

    Args:
        sizes: layers, heads, their width together, and that of the feed-forward networks.
        vocab_size, positions: number of embeddings of tokens and of positions.
        hidden_layers: hidden layers of the classifier; each is half as wide as the previous one.
        num_towers: see `ClassifierConfig`.
        dropout: rates of the hidden layers and of the attention probabilities.
        **encoder: fields of the EncoderConfig.
    """
    names = ("num_hidden_layers", "num_attention_heads", "hidden_size", "intermediate_size")
    encoder |= dict(zip(names, sizes, strict=True))
    return sequence.classifier(
        num_labels,
        encoder={
            "hidden_dropout_prob": dropout[0],
            "attention_probs_dropout_prob": dropout[1],
            "vocab_size": vocab_size,
            "max_position_embeddings": positions,
            **encoder,
        },
        classification_hidden_sizes=[sizes[-1] // 2**index for index in range(hidden_layers)],
        num_towers=num_towers,
        sequence_dropout_prob=0.0,
    )


def experiment(
    name: str,
    length: int,
    tokens: str,
    model,
    *,
    config=sequence.SequenceTaskConfig,
    train_steps: int,
    warmup_steps: int,
    batch_size: int = 32,
    learning_rate: float = 0.05,
    weight_decay: float = 0.1,
    cosine: bool = False,
) -> configs.TableExperiment:
    """Returns an experiment with Long Range Arena's optimizer and learning rate.

    The learning rate at step t is `learning_rate` * min(1, t / w) / sqrt(max(t, w)) with w
    `warmup_steps`. With `cosine` it rises to `learning_rate` in w steps and then follows half a
    cosine down to 0. `length` is in tokens, of a kind of `SequenceConversionConfig.tokens`.
    """
    conversion = sequence.SequenceConversionConfig(max_seq_length=length, tokens=tokens)
    task = config(name=name, conversion=conversion, model=model)
    task.train_data.override({"is_training": True, "global_batch_size": batch_size})
    task.validation_data.override({"global_batch_size": batch_size})
    configuration = configs.TableExperiment(task=task)
    configuration.trainer = configs.TrainerConfig(
        train_steps=train_steps,
        steps_per_loop=100,
        summary_interval=100,
        checkpoint_interval=1000,
        validation_interval=1000,
    )
    kind, rate = "power", {"power": -0.5}
    if cosine:
        kind, rate = "cosine", {"decay_steps": train_steps, "offset": warmup_steps}
    rate = {"type": kind, kind: {"initial_learning_rate": learning_rate, **rate}}
    configuration.trainer.optimizer_config.override(
        {
            "optimizer": {
                "bert_adamw": {
                    "bias_correction": True,
                    "weight_decay_rate": weight_decay,
                    "exclude_from_weight_decay": [],
                    "beta_2": 0.98,
                    "epsilon": 1e-9,
                }
            },
            "learning_rate": rate,
            "warmup": {"type": "linear", "linear": {"warmup_steps": warmup_steps}},
        }
    )
    return configuration


@dataclasses.dataclass
class ListOpsGenerationConfig(base_config.Config):
    """Settings of the generator, used without official files. Defaults are Long Range Arena's.

    Attributes:
        seed: seed of all three splits. No expression is in two splits.
        num_train, num_dev, num_test: expressions in the split.
        max_depth: largest depth of nested operators; the root has depth 1.
        max_args: largest number of arguments of an operator; the smallest is 2.
        min_length: an expression has more symbols than this.
        max_length: an expression has fewer symbols than this.
    """

    seed: CountOrZero = 0
    num_train: Count = 96_000
    num_dev: CountOrZero = 2_000
    num_test: CountOrZero = 2_000
    max_depth: Count = listops.OFFICIAL.max_depth
    max_args: Count = listops.OFFICIAL.max_args
    min_length: Count = listops.OFFICIAL.min_length
    max_length: Count = listops.OFFICIAL.max_length


@dataclasses.dataclass
class ListOpsTaskConfig(sequence.SequenceTaskConfig):
    """Config of a task that can generate its expressions.

    Attributes:
        generation: number and kind of the expressions, used without official files.
    """

    generation: ListOpsGenerationConfig = dataclasses.field(default_factory=ListOpsGenerationConfig)


@registry.register
class ListOpsTask(sequence.SequenceTask):
    """ListOps of Long Range Arena: ten classes, the values of expressions.

    Reads basic_train.tsv, basic_val.tsv and basic_test.tsv from --input_dir. Without --input_dir it
    first generates these files in <output_dir>/listops.
    """

    name = "LISTOPS"
    capabilities = base.Capabilities(reads_tables=False, needs_files=False)
    class_names = listops.VALUES
    symbols = listops.SYMBOLS

    def official_files(self, input_dir, output_dir):
        if input_dir:
            return input_dir
        folder = os.path.join(output_dir, "listops")
        options = self.task_config.generation.as_dict()
        seed = options.pop("seed")
        sizes = {split: options.pop(f"num_{split}") for split in self.splits}
        listops.write_dir(folder, seed, sizes, listops.Rules(**options))
        return folder

    def interactions(self, input_dir, split):
        return listops.read(input_dir, split)

    @classmethod
    def experiment(cls):
        """Returns the settings of Treeformer's table 8 with full attention."""
        return experiment(
            *(cls.name, 2048, SYMBOLS),
            classifier(10, (4, 4, 512, 1024), 19, 2048),
            config=ListOpsTaskConfig,
            train_steps=5_000,
            warmup_steps=1_000,
        )


@registry.register
class LraTextTask(sequence.SequenceTask):
    """Sentiment of film reviews, one token a byte (IMDb). --input_dir is the folder aclImdb."""

    name = "LRA_TEXT"
    class_names = files.REVIEW_CLASSES

    def interactions(self, input_dir, split):
        return files.read_reviews(input_dir, split)

    @classmethod
    def experiment(cls):
        """Returns the settings of Treeformer's table 8 with full attention."""
        return experiment(
            *(cls.name, 4096, BYTES),
            classifier(2, (4, 4, 256, 1024), _BYTE_VOCABULARY, 4096),
            train_steps=20_000,
            warmup_steps=8_000,
        )


@registry.register
class LraRetrievalTask(sequence.SequenceTask):
    """Does one paper cite the other? Each is encoded on its own, one token a byte (AAN).

    --input_dir has new_aan_pairs.train.tsv, .eval.tsv and .test.tsv.
    """

    name = "LRA_RETRIEVAL"
    class_names = files.CITATION_CLASSES

    def interactions(self, input_dir, split):
        return files.read_citations(input_dir, split)

    @classmethod
    def experiment(cls):
        """Returns the settings of Treeformer's table 8: two papers of 4096 tokens each."""
        return experiment(
            *(cls.name, 8192, BYTES),
            classifier(2, (4, 4, 128, 512), _BYTE_VOCABULARY, 4096, hidden_layers=2, num_towers=2),
            train_steps=5_000,
            warmup_steps=8_000,
        )


@registry.register
class LraImageTask(sequence.SequenceTask):
    """Objects in images, one token a pixel (CIFAR-10). --input_dir is cifar-10-batches-py."""

    name = "LRA_IMAGE"
    class_names = files.IMAGE_CLASSES
    symbols = files.PIXELS

    def interactions(self, input_dir, split):
        return files.read_images(input_dir, split)

    @classmethod
    def experiment(cls):
        """Returns the settings of Treeformer's table 8. [CLS] comes before the 1024 pixels."""
        return experiment(
            *(cls.name, 1025, SYMBOLS),
            classifier(10, (1, 1, 32, 64), 260, 1025, dropout=(0.3, 0.2)),
            train_steps=35_000,
            warmup_steps=175,
            batch_size=56,
            learning_rate=5e-4,
            weight_decay=0.0,
            cosine=True,
        )
