"""Options of the conversion from a question and a table to a model's input."""

import dataclasses
from collections.abc import Mapping
from typing import Annotated

from mate_tf.errors import InputError
from mate_tf.field_types import MOST, Count, CountOrZero, Range

TAPAS, MODERN = "tapas", "modern"
NUMBER_PARSERS = (TAPAS, MODERN)
"""Values of `ConversionConfig.number_parser`."""

NUM_SENTENCES = 5
"""Number of sentences that are appended to the cells of a table (k in the paper of POINTR)."""

READING_OPTIONS = ("prune_columns", "prune_rows", "fill_cells")
"""Options for tables that do not fit which may differ between training and serving."""


@dataclasses.dataclass(frozen=True)
class ConversionConfig:
    """Limits of a sequence, permissions to shorten the input, and options of cells and labels.

    The defaults are those of google-research/tapas. If nothing may be dropped, all cells are
    shortened to the same number of tokens, rounded up to whole words, until the sequence fits. If
    one word per cell is too long, the conversion fails.

    Attributes:
        max_seq_length: tokens per example; shorter examples are padded.
        max_column_id: a table must have fewer columns.
        max_row_id: a table must have fewer rows.
        cell_trim_length: cells are shortened to this many tokens, rounded up to whole words.
            Negative: shortened as much as needed.
        fill_cells: where cells are shortened, use all tokens: shorten the longest cells first, by
            one word after the other. Otherwise, like the reference, all cells have the same limit.
        drop_rows_to_fit: drop the last rows of a table that is too long.
        drop_columns_to_fit: drop the last columns if header and first row are too long.
        trim_question_to_fit: drop the last words of a question, at most down to half of the
            sequence, if header and first row do not fit next to it.
        prune_columns: if the table does not fit, first drop the columns that are least relevant
            for the question (`tables.pruning`).
        prune_rows: if the table does not fit, first drop the rows that are least relevant. The most
            relevant ones are read whole, up to a quarter of the tokens.
        renumber_to_fit: number the rows and columns that are read from 1 in their order, so that
            pruning may keep any of them, also those beyond max_row_id and max_column_id. For
            serving; `data.converters.examples.Conversion` has the rows of the numbers.
        strip_column_names: leave all column names empty.
        update_answer_coordinates: label the first cells that contain the answer's text, instead of
            the answer's coordinates. An answer that is in no cell gives no labels.
        label_no_answer: label [CLS] if there is nothing else to label; for a model with
            `allow_empty_span`.
        use_document_title: append the title of the table's document to the question.
        use_context_title: append the heading above the table to the question.
        trim_question_ids: store the end of a question id that is too long for its feature.
        mark_matches: set `prev_label_ids` on words that question and table share.
        mark_previous: with `mark_matches`, add 2 to `prev_label_ids` on the previous answer. The
            model then needs `type_vocab_sizes` of 4 for them. Without it, `mark_matches` replaces
            the marks of the previous answer.
        expand_entity_descriptions: append to cells sentences about the entities that they link to.
            Of all sentences about the table's entities, those most similar to the question are
            used (MATE paper, section 4.1).
        entity_descriptions_sentence_limit: number of these sentences for the whole table.
        use_entity_title: put the entity's name before its sentences.
        hide_cell_texts: leave out the cells' own texts, so that only the passages remain.
        number_parser: which numbers and dates the ranks and relations of a model are made of: those
            of `tables.numbers`, as google-research/tapas reads them ("tapas", for its checkpoints),
            or those of `tables.columns` ("modern"). With "modern" rows of totals have no rank, and
            cells that are a mark, such as ✓, are read as words. Answers are always computed with
            the values of `tables.columns`.
        histogram_row: append a row that counts the values of each column (`tables.histogram`). It
            belongs to the header, so it is never an answer. It is the first row to be dropped.
    """

    max_seq_length: Annotated[int, Range(8, 1_000_000)] = 512
    max_column_id: Count = 512
    max_row_id: Count = 512
    cell_trim_length: Annotated[int, Range(-1, MOST)] = -1
    fill_cells: bool = False
    drop_rows_to_fit: bool = False
    drop_columns_to_fit: bool = False
    trim_question_to_fit: bool = False
    prune_columns: bool = False
    prune_rows: bool = False
    renumber_to_fit: bool = False
    strip_column_names: bool = False
    update_answer_coordinates: bool = False
    label_no_answer: bool = False
    use_document_title: bool = False
    use_context_title: bool = False
    trim_question_ids: bool = False
    mark_matches: bool = False
    mark_previous: bool = False
    expand_entity_descriptions: bool = False
    entity_descriptions_sentence_limit: CountOrZero = NUM_SENTENCES
    use_entity_title: bool = False
    hide_cell_texts: bool = False
    number_parser: str = TAPAS
    histogram_row: bool = False

    def __post_init__(self):
        """Raises InputError for a negative number of sentences, or options that do not fit."""
        if self.mark_previous and not self.mark_matches:
            raise InputError(
                "mark_previous needs mark_matches; without both, 1 marks the previous answer"
            )
        if self.number_parser not in NUMBER_PARSERS:
            raise InputError(
                f"number_parser={self.number_parser!r} is not one of {', '.join(NUMBER_PARSERS)}"
            )
        if self.entity_descriptions_sentence_limit < 0:
            raise InputError(
                "entity_descriptions_sentence_limit="
                f"{self.entity_descriptions_sentence_limit} is negative"
            )

    def fitting(self, max_row_id: int, max_column_id: int) -> "ConversionConfig":
        """Returns a config for serving, which reads as much of any table as fits.

        Rows and columns that do not fit are those that are least relevant for the question.

        Args:
            max_row_id: number of row ids of the model, the header's included. Rows beyond it would
                share the last id.
            max_column_id: the same for columns, column 0 (the question) included.
        """
        return dataclasses.replace(
            self,
            max_row_id=min(self.max_row_id, max_row_id),
            max_column_id=min(self.max_column_id, max_column_id),
            drop_rows_to_fit=True,
            drop_columns_to_fit=True,
            trim_question_to_fit=True,
            fill_cells=True,
            prune_columns=True,
            prune_rows=True,
            renumber_to_fit=True,
        )

    def reading(self, options: Mapping[str, bool] | None) -> "ConversionConfig":
        """Returns the config with other values of some of `READING_OPTIONS`.

        Args:
            options: name -> value; None for no change.

        Raises:
            InputError: if a name is not one of them.
        """
        for name in options or ():
            if name not in READING_OPTIONS:
                raise InputError(f"{name} is not one of {', '.join(READING_OPTIONS)}")
        return dataclasses.replace(self, **(options or {}))
