"""LISTOPS: the value of a long nested expression (Long Range Arena)."""

import dataclasses
import os

from official.modeling.hyperparams import base_config

from mate_tf.data.converters.sequences import SYMBOLS
from mate_tf.data.datasets import listops
from mate_tf.tasks import base, lra_settings, registry, sequence


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

    seed: int = 0
    num_train: int = 96_000
    num_dev: int = 2_000
    num_test: int = 2_000
    max_depth: int = listops.OFFICIAL.max_depth
    max_args: int = listops.OFFICIAL.max_args
    min_length: int = listops.OFFICIAL.min_length
    max_length: int = listops.OFFICIAL.max_length


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
        return lra_settings.experiment(
            ListOpsTaskConfig(
                name=cls.name,
                conversion=lra_settings.conversion(2048, SYMBOLS),
                model=lra_settings.classifier(
                    num_labels=10,
                    vocab_size=19,
                    max_position_embeddings=2048,
                    num_hidden_layers=4,
                    num_attention_heads=4,
                    hidden_size=512,
                    intermediate_size=1024,
                ),
            ),
            train_steps=5_000,
            warmup_steps=1_000,
        )
