"""The masks against the paper's definition written as loops, and against the reference's masks."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.attention import TableContext, masks


def by_the_paper(context, ids, global_length=None, radius=None):
    """Section 3 of the MATE paper, token by token; padding neither sees nor is seen."""
    arrays = {name: np.asarray(part) for name, part in context.tensors.items()}
    ids = np.asarray(ids)
    batch, seq = ids.shape
    allowed = np.zeros([batch, seq, seq], bool)
    for b in range(batch):
        real = arrays["input_mask"][b] == 1
        question = real & (arrays["segment_ids"][b] == 0)

        def place(i, b=b, real=real, question=question):
            return (not real[i], not question[i], ids[b, i], i)

        rank = {token: r for r, token in enumerate(sorted(range(seq), key=place))}
        for i in range(seq):
            for j in range(seq):
                near = True
                if radius and min(rank[i], rank[j]) >= global_length:
                    bucket_i, bucket_j = ((rank[t] - global_length) // radius for t in (i, j))
                    near = abs(bucket_i - bucket_j) <= 1
                same = ids[b, i] == ids[b, j] and near
                allowed[b, i, j] = real[i] and real[j] and (question[i] or question[j] or same)
    return allowed


@pytest.fixture(scope="module")
def context(tables):
    return tables.random_context(np.random.default_rng(3), 40, [5, 12, 0, 40])


def test_row_and_column_heads(context):
    for mask, ids in (
        (masks.same_row(context), context.row_ids),
        (masks.same_column(context), context.column_ids),
    ):
        np.testing.assert_array_equal(mask, by_the_paper(context, ids))


@pytest.mark.parametrize(("global_length", "radius"), [(12, 4), (5, 3), (0, 7), (50, 2), (16, 40)])
def test_windows(context, global_length, radius):
    for ids in (context.row_ids, context.column_ids):
        np.testing.assert_array_equal(
            masks.windowed(context, ids, global_length, radius),
            by_the_paper(context, ids, global_length, radius),
        )


def test_sort_order_is_stable_with_question_first_and_padding_last():
    context = TableContext(
        segment_ids=tf.constant([[0, 1, 1, 1, 1, 0, 0]]),
        row_ids=tf.constant([[0, 0, 0, 1, 1, 0, 0]]),
        column_ids=tf.constant([[0, 1, 2, 2, 1, 0, 0]]),
        input_mask=tf.constant([[1, 1, 1, 1, 1, 1, 0]]),
    )
    assert masks.sort_order(context, context.row_ids).numpy().tolist() == [[0, 5, 1, 2, 3, 4, 6]]
    order = masks.sort_order(context, context.column_ids)
    assert order.numpy().tolist() == [[0, 5, 1, 4, 2, 3, 6]]
    assert masks.inverse_permutation(order).numpy().tolist() == [[0, 2, 4, 5, 3, 1, 6]]


def golden_mask(path):
    case = np.load(path)
    return np.unpackbits(case["attention_mask_packed"], axis=-1)[
        tuple(slice(0, size) for size in case["attention_mask_shape"])
    ].astype(bool)


@pytest.mark.parametrize(
    ("case", "kind", "window"),
    [
        ("open/same_col_or_row", "both", None),
        ("open/headwise_r0.0", "column", None),
        ("open/headwise_r1.0", "row", None),
        ("open_long_question/headwise_longq", "mixed", None),
        ("open/headwise_b16_h32", "mixed", (32, 16)),
        ("open/headwise_b24_h32", "mixed", (32, 24)),
        ("open/headwise_b8_h40", "mixed", (40, 8)),
    ],
)
def test_masks_of_the_reference(goldens, case, kind, window):
    """Rows of real queries: in the reference padding queries see everything in masked modes."""
    path = goldens / "encoder" / case
    features = np.load(path.parent / "features.npz")
    context = TableContext(*(tf.constant(features[name]) for name in TableContext.FEATURES))
    expected = golden_mask(f"{path}.npz")
    if kind == "both":
        np.testing.assert_array_equal(masks.same_row_or_column(context), expected)
        return
    num_heads = expected.shape[1]
    rows = {"row": num_heads, "column": 0, "mixed": num_heads // 2}[kind]
    real = features["input_mask"] == 1
    for head in range(num_heads):
        ids = context.row_ids if head < rows else context.column_ids
        if window:
            ours = masks.windowed(context, ids, *window)
        else:
            ours = masks.visible(masks.head_tokens(context, ids))
        np.testing.assert_array_equal(ours.numpy()[real], expected[:, head][real])
