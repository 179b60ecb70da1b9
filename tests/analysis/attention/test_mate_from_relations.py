"""From masks learned by relation to the settings of MATE."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.analysis.attention import mate_from_relations
from mate_tf.analysis.attention.mate_settings import MIN_RADIUS
from mate_tf.attention import TableContext, mate
from mate_tf.attention.relation_mask import CELL, COLUMN, HEADER, QUESTION, RELATIONS, ROW

ROW_HEAD, COLUMN_HEAD = {CELL, ROW, QUESTION}, {CELL, COLUMN, HEADER, QUESTION}


def alpha_of(*heads):
    """alpha of heads that keep these relations and no others."""
    return np.array(
        [[2.0 if number in kept else -2.0 for number in range(len(RELATIONS))] for kept in heads]
    )


def grid(rows, columns, tokens, question=5, seq=600):
    """A table in which every cell, of the header too, has the same number of tokens."""
    cells = [(r, c) for r in range(rows + 1) for c in range(1, columns + 1) for _ in range(tokens)]
    parts = np.zeros([4, 1, seq], np.int32)
    table = slice(question, question + len(cells))
    parts[0, 0, table] = 1
    parts[1:3, 0, table] = np.array(cells).T
    parts[3, 0, : table.stop] = 1
    return TableContext(*parts)


def mate_mask(settings, context, windowed=True):
    """What heads of `mate_efficient` (or of `mate_exact`) with these settings see."""
    pattern = mate.MateEfficientPattern(settings.attention, len(settings.row_heads))
    pattern.windowed = windowed
    return pattern.mask(TableContext(*map(tf.constant, context))).numpy()


@given(st.integers(1, 64).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_ratio_gives_as_many_row_heads(numbers):
    rows, heads = numbers
    found = mate_from_relations.ratio(rows, heads)
    assert 0 <= found <= 1 or rows == heads
    assert int(heads * found) == rows


def test_count_pairs_leaves_padding_out():
    context = grid(rows=2, columns=3, tokens=2, seq=40)
    found = dict(zip(RELATIONS, mate_from_relations.count_pairs(context), strict=True))
    table, question = 18, 5
    assert found == {
        "same cell": 9 * 2**2,
        "same row": 9 * 2 * 4,  # each token: the two other cells of its row
        "same column": 6 * 2 * 2,  # each data token: the other data cell
        "header": 2 * 6 * 2 * 2,
        "question": question * (question + 2 * table),
        "elsewhere": table**2 - 36 - 72 - 24 - 48,
    }
    two = TableContext(*(np.concatenate([part, part]) for part in context))
    assert mate_from_relations.count_pairs(two).tolist() == [2 * n for n in found.values()]


def test_suggested_settings_see_what_the_heads_keep_and_no_smaller_ones_do():
    examples = (grid(7, 3, 4, question=7, seq=130), grid(12, 2, 3, question=4, seq=130))
    context = TableContext(*map(np.concatenate, zip(*examples, strict=True)))
    alpha = alpha_of(COLUMN_HEAD, ROW_HEAD, ROW_HEAD, ROW_HEAD)
    settings = mate_from_relations.suggest(alpha, context, share=1.0)
    assert settings.row_heads.tolist() == [False, True, True, True]
    np.testing.assert_array_equal(settings.kept, alpha > 0)
    assert settings.attention.name == "mate_efficient"
    assert settings.attention.row_heads_ratio == 0.75
    assert settings.attention.global_length == 7
    assert settings.reached == {"row": 1.0, "column": 1.0}
    assert settings.seen == 1.0
    exact = mate_mask(settings, context, windowed=False)
    np.testing.assert_array_equal(mate_mask(settings, context), exact)
    for name in ("row_radius", "column_radius"):
        radius = settings.attention.get(name)
        assert radius >= MIN_RADIUS
        if radius > MIN_RADIUS:
            smaller = settings._replace(attention=settings.attention.replace(**{name: radius - 1}))
            assert (mate_mask(smaller, context) != exact).any()
    assert settings.attention.column_radius > MIN_RADIUS


def test_radii_follow_rows_and_columns():
    context = grid(rows=39, columns=4, tokens=3)  # rows of 12 tokens, columns of 120
    heads = [ROW_HEAD, COLUMN_HEAD]
    all_of_it = mate_from_relations.suggest(alpha_of(*heads), context, share=1.0).attention
    most = mate_from_relations.suggest(alpha_of(*heads), context, share=0.9)
    assert all_of_it.row_radius <= 12
    assert 60 <= all_of_it.column_radius <= 120
    assert most.attention.column_radius < all_of_it.column_radius
    assert 0.9 <= most.reached["column"] < 1
    assert all_of_it.radius == all_of_it.row_radius


@pytest.mark.parametrize("kind", ["row", "column"])
def test_heads_that_keep_cells_only_need_no_more(kind):
    """Cells of 11 tokens in longer rows and columns."""
    context = grid(rows=6, columns=5, tokens=11)
    head = {CELL, QUESTION}
    alpha = alpha_of(head)
    alpha[0, ROW if kind == "row" else COLUMN] = -1.0
    settings = mate_from_relations.suggest(alpha, context, share=1.0)
    assert settings.row_heads.tolist() == [kind == "row"]
    assert list(settings.reached) == [kind]
    assert settings.attention.radius <= 11
    cells = context.row_ids * 10 + context.column_ids
    same_cell = (cells[:, :, None] == cells[:, None, :]) & (context.segment_ids > 0)[:, :, None]
    real = context.input_mask > 0
    wanted = same_cell & real[:, :, None] & real[:, None, :]
    assert mate_mask(settings, context)[:, 0][wanted].all()


def test_what_no_head_of_mate_sees_is_told():
    context = grid(rows=2, columns=3, tokens=2, seq=40)
    pairs = dict(zip(RELATIONS, mate_from_relations.count_pairs(context), strict=True))
    everything = set(range(len(RELATIONS)))
    alpha = alpha_of(everything, {CELL})
    alpha[0, ROW] = 3.0
    found = mate_from_relations.suggest(alpha, context).seen
    seen = pairs["same cell"] + pairs["same row"] + pairs["question"] + pairs["same cell"]
    assert found == pytest.approx(seen / (sum(pairs.values()) + pairs["same cell"]))
    assert mate_from_relations.suggest(alpha_of(set()), context).seen == 1.0
