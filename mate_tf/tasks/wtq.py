"""WTQ, WIKISQL and WIKISQL_SUPERVISED: answers are cells or computed from cells."""

import functools

from mate_tf import evaluation
from mate_tf.data import datasets
from mate_tf.models.classifier import ClassifierConfig
from mate_tf.tasks import configs, registry, table

NUM_AGGREGATIONS = 4
"""NONE, SUM, AVERAGE, COUNT."""

COUNTING_BASELINES = ("lexical match, counted", "row and column match, counted")
"""Baselines that answer "how many" with a number."""

_fine_tuning = functools.partial(configs.fine_tuning, train_steps=50_000, batch_size=512)


@registry.register
class WtqTask(table.TableTask):
    """WikiTableQuestions (Pasupat and Liang, 2015), trained on the answers alone."""

    name = "WTQ"
    baselines = (*table.TableTask.baselines, *COUNTING_BASELINES)

    def interactions(self, input_dir, split):
        return datasets.wikitq.read(input_dir, split, random_split=self.task_config.random_split)

    def measure(self, interactions, predicted):
        """Computes denotation accuracy by the official evaluator's rules."""
        return {"WTQ": evaluation.metrics.denotation_metrics(interactions, predicted)}

    @classmethod
    def experiment(cls):
        """Returns TAPAS's hyper-parameters for WikiTableQuestions with MATE's attention."""
        return _fine_tuning(
            table.SplitTaskConfig(
                name=cls.name,
                model=weakly_supervised(
                    temperature=0.0352513,
                    answer_loss_cutoff=0.664694,
                    cell_select_pref=0.207951,
                    huber_loss_delta=0.121194,
                    init_cell_selection_weights_to_zero=True,
                ),
            ),
            learning_rate=1.93581e-5,
            warmup_ratio=0.128960,
        )


@registry.register
class WikiSqlTask(table.TableTask):
    """WikiSQL (Zhong et al., 2017), trained on the answers of the queries."""

    name = "WIKISQL"
    baselines = (*table.TableTask.baselines, *COUNTING_BASELINES)
    supervised = False

    def interactions(self, input_dir, split):
        return datasets.wikisql.read(input_dir, split, supervised=self.supervised)

    def measure(self, interactions, predicted):
        """Computes denotation accuracy by the rules of WikiTableQuestions."""
        return {self.name: evaluation.metrics.denotation_metrics(interactions, predicted)}

    @classmethod
    def experiment(cls):
        """Returns TAPAS's hyper-parameters for WikiSQL with MATE's attention."""
        return _fine_tuning(
            configs.TableTaskConfig(
                name=cls.name,
                model=weakly_supervised(
                    temperature=0.107515,
                    answer_loss_cutoff=0.185567,
                    cell_select_pref=0.611754,
                    huber_loss_delta=1265.74,
                ),
            ),
            learning_rate=6.17164e-5,
            warmup_ratio=0.1424,
        )


@registry.register
class SupervisedWikiSqlTask(WikiSqlTask):
    """WikiSQL, trained on the cells and the aggregation of the queries."""

    name = "WIKISQL_SUPERVISED"
    supervised = True

    @classmethod
    def experiment(cls):
        """Returns TAPAS's hyper-parameters for supervised WikiSQL with MATE's attention."""
        return _fine_tuning(
            configs.TableTaskConfig(
                name=cls.name,
                model=weakly_supervised(
                    use_answer_as_supervision=False,
                    allow_empty_column_selection=True,
                    temperature=0.763141,
                    answer_loss_cutoff=36.4519,
                    cell_select_pref=0.903421,
                    huber_loss_delta=222.088,
                ),
            ),
            learning_rate=4.12331e-5,
            warmup_ratio=0.168479,
        )


def weakly_supervised(**options) -> ClassifierConfig:
    """Returns the config of a model that selects cells of one column and an operation."""
    options = {
        "select_one_column": True,
        "allow_empty_column_selection": False,
        "use_answer_as_supervision": True,
    } | options
    return ClassifierConfig(num_aggregation_labels=NUM_AGGREGATIONS, **options)
