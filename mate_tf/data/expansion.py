"""What the cells of a table show the model: their own text, and sentences about their entities."""

import collections
import dataclasses

from mate_tf.data import interactions
from mate_tf.data.table_features import cell_texts
from mate_tf.errors import InputError
from mate_tf.protos import annotated_text_pb2, interaction_pb2
from mate_tf.tables.histogram import histogram_row
from mate_tf.tables.passages import NUM_SENTENCES, Passages, expand

_LINKS = annotated_text_pb2.AnnotatedText.annotated_cell_ext
_DESCRIPTIONS = annotated_text_pb2.AnnotationDescription.annotation_descriptions_ext
_CACHED_INDEXES = 16


@dataclasses.dataclass(frozen=True)
class Display:
    """How cells are shown (MATE paper, section 4.1).

    Attributes:
        strip_column_names: all column names are empty.
        expand_entity_descriptions: data cells are followed by those sentences about the entities
            they link to that are, of all about the table's entities, most like the question.
        entity_descriptions_sentence_limit: how many sentences for the whole table.
        use_entity_title: the sentences follow the entity's name.
        hide_cell_texts: data cells do not show their own text, which leaves the passages only.
        histogram_row: a last row tells what the columns hold how often (`tables.histogram`), of the
            texts without sentences. It counts as a part of the header, so it is never an answer;
            where rows are dropped, it is the first to go.
    """

    strip_column_names: bool = False
    expand_entity_descriptions: bool = False
    entity_descriptions_sentence_limit: int = NUM_SENTENCES
    use_entity_title: bool = False
    hide_cell_texts: bool = False
    histogram_row: bool = False

    def __post_init__(self):
        if self.entity_descriptions_sentence_limit < 0:
            raise InputError(
                "entity_descriptions_sentence_limit="
                f"{self.entity_descriptions_sentence_limit} is negative"
            )


class Shown:
    """Makes the texts of cells for questions.

    Args:
        display: how they are shown.
    """

    def __init__(self, display: Display):
        self.display = display
        self._indexes: collections.OrderedDict[bytes, Passages] = collections.OrderedDict()

    def key(self, interaction: interaction_pb2.Interaction, index: int) -> bytes:
        """Equal for questions that see the same texts: all on a table, unless it is expanded."""
        key = interaction.table.SerializeToString(deterministic=True)
        if not self.display.expand_entity_descriptions:
            return key
        question = interactions.question_text(interaction.questions[index])
        return b"\0".join([key, _serialized_passages(interaction), question.encode("utf-8")])

    def texts(self, interaction: interaction_pb2.Interaction, index: int) -> list[str]:
        """The texts of the table for one question, header first, then row by row.

        Behind its rows there may be one more, the histogram.

        Raises:
            ConversionError: a row has more or fewer cells than the header.
        """
        table, display = interaction.table, self.display
        texts = cell_texts(table, display.strip_column_names)
        data = slice(len(table.columns), None)
        if display.hide_cell_texts:
            texts[data] = [""] * len(texts[data])
        last_row = []
        if display.histogram_row:
            last_row = histogram_row(texts[data], len(table.columns))
        if display.expand_entity_descriptions:
            question = interactions.question_text(interaction.questions[index])
            sentences = self._passages(interaction).relevant(
                question, display.entity_descriptions_sentence_limit
            )
            cells = (cell for row in table.rows for cell in row.cells)
            texts[data] = [
                expand(text, links(cell), sentences, display.use_entity_title)
                for text, cell in zip(texts[data], cells, strict=True)
            ]
        return texts + last_row

    def _passages(self, interaction) -> Passages:
        """The passages of the table, from the last tables if it is one of them."""
        key = _serialized_passages(interaction)
        if key not in self._indexes:
            self._indexes[key] = Passages(passages(interaction))
            if len(self._indexes) > _CACHED_INDEXES:
                self._indexes.popitem(last=False)
        self._indexes.move_to_end(key)
        return self._indexes[key]


def links(cell: interaction_pb2.Cell) -> list[str]:
    """Identifiers of the entities that a cell links to."""
    if not cell.HasExtension(_LINKS):
        return []
    return [annotation.identifier for annotation in cell.Extensions[_LINKS].annotations]


def passages(interaction: interaction_pb2.Interaction) -> dict[str, str]:
    """Identifier -> passage, in the order of the table's links, then any that nothing links to."""
    if not interaction.HasExtension(_DESCRIPTIONS):
        return {}
    texts = interaction.Extensions[_DESCRIPTIONS].descriptions
    table = interaction.table
    cells = [*table.columns, *(cell for row in table.rows for cell in row.cells)]
    linked = [link for cell in cells for link in links(cell)]
    return {name: texts[name] for name in dict.fromkeys([*linked, *sorted(texts)]) if name in texts}


def _serialized_passages(interaction) -> bytes:
    if not interaction.HasExtension(_DESCRIPTIONS):
        return b""
    return interaction.Extensions[_DESCRIPTIONS].SerializeToString(deterministic=True)
