"""STATEMENTS: intermediate pre-training on statements made from tables."""

from typing import ClassVar

from mate_tf.data.datasets import statements
from mate_tf.tasks import registry
from mate_tf.tasks.tabfact import TabFactTask


@registry.register
class StatementsTask(TabFactTask):
    """Intermediate pre-training (Eisenschlos et al., 2020): statements made from tables.

    Reads the interactions that the create_data of other tasks wrote.
    """

    name = "STATEMENTS"
    splits = ("train", "dev")
    subsets: ClassVar[dict[str, str]] = {}

    def interactions(self, input_dir, split):
        return statements.read_dir(input_dir, split)
