"""The parts of a table's structure, pair by pair."""

import dataclasses
import itertools

import numpy as np
import pytest

from mate_tf.attention import AttentionConfig
from mate_tf.attention.same_row_or_column import SameRowOrColumnPattern
from mate_tf.attention.structure_mask import StructureMaskOptions, StructureMaskPattern

PARTS = [field.name for field in dataclasses.fields(StructureMaskOptions)]


@pytest.fixture(scope="module")
def context(tables):
    return tables.random_context(np.random.default_rng(3), 24, [4, 1])


def mask_of(context, **options):
    config = AttentionConfig(name="structure_mask", **options)
    mask = StructureMaskPattern(config, num_heads=2).mask(context).numpy()
    assert mask.shape == (2, 1, 24, 24)
    return mask[:, 0]


@pytest.mark.parametrize("chosen", itertools.product([False, True], repeat=len(PARTS)))
def test_parts(context, chosen):
    parts = dict(zip(PARTS, chosen, strict=True))
    mask = mask_of(context, **parts)
    segment, row, column, real = (np.asarray(part) for part in context[:4])
    for b, q, k in np.ndindex(2, 24, 24):
        both_of_table = segment[b, q] == segment[b, k] == 1
        same_row = both_of_table and row[b, q] == row[b, k]
        same_column = both_of_table and column[b, q] == column[b, k]
        allowed = {
            "question": segment[b, q] != segment[b, k],
            "same_cell": same_row and same_column,
            "same_row": same_row,
            "same_column": same_column,
            "header": same_column and 0 in (row[b, q], row[b, k]),
        }
        expected = q == k or segment[b, q] == segment[b, k] == 0
        expected |= any(parts[name] and allowed[name] for name in PARTS)
        assert mask[b, q, k] == (expected and real[b, q] == real[b, k] == 1)


def test_all_parts_are_sat(context):
    """Of the pairs of real tokens; in SAT's mask padding attends."""
    sat = SameRowOrColumnPattern(AttentionConfig(name="same_row_or_column"), num_heads=2)
    real = np.asarray(context.input_mask) == 1
    expected = sat.mask(context).numpy()[:, 0] & real[:, :, None]
    np.testing.assert_array_equal(mask_of(context, **dict.fromkeys(PARTS, True)), expected)


def test_defaults_leave_the_column_out(context):
    parts = dict.fromkeys(PARTS, True) | {"same_column": False}
    np.testing.assert_array_equal(mask_of(context), mask_of(context, **parts))
    assert mask_of(context).sum() < mask_of(context, same_column=True).sum()
