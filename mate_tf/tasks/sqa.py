"""SQA: sequences of questions about one table, each of which may refer to the last answer."""

import dataclasses

from mate_tf.attention import AttentionConfig
from mate_tf.data.datasets import sqa
from mate_tf.errors import InputError
from mate_tf.evaluation import metrics
from mate_tf.models.classifier import ClassifierConfig
from mate_tf.models.encoder import EncoderConfig
from mate_tf.tasks import configs, registry, table


@dataclasses.dataclass
class SqaTaskConfig(configs.TableTaskConfig):
    """SQA with a dev set split off the training questions.

    Attributes:
        random_split: which of the five official divisions of train into train and dev.
    """

    random_split: int = 1


@registry.register
class SqaTask(table.TableTask):
    """Microsoft's Sequential Question Answering (Iyyer et al., 2017)."""

    name = "SQA"
    sequential = True
    baselines = (*table.TableTask.baselines, "previous column")

    def interactions(self, input_dir, split):
        stems = sqa.splits(self.task_config.random_split)
        if split not in stems:
            raise InputError(f"SQA has no split {split!r}, only {', '.join(stems)}")
        return sqa.read(input_dir, stems[split])

    def measure(self, interactions, predicted):
        """ALL, SEQ and accuracy by position, as the SQA paper reports them."""
        return {"SQA": metrics.sqa_metrics(interactions, predicted)}

    @classmethod
    def experiment(cls):
        """TAPAS's hyper-parameters for SQA with MATE's attention (paper, appendix A)."""
        return configs.fine_tuning(
            SqaTaskConfig(
                name=cls.name,
                model=ClassifierConfig(
                    encoder=EncoderConfig(attention=AttentionConfig(name="mate_efficient")),
                    select_one_column=True,
                    allow_empty_column_selection=False,
                ),
            ),
            train_steps=200_000,
            batch_size=128,
            learning_rate=1.25e-5,
            warmup_ratio=0.01,
            grad_clipping=None,
        )
