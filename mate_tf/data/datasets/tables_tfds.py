"""Builders for TensorFlow Datasets, with the features of tables and their questions.

Builders use the readers of this package, so they raise the same errors for broken files. A builder
can be loaded by its name after its module is imported:

```
import tensorflow_datasets as tfds
from mate_tf.data.datasets import tables_tfds  # registers "sqa", "wtq", "tab_fact", "hybrid_qa"

manual = tfds.download.DownloadConfig(manual_dir="data/sqa")
dev = tfds.load("sqa", split="dev", data_dir="out/tfds",
                download_and_prepare_kwargs={"download_config": manual})
```
"""

import abc
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow_datasets as tfds

from mate_tf.answers.hybridqa import answer_type
from mate_tf.data.converters import expansion
from mate_tf.data.datasets import hybridqa, sqa, tabfact, wikitq
from mate_tf.data.interactions import parse_question_id, problem
from mate_tf.errors import InputError
from mate_tf.protos import interaction_pb2


def _texts(doc: str) -> tfds.features.Sequence:
    return tfds.features.Sequence(tfds.features.Text(), doc=doc)


def _cells(doc: str) -> tfds.features.Sequence:
    """Returns the feature of cells of a table; data rows and columns count from 0."""
    return tfds.features.Sequence({"row": np.int32, "column": np.int32}, doc=doc)


def _coordinates(answer: interaction_pb2.Answer) -> list[dict[str, int]]:
    """Returns the cells of an answer as a value of the feature `_cells`."""
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
        """Returns further features, besides those of the question and the table."""

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
                    "header": _texts("Names of the columns."),
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
        splits = self._read(folder)
        if not splits:
            raise InputError(f"{folder}: has no official file of {self.name}")
        return {
            split: self._generate_examples(interactions) for split, interactions in splits.items()
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
        return {
            "sequence_id": tfds.features.Text(doc="The same for all questions of a sequence."),
            "position": tfds.features.Scalar(np.int32, doc="Place in the sequence, from 0."),
            "answer_texts": _texts("The answers."),
            "answer_cells": _cells("The cells that are the answer."),
        }

    def _read(self, folder):
        return {
            split: sqa.read(folder, stem)
            for split, stem in sqa.splits().items()
            if os.path.exists(os.path.join(folder, f"{stem}.tsv"))
        }

    def _answer(self, interaction, question):
        return {
            "sequence_id": interaction.id,
            "position": parse_question_id(question.id).position,
            "answer_texts": list(question.answer.answer_texts),
            "answer_cells": _coordinates(question.answer),
        }


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
        return {
            "answer_texts": _texts("The answers."),
            "answer_cells": _cells("The cells that the answers were found in, if they were."),
            "answer_number": tfds.features.Scalar(
                np.float32, doc="The answer, if it is a number, otherwise NaN."
            ),
            "problem": tfds.features.Text(
                doc="Why the answer cannot be learned from the table; empty if it can."
            ),
        }

    def _read(self, folder):
        return {
            split: wikitq.read(folder, split, original_cells=True)
            for split, stem in wikitq.splits().items()
            if os.path.exists(os.path.join(folder, "data", f"{stem}.tsv"))
        }

    def _answer(self, interaction, question):
        answer = question.answer
        return {
            "answer_texts": list(answer.answer_texts),
            "answer_cells": _coordinates(answer),
            "answer_number": answer.float_value if answer.HasField("float_value") else math.nan,
            "problem": "" if answer.is_valid else problem(question) or "",
        }


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
        return {
            "label": tfds.features.ClassLabel(
                names=("refuted", "entailed"), doc="Whether the table entails the statement."
            )
        }

    def _read(self, folder):
        return {
            split: tabfact.read(folder, split)
            for split in tabfact.SPLITS
            if tabfact.tables_path(folder, split).exists()
        }

    def _answer(self, interaction, question):
        return {"label": question.answer.class_index}


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
        text, sequence = tfds.features.Text, tfds.features.Sequence
        return {
            "answer": text(doc="Empty where it is hidden."),
            "answer_type": text(doc="Whether it is in the table or in a passage."),
            "candidate_cells": _cells("Cells that have the answer, or link to a passage that has."),
            "candidate_cells_in_table": _cells("Cells that have the answer themselves."),
            "links": sequence(
                {"row": np.int32, "column": np.int32, "identifier": text()},
                doc="From cells to passages; a link from the header is in row -1.",
            ),
            "passages": sequence(
                {"identifier": text(), "text": text()}, doc="What the table links to."
            ),
        }

    def _read(self, folder):
        splits = {split: hybridqa.read(folder, split) for split in hybridqa.splits(folder)}
        return {
            split: questions
            for split, questions in splits.items()
            if next(iter(questions), None) is not None
        }

    def _answer(self, interaction, question):
        table, alternatives = interaction.table, question.alternative_answers
        rows = [table.columns, *(row.cells for row in table.rows)]
        return {
            "answer": "".join(question.answer.answer_texts),
            "answer_type": answer_type(question) if question.HasField("answer") else "",
            "candidate_cells": _coordinates(question.answer),
            "candidate_cells_in_table": _coordinates(alternatives[0]) if alternatives else [],
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
