"""STATEMENTS: intermediate pre-training on generated statements about tables."""

from typing import ClassVar

from mate_tf.data import pretraining
from mate_tf.data.datasets import questions
from mate_tf.tasks import registry
from mate_tf.tasks.tabfact import TabFactTask


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
