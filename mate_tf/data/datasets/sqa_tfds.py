"""SQA for TensorFlow Datasets, from the same official files as `sqa.read`; see `tables_tfds`."""

import os

import numpy as np
import tensorflow_datasets as tfds

from mate_tf.data.datasets import sqa
from mate_tf.data.datasets.tables_tfds import TableBuilder, cells, coordinates, texts
from mate_tf.data.interactions import parse_question_id


class Sqa(TableBuilder):
    """Sequences of questions that may refer to the answer of the previous question.

    Splits are those of the first official division of the training file, and test.
    """

    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    manual_dir is the folder of the official release: random-split-1-train.tsv,
    random-split-1-dev.tsv, test.tsv and table_csv/ (aka.ms/sqa).
    """
    DESCRIPTION = "Sequences of questions over Wikipedia tables (Iyyer et al., 2017)."
    HOMEPAGE = "https://aka.ms/sqa"

    def _answer_features(self):
        """Returns the features of the answer."""
        return {
            "sequence_id": tfds.features.Text(doc="The same for all questions of a sequence."),
            "position": tfds.features.Scalar(np.int32, doc="Place in the sequence, from 0."),
            "answer_texts": texts("The answers."),
            "answer_cells": cells("The cells that are the answer."),
        }

    def _read(self, folder):
        """Returns split -> interactions."""
        return {
            split: sqa.read(folder, stem)
            for split, stem in sqa.splits().items()
            if os.path.exists(os.path.join(folder, f"{stem}.tsv"))
        }

    def _answer(self, interaction, question):
        """Returns the values of `_answer_features`."""
        return {
            "sequence_id": interaction.id,
            "position": parse_question_id(question.id).position,
            "answer_texts": list(question.answer.answer_texts),
            "answer_cells": coordinates(question.answer),
        }
