"""Masks: which queries attend to which keys, as boolean tensors with the query before the key.

The functions exported here compute masks from the ids of a table's tokens (`table`). `static` has
masks of positions only, `learned` makes masks from learned importance, `files` stores masks.
"""

from mate_tf.attention.masks.table import (
    HeadTokens,
    any_key,
    bigbird,
    buckets,
    full,
    head_tokens,
    inverse_permutation,
    last_token,
    question_tokens,
    real_pairs,
    real_tokens,
    same_column,
    same_example,
    same_leaf,
    same_row,
    same_row_or_column,
    sort_order,
    structure,
    table_etc,
    visible,
    windowed,
    without_diagonal,
)
from mate_tf.lazy import on_first_use

__all__ = [
    "HeadTokens",
    "any_key",
    "bigbird",
    "buckets",
    "full",
    "head_tokens",
    "inverse_permutation",
    "last_token",
    "question_tokens",
    "real_pairs",
    "real_tokens",
    "same_column",
    "same_example",
    "same_leaf",
    "same_row",
    "same_row_or_column",
    "sort_order",
    "structure",
    "table_etc",
    "visible",
    "windowed",
    "without_diagonal",
]

__getattr__, __dir__ = on_first_use(__name__)
