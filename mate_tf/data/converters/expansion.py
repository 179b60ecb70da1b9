"""Expanded texts of cells: their own texts, with sentences about linked entities."""

import collections
from typing import TYPE_CHECKING

from mate_tf.data import interactions
from mate_tf.data.converters.example_features import cell_texts
from mate_tf.protos import annotated_text_pb2, interaction_pb2
from mate_tf.tables import marks
from mate_tf.tables.conversion import MODERN, ConversionConfig

if TYPE_CHECKING:
    from mate_tf.tables.passages import Passages

_LINKS = annotated_text_pb2.AnnotatedText.annotated_cell_ext
_DESCRIPTIONS = annotated_text_pb2.AnnotationDescription.annotation_descriptions_ext
_CACHED_INDEXES = 16


class CellTexts:
    """Texts of cells that a model reads, which may depend on the question.

    Args:
        config: options of the cells' texts.
    """

    def __init__(self, config: ConversionConfig):
        self._config = config
        self._indexes: collections.OrderedDict[bytes, Passages] = collections.OrderedDict()

    def key(self, interaction: interaction_pb2.Interaction, index: int) -> bytes:
        """Returns a key that is equal for questions with the same texts of cells.

        Without expansion, all questions about a table have the same key.
        """
        key = interaction.table.SerializeToString(deterministic=True)
        if not self._config.expand_entity_descriptions:
            return key
        question = interactions.question_text(interaction.questions[index])
        return b"\0".join([key, _serialized_passages(interaction), question.encode("utf-8")])

    def texts(self, interaction: interaction_pb2.Interaction, index: int) -> list[str]:
        """Returns the texts of the table for one question, header first, then row by row.

        With `histogram_row` there is one more row at the end.

        Raises:
            ConversionError: if a row has more or fewer cells than the header.
        """
        table, config = interaction.table, self._config
        texts = cell_texts(table, config.strip_column_names)
        data = slice(len(table.columns), None)
        if config.number_parser == MODERN:
            texts[data] = map(marks.in_words, texts[data])
        if config.hide_cell_texts:
            texts[data] = [""] * len(texts[data])
        last_row = []
        if config.histogram_row:
            from mate_tf.tables.histogram import histogram_row  # few tasks have it

            last_row = histogram_row(texts[data], len(table.columns))
        if config.expand_entity_descriptions:
            from mate_tf.tables.passages import expand  # few tasks have it

            question = interactions.question_text(interaction.questions[index])
            sentences = self._passages(interaction).relevant(
                question, config.entity_descriptions_sentence_limit
            )
            cells = (cell for row in table.rows for cell in row.cells)
            texts[data] = [
                expand(text, links(cell), sentences, config.use_entity_title)
                for text, cell in zip(texts[data], cells, strict=True)
            ]
        return texts + last_row

    def _passages(self, interaction) -> "Passages":
        """Returns the passages of the table, from the cache if possible."""
        from mate_tf.tables.passages import Passages

        key = _serialized_passages(interaction)
        if key not in self._indexes:
            self._indexes[key] = Passages(passages(interaction))
            if len(self._indexes) > _CACHED_INDEXES:
                self._indexes.popitem(last=False)
        self._indexes.move_to_end(key)
        return self._indexes[key]


def links(cell: interaction_pb2.Cell) -> list[str]:
    """Returns the identifiers of the entities that a cell links to."""
    if not cell.HasExtension(_LINKS):
        return []
    return [annotation.identifier for annotation in cell.Extensions[_LINKS].annotations]


def passages(interaction: interaction_pb2.Interaction) -> dict[str, str]:
    """Returns identifier -> passage, in the order of the table's links.

    Passages that no cell links to are at the end.
    """
    if not interaction.HasExtension(_DESCRIPTIONS):
        return {}
    texts = interaction.Extensions[_DESCRIPTIONS].descriptions
    table = interaction.table
    cells = [*table.columns, *(cell for row in table.rows for cell in row.cells)]
    linked = [link for cell in cells for link in links(cell)]
    return {name: texts[name] for name in dict.fromkeys([*linked, *sorted(texts)]) if name in texts}


def _serialized_passages(interaction) -> bytes:
    """Returns the passages as bytes, for keys."""
    if not interaction.HasExtension(_DESCRIPTIONS):
        return b""
    return interaction.Extensions[_DESCRIPTIONS].SerializeToString(deterministic=True)
