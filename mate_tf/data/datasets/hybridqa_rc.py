"""HYBRIDQA_RC: data for the reader, the second stage of POINTR (MATE paper, section 4.2).

Interactions about whole tables with linked passages are converted to interactions about one-row
tables. Each cell is a selected cell followed by all passages that it links to. Ids are
"<question id>/<k>-0", with the number k of the question's table. Contents, order and random choices
are those of google-research/tapas, so that the same cells are read.
"""

import dataclasses
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from mate_tf.answers.gold import Coordinate
from mate_tf.data import interactions as interaction_format
from mate_tf.data.converters import expansion
from mate_tf.errors import InputError
from mate_tf.field_types import Count
from mate_tf.files.json_files import parse_json
from mate_tf.protos import annotated_text_pb2, interaction_pb2, invalid_answer_pb2
from mate_tf.tables.files import read_text

NONE, FULL, SELECTIVE, COLUMN = "none", "full", "selective", "col_confined"
ROW = "row_confined"  # not in the reference
NOISY_CELL_STRATEGIES = (NONE, FULL, SELECTIVE, COLUMN, ROW)

ALL, CELLS, PASSAGES = "all", "cells", "passages"
SOURCES = (ALL, CELLS, PASSAGES)
"""Values of `HybridQaRcConfig.sources`."""

SEPARATOR = " : "

_LINKS = annotated_text_pb2.AnnotatedText.annotated_cell_ext
_DESCRIPTIONS = annotated_text_pb2.AnnotationDescription.annotation_descriptions_ext
_INVALID = invalid_answer_pb2.InvalidAnswer.invalid_answer_ext
_MAX_SEED = 2**32 - 1


@dataclasses.dataclass
class HybridQaRcConfig:
    """Options of the reader's cells: the fields of the reference's hybridqa_rc_config.json.

    Attributes:
        single_cell_examples: make one table per cell, as in the paper, instead of one table with
            all cells.
        use_original_coordinates: use the answer nodes of the data set's traced files as gold cells,
            not all candidate cells.
        skip_ambiguous_examples: train only on questions with a single gold cell. (In the reference
            this option has no effect.)
        noisy_cell_strategy: source of further cells in training, as many as gold cells. "none": no
            further cells; "full": the whole table; "selective": rows and columns with a gold cell;
            "col_confined": columns with a gold cell; "row_confined": rows with a gold cell. They
            teach that there is no answer if `allow_empty_span` of the model and `label_no_answer`
            of the conversion are set; otherwise they have no gold span.
        num_predictions_to_keep: number of cells of the first stage that are read, the best ones.
        sources: what is read of a cell. "all": its text and its passages; "cells": its text, as in
            the baseline Table-Only of MATE's table 5; "passages": its passages, as in Passage-Only.
            The first stage has its own options for these baselines (`configs/hybridqa.yaml`).
    """

    single_cell_examples: bool = False
    use_original_coordinates: bool = False
    skip_ambiguous_examples: bool = False
    noisy_cell_strategy: str = NONE
    num_predictions_to_keep: Count = 1
    sources: str = ALL

    def check(self) -> None:
        """Raises InputError for an unknown strategy or source, or no cell to keep."""
        if self.noisy_cell_strategy not in NOISY_CELL_STRATEGIES:
            raise InputError(
                f"noisy_cell_strategy: {self.noisy_cell_strategy!r} is not one of "
                f"{', '.join(NOISY_CELL_STRATEGIES)}"
            )
        if self.sources not in SOURCES:
            raise InputError(f"sources: {self.sources!r} is not one of {', '.join(SOURCES)}")
        if self.num_predictions_to_keep < 1:
            raise InputError(
                f"num_predictions_to_keep: {self.num_predictions_to_keep} must be at least 1"
            )


def read_original_coordinates(path: str | os.PathLike) -> dict[str, list[Coordinate]]:
    """Reads official question id -> cells of its answer nodes, from a <split>.traced.json.

    Raises:
        InputError: if the file cannot be read or has questions without answer nodes.
    """
    result = {}
    for number, example in enumerate(parse_json(read_text(path), str(path))):
        try:
            nodes = example["answer-node"]
            result[example["question_id"]] = [(int(row), int(col)) for _, (row, col), *_ in nodes]
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"{path}: question {number} has no answer-node to take cells from ({error!r})"
            ) from error
    return result


def gold_interactions(
    interaction: interaction_pb2.Interaction,
    config: HybridQaRcConfig,
    *,
    training: bool,
    original: Mapping[str, Sequence[Coordinate]] | None = None,
) -> Iterator[interaction_pb2.Interaction]:
    """Makes tables of the gold cells, for training and evaluation of the reader.

    Args:
        interaction: interaction of the first stage, with the gold cells as answer coordinates.
        config: options of the cells.
        training: apply `noisy_cell_strategy` and `skip_ambiguous_examples`.
        original: result of `read_original_coordinates`, for `use_original_coordinates`.

    Returns:
        iterator over interactions. There is none for questions without an answer. For an answer
        without a gold cell, there is none with `single_cell_examples`, and otherwise one with an
        empty table.

    Raises:
        InputError: if a gold cell is not in the table, or original coordinates are missing.
    """
    config.check()
    for question in interaction.questions:
        if not question.HasField("answer"):
            continue
        gold = _gold_cells(question, config, original)
        if training and config.skip_ambiguous_examples and len(set(gold)) > 1:
            continue
        random = np.random.RandomState(_seed(_table_id(question, 0)))
        noise = []
        if training:
            noise = _noisy_cells(interaction.table, gold, config.noisy_cell_strategy, random)
        cells = [*gold, *noise]
        random.shuffle(cells)
        for made in cell_tables(interaction, question, cells, config):
            # The alternative answers refer to cells of the original table.
            made.questions[0].ClearField("alternative_answers")
            yield made


def expanded_text(
    cell: interaction_pb2.Cell, descriptions: Mapping[str, str], sources: str = ALL
) -> str:
    """Returns the text of a cell and the passages that it links to, separated by " : ".

    Each passage is used once. Entities without a passage are left out.

    Args:
        descriptions: identifier of an entity -> its passage.
        sources: one of SOURCES, the texts to return.
    """
    own = [] if sources == PASSAGES else [cell.text]
    known = [] if sources == CELLS else _links(cell)
    return SEPARATOR.join([*own, *(descriptions[link] for link in known if link in descriptions)])


def _links(cell) -> list[str]:
    """Returns the distinct identifiers of the entities that a cell links to."""
    return list(dict.fromkeys(expansion.links(cell)))


def _gold_cells(question, config, original):
    """Returns the gold cells of a question."""
    if not config.use_original_coordinates:
        cells = question.answer.answer_coordinates
        return [(cell.row_index, cell.column_index) for cell in cells]
    example_id = interaction_format.get_example_id(question.id)
    if original is None or example_id not in original:
        raise InputError(f"question {question.id}: use_original_coordinates: no coordinates found")
    return list(original[example_id])


def _noisy_cells(table, gold, strategy, random) -> list[Coordinate]:
    """Draws as many cells as there are gold cells; they repeat if there are too few others."""
    rows, columns = ({cell[axis] for cell in gold} for axis in (0, 1))
    allowed = {
        NONE: lambda row, column: False,
        FULL: lambda row, column: True,
        SELECTIVE: lambda row, column: row in rows or column in columns,
        COLUMN: lambda row, column: column in columns,
        ROW: lambda row, column: row in rows,
    }[strategy]
    candidates = [
        (row, column)
        for row in range(len(table.rows))
        for column in range(len(table.columns))
        if allowed(row, column) and (row, column) not in gold
    ]
    if not candidates:
        return []
    indices = random.choice(len(candidates), len(gold), replace=len(gold) > len(candidates))
    return [candidates[index] for index in indices]


def cell_tables(
    interaction: interaction_pb2.Interaction,
    question: interaction_pb2.Question,
    cells: Sequence[Coordinate],
    config: HybridQaRcConfig,
) -> Iterator[interaction_pb2.Interaction]:
    """Makes one-row tables of cells for a question: one per cell, or one with all cells.

    Raises:
        InputError: if a cell is not in the table.
    """
    groups = [[cell] for cell in cells] if config.single_cell_examples else [cells]
    for index, group in enumerate(groups):
        yield _reading(interaction, question, group, index, config.sources)


def _reading(interaction, question, cells, index, sources) -> interaction_pb2.Interaction:
    """Makes the interaction of a question and a one-row table of cells."""
    table = interaction.table
    made = interaction_pb2.Interaction(id=_table_id(question, index))
    for name in ("table_id", "document_title", "document_url"):
        if table.HasField(name):
            setattr(made.table, name, getattr(table, name))
    descriptions = interaction.Extensions[_DESCRIPTIONS].descriptions
    row = made.table.rows.add()
    for row_index, column_index in cells:
        try:
            if min(row_index, column_index) < 0:
                raise IndexError
            cell = table.rows[row_index].cells[column_index]
        except IndexError:
            raise InputError(
                f"question {question.id}: table {table.table_id} has no cell in row {row_index},"
                f" column {column_index}"
            ) from None
        made.table.columns.add(text="")
        copy = row.cells.add(text=expanded_text(cell, descriptions, sources))
        for link in _links(cell):
            copy.Extensions[_LINKS].annotations.add(identifier=link)
            if link in descriptions:
                made.Extensions[_DESCRIPTIONS].descriptions[link] = descriptions[link]
    copied = made.questions.add()
    copied.CopyFrom(question)
    copied.id = interaction_format.create_question_id(made.id, 0)
    if copied.HasField("answer"):
        # The reader finds the answer in the text, so coordinates and validity do not apply.
        copied.answer.ClearField("answer_coordinates")
        copied.answer.ClearField("is_valid")
        copied.ClearExtension(_INVALID)
    return made


def _table_id(question, index: int) -> str:
    """Returns the id of the question's interaction with this number."""
    example_id = interaction_format.get_example_id(question.id)
    return interaction_format.create_interaction_id(example_id, index)


def _seed(text: str) -> int:
    """Returns the seed of the reference, so that its random choices are reproduced."""
    return int(hashlib.sha256(repr(text).encode("utf-8")).hexdigest(), 16) % _MAX_SEED
