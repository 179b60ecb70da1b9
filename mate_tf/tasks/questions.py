"""QUESTIONS: intermediate pre-training on generated questions and statements about real tables."""

import dataclasses

from mate_tf.data.datasets import questions
from mate_tf.data.interactions import given
from mate_tf.errors import InputError
from mate_tf.evaluation import denotation, metrics
from mate_tf.field_types import Count, CountOrZero, Share
from mate_tf.tables.conversion import MODERN
from mate_tf.tasks import configs, registry, table
from mate_tf.tasks.tabfact import TabFactTask
from mate_tf.tasks.wtq import COUNTING_BASELINES, weakly_supervised


@dataclasses.dataclass
class QuestionsTaskConfig(configs.TableTaskConfig):
    """Config of generated questions.

    Attributes:
        generation_seed: seed of the questions.
        questions_per_table: number of questions about each table, at most.
        statements_per_table: number of statements about each table, at most. With statements the
            model needs `cells_or_class` and two classes.
        cut_share: share of the tables that are cut to some rows and columns.
    """

    generation_seed: CountOrZero = 0
    questions_per_table: Count = 6
    statements_per_table: CountOrZero = 0
    cut_share: Share = 0.6


@registry.register
class QuestionsTask(table.TableTask):
    """Generated questions about the training tables of other tasks, with cells and operations.

    Reads interactions that create_data wrote for other tasks. Statements, as those of STATEMENTS,
    can be mixed in (`statements_per_table`).
    """

    name = "QUESTIONS"
    splits = questions.SPLITS

    @property
    def baselines(self):
        """Baselines that select cells and, with statements, the majority class."""
        of_statements = ("majority class",) if self.class_names else ()
        return (*table.TableTask.baselines, *COUNTING_BASELINES, *of_statements)

    @property
    def class_names(self):
        """Names of the classes of statements; empty without statements."""
        return TabFactTask.class_names if self.task_config.statements_per_table else ()

    def model_config(self):
        """Returns the config of the model.

        Raises:
            InputError: if there are statements, but the model has no class for them.
        """
        config = super().model_config()
        if self.class_names and not config.cells_or_class:
            raise InputError(
                "task.statements_per_table needs task.model.cells_or_class=true and "
                f"task.model.num_classification_labels={len(self.class_names)}"
            )
        return config

    def interactions(self, input_dir, split):
        config = self.task_config
        return questions.read_dir(
            input_dir,
            split,
            seed=config.generation_seed,
            per_table=config.questions_per_table,
            statements_per_table=config.statements_per_table,
            cut_share=config.cut_share,
        )

    def is_right(self, interaction, question, prediction):
        """Judges an answer: the class of a statement, the value of a question."""
        of_class = question.answer.HasField("class_index")
        judge = metrics.has_right_class if of_class else denotation.is_right
        return judge(interaction, question, prediction)

    def measure(self, interactions, predicted):
        """Computes denotation accuracy of questions, accuracy of statements, and both by kind.

        Baselines that select cells have no accuracy of statements.
        """
        classified, asked = [], []
        for each in interactions:
            of_class = each.questions[0].answer.HasField("class_index")
            (classified if of_class else asked).append(each)
        scores = {"QUESTIONS": metrics.denotation_metrics(asked, predicted)}
        if classified and any(each.class_index is not None for each in predicted.values()):
            scores["STATEMENTS"] = metrics.classification_metrics(
                classified, predicted, TabFactTask.class_names
            )
        graded = metrics.grade(interactions, predicted, self.is_right)
        return scores | {"kind": metrics.breakdown(graded, lambda item: given(item.question))}

    @classmethod
    def experiment(cls):
        """Returns hyper-parameters of a model with the heads of WikiTableQuestions."""
        return configs.fine_tuning(
            QuestionsTaskConfig(
                name=cls.name,
                conversion=configs.ConversionConfig(
                    number_parser=MODERN, drop_rows_to_fit=True, prune_columns=True, prune_rows=True
                ),
                model=weakly_supervised(use_answer_as_supervision=False),
            ),
            train_steps=10_000,
            batch_size=32,
            learning_rate=1e-4,
            warmup_ratio=0.1,
        )
