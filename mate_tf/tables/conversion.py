"""Options of the conversion from a question and a table to a model's input."""

import dataclasses

from mate_tf.errors import InputError
from mate_tf.tables.passages import NUM_SENTENCES


@dataclasses.dataclass(frozen=True)
class ConversionConfig:
    """Limits of a sequence, what may be cut for it, and how cells and labels are made.

    The defaults are those of google-research/tapas. With nothing allowed to be dropped, every cell
    is shortened to the same number of words until the sequence fits. If one word per cell is too
    much, there is no sequence.

    Attributes:
        max_seq_length: tokens per example; shorter examples are padded.
        max_column_id: a table must have fewer columns.
        max_row_id: a table must have fewer rows.
        cell_trim_length: cells are shortened to this many tokens and the rest of the word, and no
            further; negative: as much as needed.
        drop_rows_to_fit: drop the last rows of a table that is too long.
        drop_columns_to_fit: drop the last columns if header and first row are too long.
        trim_question_to_fit: drop the last words of a question, at most down to half of the
            sequence, if header and first row do not fit beside it.
        prune_columns: drop the columns that have least to do with the question before anything
            else is dropped, and only if something would be (`tables.pruning`).
        prune_rows: the same for rows.
        strip_column_names: leave all column names empty.
        update_answer_coordinates: label the cells in which the answer's text stands first, instead
            of the answer's coordinates. An answer that stands nowhere gives no labels.
        use_document_title: append the title of the table's document to the question.
        use_context_title: append the heading above the table to the question.
        trim_question_ids: store the end of a question id that is too long for its feature.
        mark_matches: set `prev_label_ids` on words that question and table share.
        expand_entity_descriptions: append to cells sentences about the entities that they link to:
            of all sentences about the table's entities the ones most like the question (MATE
            paper, section 4.1).
        entity_descriptions_sentence_limit: number of these sentences for the whole table.
        use_entity_title: put the entity's name before its sentences.
        hide_cell_texts: leave out the cells' own texts, so that only the passages remain.
        histogram_row: append a row that counts the values of each column (`tables.histogram`). It
            belongs to the header, so it is never an answer; where rows are dropped, it goes first.
    """

    max_seq_length: int = 512
    max_column_id: int = 512
    max_row_id: int = 512
    cell_trim_length: int = -1
    drop_rows_to_fit: bool = False
    drop_columns_to_fit: bool = False
    trim_question_to_fit: bool = False
    prune_columns: bool = False
    prune_rows: bool = False
    strip_column_names: bool = False
    update_answer_coordinates: bool = False
    use_document_title: bool = False
    use_context_title: bool = False
    trim_question_ids: bool = False
    mark_matches: bool = False
    expand_entity_descriptions: bool = False
    entity_descriptions_sentence_limit: int = NUM_SENTENCES
    use_entity_title: bool = False
    hide_cell_texts: bool = False
    histogram_row: bool = False

    def __post_init__(self):
        """Raises InputError for a negative number of sentences."""
        if self.entity_descriptions_sentence_limit < 0:
            raise InputError(
                "entity_descriptions_sentence_limit="
                f"{self.entity_descriptions_sentence_limit} is negative"
            )
