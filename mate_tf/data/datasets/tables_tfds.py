"""Base class of the builders for TensorFlow Datasets, with the features of tables.

Builders use the readers of this package, so they raise the same errors for broken files. A builder
can be loaded by its name after its module is imported:

```
import tensorflow_datasets as tfds
from mate_tf.data.datasets import sqa_tfds  # registers "sqa"

manual = tfds.download.DownloadConfig(manual_dir="data/sqa")
dev = tfds.load("sqa", split="dev", data_dir="out/tfds",
                download_and_prepare_kwargs={"download_config": manual})
```
"""

import abc
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow_datasets as tfds

from mate_tf.errors import InputError
from mate_tf.protos import interaction_pb2


def texts(doc: str) -> tfds.features.Sequence:
    """Returns the feature of a list of texts."""
    return tfds.features.Sequence(tfds.features.Text(), doc=doc)


def cells(doc: str) -> tfds.features.Sequence:
    """Returns the feature of cells of a table; data rows and columns count from 0."""
    return tfds.features.Sequence({"row": np.int32, "column": np.int32}, doc=doc)


def coordinates(answer: interaction_pb2.Answer) -> list[dict[str, int]]:
    """Returns the cells of an answer as a value of the feature `cells`."""
    return [
        {"row": cell.row_index, "column": cell.column_index} for cell in answer.answer_coordinates
    ]


class TableBuilder(tfds.core.GeneratorBasedBuilder):
    """Builder with one example per question and its table; nothing is downloaded.

    Attributes:
        DESCRIPTION, HOMEPAGE: description and homepage of the data set.
    """

    VERSION = tfds.core.Version("1.0.0")
    # Otherwise tfds looks for checksums of downloads, with a package that may not be installed.
    url_infos = None
    DESCRIPTION = ""
    HOMEPAGE = ""

    @abc.abstractmethod
    def _answer_features(self) -> dict[str, Any]:
        """Returns further features, beside those of the question and the table."""

    @abc.abstractmethod
    def _read(self, folder: str) -> Mapping[str, Iterable[interaction_pb2.Interaction]]:
        """Returns split -> interactions, for the splits with files in the folder."""

    @abc.abstractmethod
    def _answer(
        self, interaction: interaction_pb2.Interaction, question: interaction_pb2.Question
    ) -> dict[str, Any]:
        """Returns the values of `_answer_features`."""

    def _info(self):
        """Returns name, description and features of the data set, for tfds."""
        text = tfds.features.Text
        return tfds.core.DatasetInfo(
            builder=self,
            description=self.DESCRIPTION,
            homepage=self.HOMEPAGE,
            features=tfds.features.FeaturesDict(
                {
                    "question_id": text(doc="As in interactions and predictions of mate-tf."),
                    "question": text(doc="The question or statement, as people wrote it."),
                    "table_id": text(doc="The same for all questions about a table."),
                    "title": text(doc="Title of the page that the table is from, or empty."),
                    "header": texts("Names of the columns."),
                    "rows": tfds.features.Sequence(
                        tfds.features.Sequence(text()), doc="Texts of the cells, row by row."
                    ),
                    **self._answer_features(),
                }
            ),
        )

    def _split_generators(self, dl_manager):
        """Returns split -> examples, for tfds."""
        folder = str(dl_manager.manual_dir)
        found = self._read(folder)
        if not found:
            raise InputError(f"{folder}: has no official file of {self.name}")
        return {
            split: self._generate_examples(interactions) for split, interactions in found.items()
        }

    def _generate_examples(
        self, interactions: Iterable[interaction_pb2.Interaction]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields question id and features of each question, for tfds."""
        for interaction in interactions:
            table = interaction.table
            of_table = {
                "table_id": table.table_id,
                "title": table.document_title,
                "header": [cell.text for cell in table.columns],
                "rows": [[cell.text for cell in row.cells] for row in table.rows],
            }
            for question in interaction.questions:
                of_question = {"question_id": question.id, "question": question.original_text}
                answer = self._answer(interaction, question)
                yield question.id, of_question | of_table | answer
