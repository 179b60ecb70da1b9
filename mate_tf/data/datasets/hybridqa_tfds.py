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

from mate_tf.data import expansion
from mate_tf.data.datasets import hybridqa
from mate_tf.protos import interaction_pb2


class HybridQa(tfds.core.GeneratorBasedBuilder):
    """Questions over tables and linked passages, with the cells that may answer them.

    Splits are those whose questions, and at least one of their tables, are in the folder.
    """

    VERSION = tfds.core.Version("1.0.0")
    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    manual_dir is the folder of the official files: released_data/ and the tables, either
    WikiTables-WithLinks.zip or tables_tok/ and request_tok/ (github.com/wenhuchen/HybridQA).
    """
    # Nothing is downloaded; tfds would look for checksums with a package that it does not require.
    url_infos = None

    def _info(self):
        text, sequence = tfds.features.Text(), tfds.features.Sequence
        cells = sequence({"row": np.int32, "column": np.int32})
        return tfds.core.DatasetInfo(
            builder=self,
            description="Questions over Wikipedia tables and the passages they link to.",
            homepage="https://hybridqa.github.io",
            features=tfds.features.FeaturesDict(
                {
                    "question_id": text,
                    "question": text,
                    "answer": text,  # empty where it is hidden
                    "answer_type": text,
                    "candidate_cells": cells,
                    "candidate_cells_in_table": cells,
                    "table_id": text,
                    "title": text,
                    "header": sequence(text),
                    "rows": sequence(sequence(text)),
                    # A link from the header is in row -1.
                    "links": sequence({"row": np.int32, "column": np.int32, "identifier": text}),
                    "passages": sequence({"identifier": text, "text": text}),
                }
            ),
        )

    def _split_generators(self, dl_manager):
        folder = dl_manager.manual_dir
        found = {split: hybridqa.read(folder, split) for split in hybridqa.splits(folder)}
        return {
            split: self._generate_examples(questions)
            for split, questions in found.items()
            if next(iter(questions), None) is not None
        }

    def _generate_examples(self, questions):
        for interaction in questions:
            yield interaction.id, _example(interaction)


def _example(interaction: interaction_pb2.Interaction) -> dict:
    # Imported here: it needs the metrics, and so much more than a reader of files.
    from mate_tf.evaluation.hybridqa import answer_type

    table, question = interaction.table, interaction.questions[0]
    alternatives = question.alternative_answers
    rows = [table.columns, *(row.cells for row in table.rows)]
    return {
        "question_id": question.id,
        "question": question.original_text,
        "answer": "".join(question.answer.answer_texts),
        "answer_type": answer_type(question) if question.HasField("answer") else "",
        "candidate_cells": _coordinates(question.answer),
        "candidate_cells_in_table": _coordinates(alternatives[0]) if alternatives else [],
        "table_id": table.table_id,
        "title": table.document_title,
        "header": [cell.text for cell in table.columns],
        "rows": [[cell.text for cell in row.cells] for row in table.rows],
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


def _coordinates(answer: interaction_pb2.Answer) -> list[dict[str, int]]:
    return [
        {"row": cell.row_index, "column": cell.column_index} for cell in answer.answer_coordinates
    ]
