"""SQA: sequences of questions about one table, each of which may refer to the last answer."""

import dataclasses

from mate_tf.attention import AttentionConfig
from mate_tf.data.datasets import sqa
from mate_tf.errors import InputError
from mate_tf.evaluation import metrics
from mate_tf.models.classifier import ClassifierConfig
from mate_tf.models.encoder import EncoderConfig
from mate_tf.tasks import base
from mate_tf.training.optimizers import TrainerConfig

NUM_TRAIN_STEPS = 200_000
BATCH_SIZE = 128


@dataclasses.dataclass
class SqaTaskConfig(base.TableTaskConfig):
    """SQA with a dev set split off the training questions.

    Attributes:
        random_split: which of the five official divisions of train into train and dev.
    """

    random_split: int = 1


@base.register
class SqaTask(base.TableTask):
    """Microsoft's Sequential Question Answering (Iyyer et al., 2017)."""

    name_in_tapas = "SQA"
    sequential = True
    baselines = (*base.TableTask.baselines, "previous column")

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
        experiment = base.TableExperiment()
        experiment.task = SqaTaskConfig(
            name=cls.name_in_tapas,
            model=ClassifierConfig(
                encoder=EncoderConfig(attention=AttentionConfig(name="mate_efficient")),
                select_one_column=True,
                allow_empty_column_selection=False,
            ),
            train_data=base.TableDataConfig(is_training=True, global_batch_size=BATCH_SIZE),
        )
        experiment.trainer = TrainerConfig(
            train_steps=NUM_TRAIN_STEPS,
            steps_per_loop=100,
            summary_interval=100,
            checkpoint_interval=1000,
            validation_interval=5000,
        )
        experiment.trainer.optimizer_config.learning_rate.bert.override(
            {"initial_learning_rate": 1.25e-5, "warmup_ratio": 0.01}
        )
        return experiment
