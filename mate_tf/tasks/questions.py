"""QUESTIONS: intermediate pre-training on generated questions about real tables."""

import dataclasses

from mate_tf.data.datasets import questions
from mate_tf.data.interactions import given
from mate_tf.evaluation import denotation, metrics
from mate_tf.tasks import configs, registry, table
from mate_tf.tasks.wtq import COUNTING_BASELINES, weakly_supervised


@dataclasses.dataclass
class QuestionsTaskConfig(configs.TableTaskConfig):
    """Config of generated questions.

    Attributes:
        generation_seed: seed of the questions.
        questions_per_table: number of questions about each table, at most.
        cut_share: share of the tables that are cut to some rows and columns.
    """

    generation_seed: int = 0
    questions_per_table: int = 6
    cut_share: float = 0.6


@registry.register
class QuestionsTask(table.TableTask):
    """Generated questions about the training tables of other tasks, with cells and operations.

    Reads interactions that create_data wrote for other tasks.
    """

    name = "QUESTIONS"
    splits = questions.SPLITS
    baselines = (*table.TableTask.baselines, *COUNTING_BASELINES)

    def interactions(self, input_dir, split):
        config = self.task_config
        return questions.read_dir(
            input_dir,
            split,
            seed=config.generation_seed,
            per_table=config.questions_per_table,
            cut_share=config.cut_share,
        )

    def measure(self, interactions, predicted):
        """Computes denotation accuracy in total and by kind of question."""
        graded = metrics.grade(interactions, predicted, denotation.is_right)
        kinds = metrics.breakdown(graded, lambda item: given(item.question))
        return {
            "QUESTIONS": metrics.denotation_metrics(interactions, predicted),
            "kind": kinds,
        }

    @classmethod
    def experiment(cls):
        """Returns hyper-parameters of a model with the heads of WikiTableQuestions."""
        return configs.fine_tuning(
            QuestionsTaskConfig(
                name=cls.name,
                conversion=configs.ConversionConfig(
                    drop_rows_to_fit=True, prune_columns=True, prune_rows=True
                ),
                model=weakly_supervised(use_answer_as_supervision=False),
            ),
            train_steps=10_000,
            batch_size=32,
            learning_rate=1e-4,
            warmup_ratio=0.1,
        )
