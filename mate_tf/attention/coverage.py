"""Coverage: how much of `mate_exact` a global length and a radius reach, on real tables."""

import numpy as np

from mate_tf.data import padding


def coverage(
    context,
    global_length: int,
    row_radius: int,
    column_radius: int | None = None,
    head_type: str | None = None,
) -> float:
    """Computes the share of the pairs allowed by `mate_exact` that `mate_efficient` reaches.

    Pairs are counted over the batch by the rules of `masks.table`, from the sizes of rows and
    columns alone. No [seq, seq] mask is made, so whole data sets can be measured.

    Args:
        context: TableContext, another object with its first four attributes, or a dict of
            features; <int>[batch, seq] each, tensors or arrays.
        global_length: G.
        row_radius: R of the row heads.
        column_radius: R of the column heads; None = `row_radius`.
        head_type: "row" or "column" to count only these heads; None counts both.

    Returns:
        A number from 0 to 1; 1 if there is no allowed pair.
    """
    get = context.__getitem__ if isinstance(context, dict) else lambda key: getattr(context, key)
    segments, mask = (np.asarray(get(key)) for key in ("segment_ids", "input_mask"))
    radii = {"row": row_radius, "column": column_radius or row_radius}
    reached = allowed = 0
    for kind in [head_type] if head_type else radii:
        ids = np.asarray(get(f"{kind}_ids"))
        for example in range(len(ids)):
            real = padding.real_tokens(mask[example])
            question = real & (segments[example] == 0)
            counts = _count(
                ids[example][real & ~question], question.sum(), global_length, radii[kind]
            )
            reached, allowed = reached + counts[0], allowed + counts[1]
    return float(reached / allowed) if allowed else 1.0


def _count(table_ids, num_question: int, global_length: int, radius: int) -> tuple[int, int]:
    """Counts the reached and the allowed pairs of one example with these ids of table tokens."""
    num_question = int(num_question)
    num_table = len(table_ids)
    # Question tokens attend to all, and all attend to them, at any rank.
    of_question = num_question * (num_question + 2 * num_table)
    sizes = np.unique(table_ids, return_counts=True)[1]
    allowed = int((sizes.astype(np.int64) ** 2).sum())
    if not num_table:
        return of_question, of_question
    group_end = np.repeat(np.cumsum(sizes), sizes) + num_question
    group_start = group_end - np.repeat(sizes, sizes)
    rank = np.arange(num_question, num_question + num_table)
    bucket_start = global_length + (rank - global_length) // radius * radius
    window_start, window_end = bucket_start - radius, bucket_start + 2 * radius
    in_global = np.clip(np.minimum(group_end, global_length) - group_start, 0, None)
    start = np.maximum(np.maximum(window_start, global_length), group_start)
    in_window = np.clip(np.minimum(window_end, group_end) - start, 0, None)
    reached = np.where(rank < global_length, group_end - group_start, in_global + in_window)
    return of_question + int(reached.sum()), of_question + allowed
