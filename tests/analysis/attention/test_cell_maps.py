"""Attention and masks between cells, against counts by hand."""

import numpy as np
import pytest

from mate_tf.analysis.attention import cell_maps
from mate_tf.analysis.attention.cell_maps import ATTENTION, MASK

from ...parsed_html import HOSTILE

# places: the header's two cells, two rows of two, the question
LAST, QUESTION = 5, 6


def test_words(small_example, pieces):
    table, question = cell_maps.words(small_example, pieces)
    assert question == "who"
    assert table.columns == ("who", "year")
    assert table.rows == ((HOSTILE, ""), ("30", "annika"))
    # a token of another vocabulary
    assert cell_maps.words(small_example, pieces[:9])[0].rows == (
        ("[UNK]", ""),
        ("[UNK]", "annika"),
    )


def test_known_numbers(looking_alike, small_example, pieces):
    """One row head and one column head in each layer, which attend alike to all they see."""
    maps = cell_maps.measure(looking_alike("mate_exact"), small_example, pieces)
    assert (maps.rows, maps.columns, maps.layers) == (2, 2, 2)
    assert maps.question_index == QUESTION
    assert maps.heads == ["row heads", "column heads"]
    assert [part[:3] for part in maps.views[ATTENTION]] == [
        (layer, heads, 1) for layer in (1, 2) for heads in maps.heads
    ]
    # ten tokens, of which three are the question's and two the last cell's
    everything = np.array([1, 1, 1, 1, 1, 2, 3, 0])
    own_row, own_column = np.array([0, 0, 0, 0, 1, 2, 3, 0]), np.array([0, 1, 0, 1, 0, 2, 3, 0])
    for layer in (1, 2, None):
        for heads, tokens in zip(maps.heads, (own_row, own_column), strict=True):
            found = maps.shares(ATTENTION, LAST, layer, heads)
            np.testing.assert_allclose(found, tokens / tokens.sum(), atol=1e-6)
            np.testing.assert_array_equal(maps.shares(MASK, LAST, layer, heads), tokens > 0)
            from_question = maps.shares(ATTENTION, QUESTION, layer, heads)
            np.testing.assert_allclose(from_question, everything / 10, atol=1e-6)
    both = own_row / own_row.sum() / 2 + own_column / own_column.sum() / 2
    np.testing.assert_allclose(maps.shares(ATTENTION, LAST), both, atol=1e-6)
    np.testing.assert_allclose(maps.shares(MASK, LAST, 1), [0, 0.5, 0, 0.5, 0.5, 1, 1, 0])
    np.testing.assert_allclose(maps.in_cells(both), np.reshape(both[:6], [3, 2]))
    assert maps.data_cell(2, 2) == LAST
    assert maps.data_cell(1, 1) == 2
    assert maps.data_cell(0, 2) is None
    assert not maps.shares(ATTENTION, LAST, heads="other heads").any()


@pytest.mark.parametrize("name", ["full", "mate_efficient", "same_row_or_column"])
def test_shares_of_a_place_add_up(name, looking_alike, small_example, pieces, monkeypatch):
    """With the question and the cells that are not shown."""
    monkeypatch.setattr(cell_maps, "MAX_CELLS", 4)
    maps = cell_maps.measure(looking_alike(name), small_example, pieces)
    assert (maps.rows, maps.columns) == (1, 2)
    assert len(maps.table.rows) == 2
    for part in maps.views[ATTENTION]:
        assert part.shares.shape == (5, 6)
        # in a tree, a leaf may have no keys
        most = part.shares.sum(1).max() if part.heads == "other heads" else part.shares.sum(1)
        np.testing.assert_allclose(most, 1, atol=1e-6)
    assert maps.shares(ATTENTION, maps.question_index)[-1] > 0
    for part in maps.views[MASK]:
        assert part.shares.min() >= 0
        assert part.shares.max() == pytest.approx(1)


def test_types_of_heads(looking_alike, small_example, pieces):
    for name, heads in {
        "full": ["all heads"],
        "mate_efficient": ["row heads", "column heads"],
    }.items():
        assert cell_maps.measure(looking_alike(name), small_example, pieces).heads == heads


def test_masks_alone(looking_alike, small_example, pieces, capsys):
    """Of variants that add tokens of their own, and that compare no pairs."""
    for name in ("table_etc", "tree_coarse"):
        maps = cell_maps.measure(looking_alike(name), small_example, pieces)
        assert list(maps.views) == [MASK]
        assert maps.best_view == MASK
        assert maps.data_cell(2, 2) is not None
        (line,) = capsys.readouterr().out.splitlines()
        assert line.startswith(f"table | attention '{name}' of layer 1 has no probabilities")
