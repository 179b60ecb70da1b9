"""CUSTOM: the user's own tables and questions (`data.datasets.custom` has the format)."""

import dataclasses

from mate_tf.data.datasets import custom
from mate_tf.evaluation import given_answers, metrics
from mate_tf.models.heads import cell_selection
from mate_tf.tables.conversion import MODERN
from mate_tf.tasks import base, configs, registry, table
from mate_tf.tasks.wtq import NUM_AGGREGATIONS, weakly_supervised


@dataclasses.dataclass
class CustomTaskConfig(configs.TableTaskConfig):
    """Config of a task with the kinds of answers that the data have.

    Attributes:
        labels: names of the classes; empty if the answers are in the table.
        sequential: a question may refer to the answer of the previous question.
        available: the splits that have questions.
    """

    labels: list[str] = dataclasses.field(default_factory=list)
    sequential: bool = False
    available: list[str] = dataclasses.field(default_factory=lambda: list(custom.SPLITS))


@registry.register
class CustomTask(table.TableTask):
    """Answers with cells, with an operation over cells, or with a class, as the data decide."""

    name = "CUSTOM"
    capabilities = base.Capabilities(builds_vocabulary=True)

    @property
    def splits(self):
        """The splits that the data have."""
        return tuple(self.task_config.available)

    @property
    def sequential(self):
        """True if the data have conversations."""
        return self.task_config.sequential

    @property
    def class_names(self):
        """Names of the classes; empty if the answers are in the table."""
        return tuple(self.task_config.labels)

    @property
    def baselines(self):
        """Baselines that give the same kinds of answers."""
        if self.class_names:
            return ("commonest answer",)
        previous = ("previous column",) if self.sequential else ()
        return ("commonest answer", *table.TableTask.baselines, *previous)

    @classmethod
    def decided_by_data(cls, input_dir):
        """Returns the labels, the splits, and the heads that the kinds of answers need."""
        summary = custom.describe(input_dir)
        print(f"read | {input_dir}: {summary}", flush=True)
        in_table = not summary.classifies
        computed = in_table and summary.needs_aggregation
        return {
            "labels": list(summary.labels),
            "sequential": summary.sequential,
            "available": list(summary.splits),
            "model": {
                "num_classification_labels": len(summary.labels),
                "disable_per_token_loss": summary.classifies,
                "num_aggregation_labels": NUM_AGGREGATIONS if computed else 0,
                "use_answer_as_supervision": computed and summary.weakly_supervised,
                # An operation is computed over cells of one column.
                "select_one_column": computed,
                "cell_cross_entropy": in_table and not computed,
            },
        }

    def interactions(self, input_dir, split):
        return custom.read(input_dir, split)

    def is_right(self, interaction, question, prediction):
        """Judges one answer by the way in which the gold answer was given."""
        return given_answers.is_right(interaction, question, prediction)

    def measure(self, interactions, predicted):
        """Computes the accuracy of each kind of answer, and of conversations if there are any."""
        found = {"answers": given_answers.scores(interactions, predicted, self.class_names)}
        if self.sequential:
            found["conversations"] = metrics.sqa_metrics(
                interactions, predicted, given_answers.is_right
            )
        return found

    def warnings(self, interactions, predicted):
        return given_answers.warnings(interactions, predicted)

    @classmethod
    def experiment(cls):
        """Returns WikiTableQuestions' hyper-parameters; `decided_by_data` chooses the heads."""
        return configs.fine_tuning(
            CustomTaskConfig(
                name=cls.name,
                conversion=configs.ConversionConfig(
                    number_parser=MODERN, drop_rows_to_fit=True, prune_columns=True, prune_rows=True
                ),
                model=weakly_supervised(
                    cell_cross_entropy_target=cell_selection.UNIFORM,
                    answer_loss_cutoff=0.664694,
                    cell_select_pref=0.207951,
                    huber_loss_delta=0.121194,
                ),
            ),
            train_steps=10_000,
            batch_size=32,
            learning_rate=5e-5,
            warmup_ratio=0.1,
        )
