"""WIKISQL and WIKISQL_SUPERVISED: questions with the SQL query that answers them."""

from mate_tf.data.datasets import wikisql
from mate_tf.evaluation import metrics
from mate_tf.tasks import configs, registry, table
from mate_tf.tasks.wtq import (
    BATCH_SIZE,
    COUNTING_BASELINES,
    NUM_TRAIN_STEPS,
    weakly_supervised,
)


@registry.register
class WikiSqlTask(table.TableTask):
    """WikiSQL (Zhong et al., 2017), trained on the answers of the queries."""

    name = "WIKISQL"
    baselines = (*table.TableTask.baselines, *COUNTING_BASELINES)
    supervised = False

    def interactions(self, input_dir, split):
        return wikisql.read(input_dir, split, supervised=self.supervised)

    def measure(self, interactions, predicted):
        """Computes denotation accuracy by the rules of WikiTableQuestions."""
        return {self.name: metrics.denotation_metrics(interactions, predicted)}

    @classmethod
    def experiment(cls):
        """Returns TAPAS's hyper-parameters for WikiSQL with MATE's attention."""
        return configs.fine_tuning(
            configs.TableTaskConfig(
                name=cls.name,
                model=weakly_supervised(
                    temperature=0.107515,
                    answer_loss_cutoff=0.185567,
                    cell_select_pref=0.611754,
                    huber_loss_delta=1265.74,
                ),
            ),
            train_steps=NUM_TRAIN_STEPS,
            batch_size=BATCH_SIZE,
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
        return configs.fine_tuning(
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
            train_steps=NUM_TRAIN_STEPS,
            batch_size=BATCH_SIZE,
            learning_rate=4.12331e-5,
            warmup_ratio=0.168479,
        )
