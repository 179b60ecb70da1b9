"""WikiTableQuestions for TensorFlow Datasets, from the same official files as `wikitq.read`.

See `tables_tfds`.
"""

import math
import os

import numpy as np
import tensorflow_datasets as tfds

from mate_tf.data import interactions
from mate_tf.data.datasets import wikitq
from mate_tf.data.datasets.tables_tfds import TableBuilder, cells, coordinates, texts


class Wtq(TableBuilder):
    """Questions with the texts of their answers, and the cells in which these were found.

    The builder `wiki_table_questions` of tfds downloads the files and has no cells. Splits are
    those of the first official division of the training file, and test. Tables are not changed.
    """

    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    manual_dir is the folder of the official release: data/ with the questions and csv/ with the
    tables (github.com/ppasupat/WikiTableQuestions).
    """
    DESCRIPTION = "Questions over Wikipedia tables (Pasupat and Liang, 2015)."
    HOMEPAGE = "https://ppasupat.github.io/WikiTableQuestions"

    def _answer_features(self):
        """Returns the features of the answer."""
        return {
            "answer_texts": texts("The answers."),
            "answer_cells": cells("The cells that the answers were found in, if they were."),
            "answer_number": tfds.features.Scalar(
                np.float32, doc="The answer, if it is a number, otherwise NaN."
            ),
            "problem": tfds.features.Text(
                doc="Why the answer cannot be learned from the table; empty if it can."
            ),
        }

    def _read(self, folder):
        """Returns split -> interactions."""
        return {
            split: wikitq.read(folder, split, original_cells=True)
            for split, stem in wikitq.splits().items()
            if os.path.exists(os.path.join(folder, "data", f"{stem}.tsv"))
        }

    def _answer(self, interaction, question):
        """Returns the values of `_answer_features`."""
        answer = question.answer
        return {
            "answer_texts": list(answer.answer_texts),
            "answer_cells": coordinates(answer),
            "answer_number": answer.float_value if answer.HasField("float_value") else math.nan,
            "problem": "" if answer.is_valid else interactions.problem(question) or "",
        }
