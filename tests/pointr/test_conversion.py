"""Tables made of selected cells; contents are the reference's (test_hybridqa_rc)."""

import pytest

from mate_tf.data.datasets.hybridqa_rc import HybridQaRcConfig
from mate_tf.errors import InputError
from mate_tf.pointr.prediction import predicted_interactions

RANKED = {"q-0_0": [(1, 1), (0, 1), (0, 0)], "other-0_0": [(0, 0)]}


def texts(interaction, **options):
    """Of the cells of each table, by its question."""
    made = predicted_interactions(interaction, RANKED, HybridQaRcConfig(**options))
    return [
        (each.questions[0].id, [cell.text for row in each.table.rows for cell in row.cells])
        for each in made
    ]


def test_as_many_of_the_best_cells_as_are_kept(races):
    bob = "Bob : Bob was born in Bern ."
    ann = "Ann : Ann was born in Basel . She won twice ."
    single = {"single_cell_examples": True}
    assert texts(races.interaction, **single) == [("q/0-0_0", [bob])]
    kept = texts(races.interaction, num_predictions_to_keep=2, **single)
    assert kept == [("q/0-0_0", [bob]), ("q/1-0_0", [ann])]
    ((_, together),) = texts(races.interaction, num_predictions_to_keep=9)
    assert together == [bob, ann, "2001"]


def test_what_is_read_of_a_cell(races):
    """Table-Only and Passage-Only restrict the reader too; a cell may have nothing to read then."""
    options = {"single_cell_examples": True, "num_predictions_to_keep": 3}
    passages = ["Bob was born in Bern .", "Ann was born in Basel . She won twice .", ""]
    for sources, expected in (("cells", ["Bob", "Ann", "2001"]), ("passages", passages)):
        found = texts(races.interaction, sources=sources, **options)
        assert [text for _, (text,) in found] == expected
    with pytest.raises(InputError, match="sources: 'rows' is not one of all, cells, passages"):
        texts(races.interaction, sources="rows")
