"""CUSTOM: the user's own tables and questions (`data.datasets.custom` has the format)."""

import dataclasses
import os
from typing import Any

from mate_tf.data import records
from mate_tf.data.datasets import custom
from mate_tf.data.features import QUESTION_ID_LENGTH
from mate_tf.data.interactions import PADDING_QUESTION_ID
from mate_tf.data.records.create_data import interactions_of_examples
from mate_tf.evaluation import given_answers, metrics, predictions
from mate_tf.models.heads import cell_selection
from mate_tf.tables.conversion import MODERN
from mate_tf.tasks import base, configs, head_metrics, registry, table
from mate_tf.tasks.wtq import NUM_AGGREGATIONS, weakly_supervised

_QUESTION = "question_id_ints"
_INPUTS = (_QUESTION, "row_ids", "column_ids")
_OUTPUTS = ("probs", "selected_tokens", "pred_aggr", "pred_cls")


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

    def label_names(self):
        return [*super().label_names(), _QUESTION]

    def validation_step(self, inputs, model, metrics=None):
        """Returns the loss, and what predictions are made of."""
        outputs = self.inference_step(inputs, model)
        self.process_metrics(metrics or [], inputs, outputs)
        loss = self.build_losses(inputs, outputs, aux_losses=model.losses)
        kept = {name: inputs[name] for name in _INPUTS}
        kept |= {name: outputs[name] for name in _OUTPUTS if name in outputs}
        return {self.loss: loss, **kept}

    def aggregate_logs(self, state, step_logs):
        """Returns id of a question -> prediction, of all steps until now."""
        predicted = state or {}
        names = [name for name in (*_INPUTS, *_OUTPUTS) if name in step_logs]
        for replica in zip(*(step_logs[name] for name in names), strict=True):
            for row in zip(*(values.numpy() for values in replica), strict=True):
                output = dict(zip(names, row, strict=True))
                question = "".join(chr(code - 1) for code in output[_QUESTION] if code)
                if question != PADDING_QUESTION_ID:
                    predicted[question] = predictions.prediction(
                        {**output, "question_id": question}
                    )
        return predicted

    def reduce_aggregated_logs(self, aggregated_logs, global_step=None):
        """Returns the accuracy of `measure`, so that evaluations print the number of the scores.

        Returns nothing where there are examples alone, without the interactions.
        """
        del global_step
        examples = self.task_config.validation_data.input_path
        path = interactions_of_examples(examples)
        if not os.path.isfile(path):
            return {}
        interactions = list(records.read_interactions(path))
        names = [question.id for each in interactions for question in each.questions]
        ids = {name: name[-QUESTION_ID_LENGTH:] for name in names}
        known = aggregated_logs.keys()
        predicted = {name: aggregated_logs[key] for name, key in ids.items() if key in known}
        if len(aggregated_logs) < records.count_records(examples):  # `trainer.validation_steps`
            interactions = [
                each for each in interactions if any(q.id in predicted for q in each.questions)
            ]
        accuracy, _ = given_answers.scores(interactions, predicted)[given_answers.ALL]
        name = head_metrics.CLASS_ACCURACY if self.class_names else head_metrics.ACCURACY
        return {name: accuracy}

    def is_right(self, interaction, question, prediction):
        """Judges one answer by the way in which the gold answer was given."""
        return given_answers.is_right(interaction, question, prediction)

    def measure(self, interactions, predicted):
        """Computes the accuracy of each kind of answer, and of conversations if there are any."""
        scores: dict[str, Any] = {
            "answers": given_answers.scores(interactions, predicted, self.class_names)
        }
        if self.sequential:
            scores["conversations"] = metrics.sqa_metrics(
                interactions, predicted, given_answers.is_right
            )
        return scores

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
