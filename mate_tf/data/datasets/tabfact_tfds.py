"""TabFact for TensorFlow Datasets, from the same official files as `tabfact.read`.

See `tables_tfds`.
"""

import tensorflow_datasets as tfds

from mate_tf.data.datasets import tabfact
from mate_tf.data.datasets.tables_tfds import TableBuilder

LABELS = ("refuted", "entailed")
"""Names of `tabfact.REFUTED` and `tabfact.ENTAILED`."""


class TabFact(TableBuilder):
    """Statements that tables entail or refute.

    A split is built if its list of tables is in the folder. The original statements are read, or
    the lemmatized ones if only those are in the folder.
    """

    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    manual_dir is the folder of the official repository: data/ with the tables, and collected_data/
    or tokenized_data/ with the statements (github.com/wenhuchen/Table-Fact-Checking).
    """
    DESCRIPTION = "Statements that Wikipedia tables entail or refute (Chen et al., 2020)."
    HOMEPAGE = "https://tabfact.github.io"

    def _answer_features(self):
        """Returns the features of the answer."""
        return {
            "label": tfds.features.ClassLabel(
                names=LABELS, doc="Whether the table entails the statement."
            )
        }

    def _read(self, folder):
        """Returns split -> interactions."""
        return {
            split: tabfact.read(folder, split)
            for split in tabfact.SPLITS
            if tabfact.tables_path(folder, split).exists()
        }

    def _answer(self, interaction, question):
        """Returns the values of `_answer_features`."""
        return {"label": question.answer.class_index}
