"""Spans against their definition, token by token."""

import itertools

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from mate_tf.models.classifier import ClassifierConfig
from mate_tf.models.heads import reader, spans


def all_spans(length, max_length):
    return [
        (start, start + size - 1)
        for size in range(1, max_length + 1)
        for start in range(length - size + 1)
    ]


@pytest.mark.parametrize(("length", "max_length"), [(12, 10), (10, 10), (4, 10), (1, 3), (5, 1)])
def test_all_spans_by_length(length, max_length):
    want = all_spans(length, max_length)
    np.testing.assert_array_equal(spans.indexes(length, max_length), want)
    values = np.random.default_rng(0).random((2, length, 3)).astype(np.float32)
    first, last = np.transpose(want)
    np.testing.assert_array_equal(spans.values_at_starts(values, max_length), values[:, first])
    np.testing.assert_array_equal(spans.values_at_ends(values, max_length), values[:, last])


def test_of_any_length_in_a_graph():
    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float32)])
    def sums(values):
        return spans.values_at_starts(values, 4) + spans.values_at_ends(values, 4)

    for length in (6, 2):
        values = np.arange(length, dtype=np.float32)[np.newaxis]
        want = [start + end for start, end in all_spans(length, 4)]
        np.testing.assert_array_equal(sums(values)[0], want)


ids = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=12)


@settings(deadline=None, max_examples=30)
@given(ids, st.integers(1, 5))
def test_within_cells(tokens, max_length):
    """Both ends have the same row and column, and are neither in a header nor in the question."""
    rows, columns = np.transpose(tokens).astype(np.int32)[:, np.newaxis]
    want = [
        tokens[first] == tokens[last] and min(tokens[first]) > 0
        for first, last in all_spans(len(tokens), max_length)
    ]
    got = spans.within_cells(tf.constant(rows), tf.constant(columns), max_length)
    np.testing.assert_array_equal(got[0], want)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_gold_boundaries(labels):
    runs = [
        list(run) for on, run in itertools.groupby(range(len(labels)), labels.__getitem__) if on
    ]
    starts, ends = spans.gold_boundaries(tf.constant([labels], tf.int32))
    np.testing.assert_array_equal(np.flatnonzero(starts), [run[0] for run in runs])
    np.testing.assert_array_equal(np.flatnonzero(ends), [run[-1] for run in runs])


def one_row(labels):
    """A question, then two cells of three and two tokens."""
    return {
        "row_ids": tf.constant([[0, 1, 1, 1, 1, 1]]),
        "column_ids": tf.constant([[0, 1, 1, 1, 2, 2]]),
        "label_ids": tf.constant([labels]),
    }


def run(features, mode, start_scores, end_scores, **options):
    """A head whose first hidden unit is the score of a start and whose second that of an end."""
    head = reader.span_head(ClassifierConfig(span_prediction=mode, **options))
    x = np.stack([start_scores, end_scores], axis=-1)[np.newaxis].astype(np.float32)
    head.build(x.shape)
    if mode == "span":
        head.span_output_weights.assign([1.0, 0.0, 0.0, 1.0])
    else:
        head.start_output_weights.assign([1.0, 0.0])
        head.end_output_weights.assign([0.0, 1.0])
    outputs = head(tf.constant(x), cells=None, features=features)
    per_example, _ = head.loss(outputs, cells=None, features=features)
    return outputs, per_example[0]


STARTS, ENDS = np.array([9.0, 1, 0, 2, 3, 0]), np.array([9.0, 0, 4, 1, 0, 2])
# of those within cells
VALID = {(1, 1): 1, (2, 2): 4, (3, 3): 3, (4, 4): 3, (5, 5): 2}
VALID |= {(1, 2): 5, (2, 3): 1, (4, 5): 5, (1, 3): 2}


@pytest.mark.parametrize("mode", ["span", "boundary"])
def test_a_span_scores_what_its_ends_score(mode):
    outputs, _ = run(one_row([0, 1, 1, 0, 0, 0]), mode, STARTS, ENDS)
    got = {
        tuple(index): logit
        for index, logit in zip(
            outputs["span_indexes"].numpy().tolist(), outputs["span_logits"][0], strict=True
        )
    }
    assert len(got) == 6 + 5 + 4 + 3 + 2 + 1
    for index, logit in got.items():
        assert float(logit) == VALID.get(index, -10_000), index


def test_loss_of_a_span():
    log_probs = {index: s - np.log(np.exp([*VALID.values()]).sum()) for index, s in VALID.items()}
    _, loss = run(one_row([0, 1, 1, 0, 0, 0]), "span", STARTS, ENDS)
    assert float(loss) == pytest.approx(-log_probs[1, 2], rel=1e-5)
    # Two runs in one cell: each alone, and from the start of the first to the end of the other.
    _, loss = run(one_row([0, 1, 0, 1, 0, 0]), "span", STARTS, ENDS)
    want = -(log_probs[1, 1] + log_probs[3, 3] + log_probs[1, 3])
    assert float(loss) == pytest.approx(want, rel=1e-5)
    _, loss = run(one_row([0] * 6), "span", STARTS, ENDS)
    assert float(loss) == 0


def test_loss_of_boundaries():
    _, loss = run(one_row([0, 1, 1, 0, 1, 0]), "boundary", STARTS, ENDS)
    start = STARTS - np.log(np.exp(STARTS).sum())
    end = ENDS - np.log(np.exp(ENDS).sum())
    assert float(loss) == pytest.approx(-(start[1] + start[4] + end[2] + end[4]), rel=1e-5)
    _, loss = run(one_row([0] * 6), "boundary", STARTS, ENDS)
    assert float(loss) == 0


def test_longest_span():
    outputs, loss = run(one_row([0, 1, 1, 1, 0, 0]), "span", STARTS, ENDS, max_span_length=2)
    assert outputs["span_logits"].shape == (1, 6 + 5)
    assert float(loss) == 0  # three tokens are not a span


@pytest.mark.parametrize("mode", ["span", "boundary"])
def test_no_span_is_the_answer(mode):
    """[CLS] scores 18 as a span of its own, and the best span is still one of the cells'."""
    options = {"allow_empty_span": True}
    outputs, loss = run(one_row([1, 0, 0, 0, 0, 0]), mode, STARTS, ENDS, **options)
    scores = np.array([18.0, *VALID.values()])
    total = np.log(np.exp(scores).sum())
    assert float(outputs["empty_span_log_prob"][0]) == pytest.approx(18 - total, abs=1e-4)
    assert float(outputs["span_log_prob"][0]) == pytest.approx(5 - total, abs=1e-4)
    assert outputs["pred_span"][0].numpy().tolist() == [1, 2]
    want = total - 18
    if mode == "boundary":
        want = sum(np.log(np.exp(each - each[0]).sum()) for each in (STARTS, ENDS))
    assert float(loss) == pytest.approx(want, abs=1e-4)
    without, _ = run(one_row([1, 0, 0, 0, 0, 0]), mode, STARTS, ENDS)
    assert "empty_span_log_prob" not in without
    assert float(without["span_logits"][0, 0]) == -10_000
