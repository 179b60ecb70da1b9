"""PRETRAIN: masked words and swapped tables, with the texts and tables of other tasks."""

import dataclasses
from collections.abc import Iterator

from mate_tf.attention import AttentionConfig
from mate_tf.data import pretraining
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.pretraining.masking import MaskingConfig
from mate_tf.models.encoder import EncoderConfig
from mate_tf.models.pretrainer import PretrainerConfig
from mate_tf.protos import interaction_pb2
from mate_tf.tasks import configs, pretraining_task, registry


@dataclasses.dataclass
class PretrainTaskConfig(configs.TableTaskConfig):
    """Config of the pre-training of a table encoder.

    Attributes:
        model: the encoder.
        masking: shares of masked words.
        text_sources: kinds of texts about a table to read (`TEXT_SOURCES`).
        random_table_prob: share of the texts that get the table of another text.
        random_table_seed: seed of the choice of these texts and tables.
        dev_share: share of the pages of a corpus for evaluation, if it has no folder `dev/`.
    """

    model: PretrainerConfig = dataclasses.field(default_factory=PretrainerConfig)
    masking: MaskingConfig = dataclasses.field(default_factory=MaskingConfig)
    text_sources: list[str] = dataclasses.field(
        default_factory=lambda: list(pretraining.TEXT_SOURCES)
    )
    random_table_prob: float = 0.5
    random_table_seed: int = 0
    dev_share: float = 0.05


@registry.register
class TablePretrainTask(pretraining_task.PretrainTask):
    """TAPAS's pre-training (Herzig et al., 2020) with MATE's attention (paper, appendix A.1).

    Reads interactions that create_data wrote for other tasks: --input_dir is the output folder of
    one of these tasks, or a folder of such folders. Or it is a folder with TAPAS's corpus, HTML
    pages or CSV files, see `data.pretraining.table_folders`.
    """

    name = "PRETRAIN"
    splits = ("train", "dev")

    def converter(self, vocab_file):
        return ExampleConverter.from_config(vocab_file, self.task_config.conversion.frozen())

    def interactions(self, input_dir, split):
        config = self.task_config
        found = pretraining.read_dir(input_dir, split, config.dev_share)
        texts = pretraining.texts_with_tables(
            found,
            text_sources=config.text_sources,
            random_table_prob=config.random_table_prob,
            seed=config.random_table_seed,
        )
        return _Texts(texts, getattr(found, "defects", {}))

    @classmethod
    def experiment(cls):
        """Returns the paper's settings, with the learning rate of the reference's script."""
        return configs.fine_tuning(
            PretrainTaskConfig(
                name=cls.name,
                conversion=configs.ConversionConfig(
                    max_seq_length=128,
                    drop_rows_to_fit=True,
                    drop_columns_to_fit=True,
                    trim_question_to_fit=True,
                    trim_question_ids=True,
                ),
                model=PretrainerConfig(
                    encoder=EncoderConfig(
                        attention=AttentionConfig(
                            name="mate_efficient", global_length=116, radius=42
                        )
                    )
                ),
            ),
            train_steps=1_000_000,
            batch_size=512,
            learning_rate=5e-5,
            warmup_ratio=0.01,
            grad_clipping=None,
        )


class _Texts:
    """Texts with tables, to be read once.

    Attributes:
        defects: defects of their files, see `Report`.
    """

    def __init__(self, texts: Iterator[interaction_pb2.Interaction], defects: dict):
        self._texts, self.defects = texts, defects

    def __iter__(self) -> Iterator[interaction_pb2.Interaction]:
        return self._texts
