"""HybridQA for TensorFlow Datasets, from the same official files as `hybridqa.read`.

```
builder = HybridQa(data_dir="out/tfds")
manual = tfds.download.DownloadConfig(manual_dir="data/hybridqa")
builder.download_and_prepare(download_config=manual)
dev = builder.as_dataset(split="dev")
```
"""

import numpy as np
import tensorflow_datasets as tfds

from mate_tf.answers.hybridqa import answer_type
from mate_tf.data.converters import expansion
from mate_tf.data.datasets import hybridqa
from mate_tf.data.datasets.tables_tfds import TableBuilder, cells, coordinates


class HybridQa(TableBuilder):
    """Questions about tables and linked passages, with the candidate cells of their answers.

    A split is built if its questions, and at least one of their tables, are in the folder.
    """

    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    manual_dir is the folder of the official files: released_data/ and the tables, either
    WikiTables-WithLinks.zip or tables_tok/ and request_tok/ (github.com/wenhuchen/HybridQA).
    """
    DESCRIPTION = "Questions over Wikipedia tables and the passages they link to."
    HOMEPAGE = "https://hybridqa.github.io"

    def _answer_features(self):
        """Returns the features of the answer."""
        text, sequence = tfds.features.Text, tfds.features.Sequence
        return {
            "answer": text(doc="Empty where it is hidden."),
            "answer_type": text(doc="Whether it is in the table or in a passage."),
            "candidate_cells": cells("Cells that have the answer, or link to a passage that has."),
            "candidate_cells_in_table": cells("Cells that have the answer themselves."),
            "links": sequence(
                {"row": np.int32, "column": np.int32, "identifier": text()},
                doc="From cells to passages; a link from the header is in row -1.",
            ),
            "passages": sequence(
                {"identifier": text(), "text": text()}, doc="What the table links to."
            ),
        }

    def _read(self, folder):
        """Returns split -> interactions."""
        found = {split: hybridqa.read(folder, split) for split in hybridqa.splits(folder)}
        return {
            split: questions
            for split, questions in found.items()
            if next(iter(questions), None) is not None
        }

    def _answer(self, interaction, question):
        """Returns the values of `_answer_features`."""
        table, alternatives = interaction.table, question.alternative_answers
        rows = [table.columns, *(row.cells for row in table.rows)]
        return {
            "answer": "".join(question.answer.answer_texts),
            "answer_type": answer_type(question) if question.HasField("answer") else "",
            "candidate_cells": coordinates(question.answer),
            "candidate_cells_in_table": coordinates(alternatives[0]) if alternatives else [],
            "links": [
                {"row": row_index - 1, "column": column_index, "identifier": link}
                for row_index, row in enumerate(rows)
                for column_index, cell in enumerate(row)
                for link in expansion.links(cell)
            ],
            "passages": [
                {"identifier": name, "text": text}
                for name, text in expansion.passages(interaction).items()
            ],
        }
