"""TABFACT and STATEMENTS: is a statement about a table true?"""

from typing import ClassVar

from mate_tf.data import pretraining
from mate_tf.data.datasets import questions, tabfact
from mate_tf.evaluation import metrics
from mate_tf.models.classifier import ClassifierConfig
from mate_tf.models.encoder import EncoderConfig
from mate_tf.tasks import configs, registry, table


@registry.register
class TabFactTask(table.TableTask):
    """TabFact (Chen et al., 2019): statements about Wikipedia tables, entailed or refuted."""

    name = "TABFACT"
    splits = ("train", "dev", "test")
    subsets: ClassVar[dict[str, str]] = {
        "test_simple": "test",
        "test_complex": "test",
        "test_small": "test",
    }
    class_names = ("refuted", "entailed")
    baselines = ("majority class", "lexical classifier")

    def interactions(self, input_dir, split):
        return tabfact.read(input_dir, split)

    def measure(self, interactions, predicted):
        """Computes accuracy with its 95 % confidence interval, in total and by class."""
        return {
            self.name: metrics.classification_metrics(interactions, predicted, self.class_names)
        }

    @classmethod
    def experiment(cls):
        """Returns TAPAS's hyper-parameters for TabFact with MATE's attention."""
        return configs.fine_tuning(
            configs.TableTaskConfig(name=cls.name, model=truth_classifier()),
            train_steps=80_000,
            batch_size=512,
            learning_rate=2e-5,
            warmup_ratio=0.05,
        )


@registry.register
class StatementsTask(TabFactTask):
    """Intermediate pre-training (Eisenschlos et al., 2020) on generated statements about tables.

    Reads interactions that create_data wrote for other tasks.
    """

    name = "STATEMENTS"
    splits = ("train", "dev")
    subsets: ClassVar[dict[str, str]] = {}

    def interactions(self, input_dir, split):
        return questions.read_statements(pretraining.read_dir(input_dir, split))


def truth_classifier() -> ClassifierConfig:
    """Returns the config of a model with a classification head of two classes only."""
    return ClassifierConfig(
        encoder=EncoderConfig(hidden_dropout_prob=0.07, attention_probs_dropout_prob=0.0),
        num_classification_labels=2,
        disable_per_token_loss=True,
    )
