"""WTQ, WIKISQL and WIKISQL_SUPERVISED: answers are cells or computed from cells."""

from collections.abc import Mapping
from typing import ClassVar

from mate_tf import evaluation
from mate_tf.data import datasets
from mate_tf.models.classifier import ClassifierConfig
from mate_tf.tasks import configs, registry, table

NUM_AGGREGATIONS = 4
"""NONE, SUM, AVERAGE, COUNT."""

COUNTING_BASELINES = ("lexical match, counted", "row and column match, counted")
"""Baselines that answer "how many" with a number."""


class DenotationTask(table.TableTask):
    """Base class. The hyper-parameters are TAPAS's, with MATE's attention.

    Attributes:
        config_type: class of the task's config.
        heads: arguments of `weakly_supervised`.
        learning_rate, warmup_ratio: arguments of `configs.fine_tuning`.
    """

    baselines = (*table.TableTask.baselines, *COUNTING_BASELINES)
    config_type = configs.TableTaskConfig
    heads: ClassVar[Mapping[str, float]] = {}
    learning_rate = warmup_ratio = 0.0

    def measure(self, interactions, predicted):
        """Computes denotation accuracy by the rules of WikiTableQuestions' evaluator."""
        return {self.name: evaluation.metrics.denotation_metrics(interactions, predicted)}

    @classmethod
    def experiment(cls):
        """Returns TAPAS's hyper-parameters for the data set."""
        return configs.fine_tuning(
            cls.config_type(name=cls.name, model=weakly_supervised(**cls.heads)),
            train_steps=50_000,
            batch_size=512,
            learning_rate=cls.learning_rate,
            warmup_ratio=cls.warmup_ratio,
        )


@registry.register
class WtqTask(DenotationTask):
    """WikiTableQuestions (Pasupat and Liang, 2015), trained on the answers alone."""

    name = "WTQ"
    config_type = table.SplitTaskConfig
    heads: ClassVar = {
        "temperature": 0.0352513,
        "answer_loss_cutoff": 0.664694,
        "cell_select_pref": 0.207951,
        "huber_loss_delta": 0.121194,
        "init_cell_selection_weights_to_zero": True,
    }
    learning_rate, warmup_ratio = 1.93581e-5, 0.128960

    def interactions(self, input_dir, split):
        return datasets.wikitq.read(input_dir, split, random_split=self.task_config.random_split)


@registry.register
class WikiSqlTask(DenotationTask):
    """WikiSQL (Zhong et al., 2017), trained on the answers of the queries."""

    name = "WIKISQL"
    supervised = False
    heads: ClassVar = {
        "temperature": 0.107515,
        "answer_loss_cutoff": 0.185567,
        "cell_select_pref": 0.611754,
        "huber_loss_delta": 1265.74,
    }
    learning_rate, warmup_ratio = 6.17164e-5, 0.1424

    def interactions(self, input_dir, split):
        return datasets.wikisql.read(input_dir, split, supervised=self.supervised)


@registry.register
class SupervisedWikiSqlTask(WikiSqlTask):
    """WikiSQL, trained on the cells and the aggregation of the queries."""

    name = "WIKISQL_SUPERVISED"
    supervised = True
    heads: ClassVar = {
        "use_answer_as_supervision": False,
        "allow_empty_column_selection": True,
        "temperature": 0.763141,
        "answer_loss_cutoff": 36.4519,
        "cell_select_pref": 0.903421,
        "huber_loss_delta": 222.088,
    }
    learning_rate, warmup_ratio = 4.12331e-5, 0.168479


def weakly_supervised(**options) -> ClassifierConfig:
    """Returns the config of a model that selects cells of one column and an operation."""
    options = {
        "select_one_column": True,
        "allow_empty_column_selection": False,
        "use_answer_as_supervision": True,
    } | options
    return ClassifierConfig(num_aggregation_labels=NUM_AGGREGATIONS, **options)
