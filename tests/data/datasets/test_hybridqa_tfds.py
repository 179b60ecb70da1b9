"""The tfds builder gives what the reader gives."""

import tensorflow_datasets as tfds

from mate_tf.data.converters import expansion
from mate_tf.data.datasets import hybridqa
from mate_tf.data.datasets.hybridqa_tfds import HybridQa


def test_builder(goldens, tmp_path):
    raw = goldens / "metrics" / "open" / "hybridqa" / "raw"
    builder = HybridQa(data_dir=tmp_path)
    builder.download_and_prepare(download_config=tfds.download.DownloadConfig(manual_dir=str(raw)))
    assert set(builder.info.splits) == set(hybridqa.SPLITS)
    for split in hybridqa.SPLITS:
        expected = {each.questions[0].id: each for each in hybridqa.read(raw, split)}
        found = {
            example["question_id"].decode(): example
            for example in tfds.as_numpy(builder.as_dataset(split=split))
        }
        assert found.keys() == expected.keys()
        for key, example in found.items():
            interaction = expected[key]
            table, question = interaction.table, interaction.questions[0]
            assert example["question"].decode() == question.original_text
            assert example["answer"].decode() == "".join(question.answer.answer_texts)
            cells = example["candidate_cells"]
            assert list(zip(cells["row"], cells["column"], strict=True)) == [
                (cell.row_index, cell.column_index) for cell in question.answer.answer_coordinates
            ]
            rows = example["rows"]
            rows = rows.to_list() if hasattr(rows, "to_list") else rows.tolist()
            assert rows == [[cell.text.encode() for cell in row.cells] for row in table.rows]
            passages = example["passages"]
            assert dict(zip(passages["identifier"], passages["text"], strict=True)) == {
                name.encode(): text.encode()
                for name, text in expansion.passages(interaction).items()
            }
            assert len(example["links"]["row"]) == sum(
                len(expansion.links(cell))
                for cells in [table.columns, *(row.cells for row in table.rows)]
                for cell in cells
            )
