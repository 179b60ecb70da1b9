"""Classifiers against all recorded cases of the reference, and where they differ on purpose.

Outside the table the reference averages over question AND padding, we over the question. What
depends on that is compared with the reference's numbers corrected for it.
"""

import functools
import json

import numpy as np
import pytest

LOG_ZERO = -1e4

ONE_COLUMN = [
    *("sqa", "sqa_headwise", "sqa_efficient", "sqa_avg_logits", "sqa_small_limits", "wtq"),
    *("wtq_headwise", "wtq_efficient_reset", "wtq_no_cutoff", "wtq_soft", "wtq_soft_cutoff100"),
    *("wtq_soft_normalized", "wtq_soft_first_order", "wtq_soft_second_order", "wtq_soft_pref1"),
]
EMPTY_COLUMN = ["sqa_allow_empty", "sqa_allow_empty_efficient", "wikisql_supervised"]
AVERAGED = ["cells_avg_logits", "cells_avg_logits_temp", "cells_small_limits"]
TOKENS = [
    *("cells_token_loss", "wtq_soft_multi_column", "wikisql", "tabfact", "tabfact_efficient"),
    *("tabfact_weighted", "three_class", "nq_masked_cells", "nq_span", "hybridqa_cell"),
    *("hybridqa_cell_hardem", "hybridqa_rc_span", "hybridqa_rc_boundary"),
    *("hybridqa_rc_span_multilabel", "hybridqa_rc_boundary_multilabel"),
]
CASES = ONE_COLUMN + EMPTY_COLUMN + AVERAGED + TOKENS

PER_EXAMPLE = [
    *("pooled_output", "logits_aggregation", "logits_cls", "span_indexes", "aggregate_mask"),
    *("expected_result", "large_answer_loss_mask"),
]
LOSSES = [
    "total_loss",
    "span_loss",
    "select_one_column_loss_per_example",
    "aggregation_loss_per_example",
    "answer_loss_per_example_scaled",
]


def options_of(name):
    # The reference accepts cell_cross_entropy and computes the token loss all the same.
    return {"cell_cross_entropy": False} if name.startswith("hybridqa") else {}


def assert_close(got, want, rtol=1e-6):
    np.testing.assert_allclose(got, want, rtol=rtol, atol=1e-4)


def same_column(golden, outputs):
    """<bool>[batch]: both choose the same column. They may differ only in examples with padding,
    where the reference's logit of column 0, a mean over question AND padding, wins over the table's
    columns."""
    if "column_logits" not in outputs:
        return np.ones(len(golden.mask), bool)
    want = golden.want["column_logits"].argmax(axis=1)
    same = outputs["column_logits"].argmax(axis=1) == want
    assert (golden.padded & (want == 0))[~same].all()
    assert same.sum() >= 2
    return same


def test_all_cases_are_compared(goldens):
    config = json.loads((goldens / "classifier" / "open" / "config.json").read_text())
    assert sorted(CASES) == sorted(config["cases"])


@pytest.mark.parametrize("name", CASES)
def test_outputs_equal_the_reference(case, name):
    golden, outputs = case(name, **options_of(name))
    assert_close(outputs["token_logits"][golden.mask], golden.want["token_logits"][golden.mask])
    compared = golden.in_column & same_column(golden, outputs)[:, np.newaxis]
    for key in ("logits", "probs"):
        assert_close(outputs[key][compared], golden.want[key][compared])
    np.testing.assert_array_equal(outputs["probs"][~golden.mask], 0)
    for key in set(PER_EXAMPLE) & golden.want.keys():
        assert_close(outputs[key], golden.want[key])
    if "predict_pred_aggr" in golden.want:
        np.testing.assert_array_equal(outputs["pred_aggr"], golden.want["predict_pred_aggr"])
    if "predict_pred_cls" in golden.want:
        np.testing.assert_array_equal(outputs["pred_cls"], golden.want["predict_pred_cls"])
        logits = outputs["logits_cls"]
        # Of two classes the reference predicts by how much the second is ahead.
        logits = logits[:, 1] - logits[:, 0] if logits.shape[1] == 2 else logits
        assert_close(logits, golden.want["predict_logits_cls"])
        assert_close(outputs["probs_cls"].sum(axis=1), 1)


@pytest.mark.parametrize("name", ONE_COLUMN + EMPTY_COLUMN)
def test_columns_equal_the_reference(case, name):
    golden, outputs = case(name)
    got, want = outputs["column_logits"], golden.want["column_logits"]
    assert_close(got[:, 1:], want[:, 1:])
    # Of an example without padding column 0 is the same as well. An absolute tolerance: relative to
    # -10000, whatever stands beside it would be within it.
    full = ~golden.padded
    assert full.any()
    np.testing.assert_allclose(got[full, 0], want[full, 0], atol=1e-3, rtol=0)
    # Everything outside the column is out of reach for both.
    assert (outputs["logits"][golden.mask & ~golden.in_column] < LOG_ZERO / 2).all()


@pytest.mark.parametrize("name", TOKENS)
def test_losses_equal_the_reference(case, name):
    golden, outputs = case(name, **options_of(name))
    assert_equal_losses(golden, outputs)


@pytest.mark.parametrize("name", ONE_COLUMN + EMPTY_COLUMN)
def test_losses_with_column_0(case, name):
    """Equal where there is no padding; elsewhere only through the logit of column 0. Put our logit
    into the reference's softmax and the losses are the same."""
    golden, outputs = case(name)
    key = "select_one_column_loss_per_example"
    want = golden.want["column_logits"].astype(np.float64)
    ours = np.concatenate([outputs["column_logits"][:, :1], want[:, 1:]], axis=1)

    def normaliser(logits):
        return np.log(np.exp(logits).sum(axis=1))

    change = normaliser(ours) - normaliser(want)
    unlabelled = ~golden.features["label_ids"].any(axis=1)
    change += np.where(unlabelled, want[:, 0] - ours[:, 0], 0.0)
    assert_allclose = functools.partial(np.testing.assert_allclose, atol=1e-3, rtol=0)
    assert_allclose(outputs[key], golden.want[key] + change)
    full = ~golden.padded
    assert_allclose(outputs[key][full], golden.want[key][full])
    # Losses of computed answers do not depend on columns; a column's counts for the others only.
    counts = 1.0 - golden.want["aggregate_mask"] if "aggregate_mask" in golden.want else 1.0
    total = golden.want["total_loss"] + (change * counts).mean()
    np.testing.assert_allclose(outputs["total_loss"], total, atol=1e-3, rtol=1e-6)
    assert_equal_losses(golden, outputs, but=(key, "total_loss"))


def assert_equal_losses(golden, outputs, but=()):
    for key in set(LOSSES) & golden.want.keys() - set(but):
        np.testing.assert_allclose(outputs[key], golden.want[key], rtol=1e-4, err_msg=key)


@pytest.mark.parametrize("name", AVERAGED)
def test_averaged_token_loss(case, name):
    """The reference's mean logit of the question includes padding; with ours the loss is equal."""
    golden, outputs = case(name)
    logits = golden.want["logits"].astype(np.float64)
    for logit, token_logit, example in zip(
        logits, golden.want["token_logits"], range(len(logits)), strict=True
    ):
        outside = golden.mask[example] & (golden.features["column_ids"][example] == 0)
        logit[outside] = token_logit[outside].mean()
    assert_close(outputs["logits"][golden.mask], logits[golden.mask])
    labels = golden.features["label_ids"]
    loss = np.where(labels == 1, np.log1p(np.exp(-logits)), np.log1p(np.exp(logits)))
    loss *= golden.options["positive_weight"] * golden.mask
    want = (loss.sum(axis=1) / golden.mask.sum(axis=1)).mean()
    np.testing.assert_allclose(outputs["total_loss"], want, rtol=1e-4)


@pytest.mark.parametrize("name", ["nq_span", "hybridqa_rc_span", "hybridqa_rc_span_multilabel"])
def test_span_logits_equal_the_reference(case, name):
    golden, outputs = case(name)
    assert_close(outputs["span_logits"], golden.want["span_logits"])


@pytest.mark.parametrize("name", ["hybridqa_rc_boundary", "hybridqa_rc_boundary_multilabel"])
def test_span_logits_of_boundaries(case, name):
    """The reference's are those of the ends alone; ours have the start's added."""
    golden, outputs = case(name)
    weights = golden.variable("loss/start_output_weights")
    starts = outputs["sequence_output"] @ weights + golden.variable("loss/start_output_bias")
    first = golden.want["span_indexes"][:, 0].astype(int)
    want = golden.want["span_logits"] + starts[:, first]
    within = golden.want["span_logits"] > LOG_ZERO
    assert_close(outputs["span_logits"][within], want[within])
    np.testing.assert_array_equal(outputs["span_logits"][~within], LOG_ZERO)


def test_cell_cross_entropy_of_the_paper(goldens, case):
    """What the reference's flag was meant for, from its own checkpoint."""
    for name, key in (("hybridqa_cell", "soft_em"), ("hybridqa_cell_hardem", "hard_em")):
        _, outputs = case(name)
        config = json.loads((goldens / "classifier" / "open" / "config.json").read_text())
        want = config["paper_mml_numpy"]["no_header"][key]
        want = np.array([0.0 if value is None else value for value in want])
        np.testing.assert_allclose(outputs["cell_cross_entropy_per_example"], want, rtol=1e-4)
        np.testing.assert_allclose(outputs["total_loss"], want.mean(), rtol=1e-4)
