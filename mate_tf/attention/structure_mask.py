"""Masks made of the parts of a table's structure, one for all heads (Mouravieff et al., 2025).

Mouravieff, Piwowarski, Lamprier: *Structural Deep Encoding for Table Question Answering*, Findings
of ACL 2025. The parts are those of the authors' code (RaphaelMouravieff/TabStruct, masking_utils),
which joins them to masks of growing sparsity. docs/papers/mate.md says what is left out.
"""

import dataclasses

from mate_tf.attention import masks
from mate_tf.attention.full import FullPattern


@dataclasses.dataclass(frozen=True)
class StructureMaskOptions:
    """Options of `structure_mask`: what a token of the table attends to, besides itself.

    The defaults leave out the column, whose length grows with the table.

    Attributes:
        question: the question, whose tokens then attend to the whole table.
        same_cell: the other tokens of its cell.
        same_row: its row.
        same_column: its column, with the column's name.
        header: the name of its column, whose tokens then attend to the column.
    """

    question: bool = True
    same_cell: bool = True
    same_row: bool = True
    same_column: bool = False
    header: bool = True


class StructureMaskPattern(FullPattern):
    """Pattern of the parts that the options name."""

    def mask(self, context):
        names = (field.name for field in dataclasses.fields(StructureMaskOptions))
        return masks.structure(context, **{name: self.config.get(name) for name in names})[:, None]
