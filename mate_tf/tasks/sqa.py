"""SQA: sequences of questions about a table. A question may refer to the previous answer."""

from mate_tf.data.datasets import sqa
from mate_tf.errors import InputError
from mate_tf.evaluation import metrics
from mate_tf.models.classifier import ClassifierConfig
from mate_tf.tasks import configs, registry, table


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
        """Computes ALL, SEQ and accuracy by position, as in the SQA paper."""
        return {"SQA": metrics.sqa_metrics(interactions, predicted)}

    @classmethod
    def experiment(cls):
        """Returns TAPAS's hyper-parameters for SQA with MATE's attention (paper, appendix A)."""
        return configs.fine_tuning(
            table.SplitTaskConfig(
                name=cls.name,
                model=ClassifierConfig(select_one_column=True, allow_empty_column_selection=False),
            ),
            train_steps=200_000,
            batch_size=128,
            learning_rate=1.25e-5,
            warmup_ratio=0.01,
            grad_clipping=None,
        )
