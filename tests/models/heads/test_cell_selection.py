"""Heads on a made-up encoder output that makes the token logits known."""

import json
import types

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.errors import InputError
from mate_tf.layers.cells import Cells
from mate_tf.models.classifier import ClassifierConfig
from mate_tf.models.heads import cell_selection

ROWS, COLUMNS = 64, 32


@pytest.fixture(scope="module")
def golden(goldens):
    """The reference's token logits for the HybridQA cell selection, and what is to come out."""
    folder = goldens / "classifier" / "open"
    features = {k: v for k, v in np.load(folder / "features.npz").items() if v.dtype == np.int32}
    paper = json.loads((folder / "config.json").read_text())["paper_mml_numpy"]

    def want(header, key):
        """By the paper's formula, computed by numpy; 0 for None."""
        return np.array([0.0 if value is None else value for value in paper[header][key]])

    cells = Cells(features["row_ids"], features["column_ids"], features["input_mask"])
    return types.SimpleNamespace(
        features=features,
        logits=np.load(folder / "hybridqa_cell.npz")["token_logits"],
        cells=cells,
        gold=cells.labelled(features["label_ids"]),
        want=want,
    )


def run(features, token_logits, column_scores=None, **options):
    """A head whose first hidden unit is the token logit and whose second the column score."""
    config = ClassifierConfig(max_num_rows=ROWS, max_num_columns=COLUMNS, **options)
    head = cell_selection.cell_selection_head(config)
    x = np.stack([token_logits, np.zeros_like(token_logits)], axis=-1)
    if column_scores is not None:
        x[..., 1] = column_scores
    head.build(x.shape)
    head.output_weights.assign([1.0, 0.0])
    if column_scores is not None:
        head.column_output_weights.assign([0.0, 1.0])
    cells = Cells(
        features["row_ids"], features["column_ids"], features["input_mask"], ROWS, COLUMNS
    )
    outputs = head(tf.constant(x), cells=cells, features=features)
    per_example, parts = head.loss(outputs, cells=cells, features=features)
    return outputs, float(np.mean(per_example)), {k: v.numpy() for k, v in parts.items()}


def one_table(labels=(0, 0, 0, 0, 1, 0)):
    """A question token, a header of two columns, a row of two cells, one of them of two tokens."""
    return {
        "row_ids": np.array([[0, 0, 0, 1, 1, 1, 0]], np.int32),
        "column_ids": np.array([[0, 1, 2, 1, 2, 2, 0]], np.int32),
        "input_mask": np.array([[1, 1, 1, 1, 1, 1, 0]], np.int32),
        "label_ids": np.array([[*labels, 0]], np.int32),
    }


LOGITS = np.array([[9.0, 9.0, 9.0, 1.0, 2.0, 4.0, 50.0]], np.float32)


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({}, "soft_em"),
        ({"cell_cross_entropy_target": "hard_em"}, "hard_em"),
        ({"cell_cross_entropy_hard_em": True}, "hard_em"),
    ],
)
def test_mml_equals_the_papers_formula(golden, options, key):
    """Section 4.1."""
    want = golden.want("no_header", key)
    _, total, parts = run(golden.features, golden.logits, cell_cross_entropy=True, **options)
    np.testing.assert_allclose(parts["cell_cross_entropy_per_example"], want, rtol=1e-5)
    assert total == pytest.approx(want.mean(), rel=1e-5)


@pytest.mark.parametrize("target", ["soft_em", "hard_em"])
def test_mml_over_the_header_too(golden, target):
    """The same formula with the header's cells in the distribution."""
    scores = golden.cells.mean(golden.logits)
    candidates = golden.cells.present * (np.arange(COLUMNS) > 0)
    got = cell_selection.cell_cross_entropy(scores, candidates, golden.gold, target)
    np.testing.assert_allclose(got, golden.want("with_header", target), rtol=1e-5)


def test_marginal_likelihood_over_the_header_too(golden):
    """log P(c) of a gold cell less the same among the gold cells alone leaves log P(gold)."""
    want = golden.want("with_header", "neg_log_marginal")
    scores, gold = golden.cells.mean(golden.logits), golden.gold
    among_all, among_gold = (
        cell_selection.cell_cross_entropy(scores, candidates, gold, cell_selection.HARD_EM).numpy()
        for candidates in (golden.cells.present * (np.arange(COLUMNS) > 0), gold)
    )
    np.testing.assert_allclose(among_all - among_gold, want, rtol=1e-5)


def test_marginal_likelihood_of_gold_cells(golden):
    outputs, _, _ = run(golden.features, golden.logits, cell_cross_entropy=True)
    marginal = tf.reduce_sum(golden.cells.mean(outputs["probs"]) * golden.gold, axis=[1, 2]).numpy()
    want = golden.want("no_header", "neg_log_marginal")
    np.testing.assert_array_equal(want == 0, marginal == 0)
    known = marginal > 0
    np.testing.assert_allclose(-np.log(marginal[known]), want[known], rtol=1e-5)


def test_soft_em_has_the_gradient_of_the_marginal_likelihood(golden):
    """Why MML works: q is a constant, yet the gradient is that of -log sum_gold P."""
    features, cells, gold = golden.features, golden.cells, golden.gold
    head = cell_selection.cell_selection_head(ClassifierConfig(cell_cross_entropy=True))
    x = tf.constant(golden.logits[..., np.newaxis])
    head.build(x.shape)
    head.output_weights.assign([1.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        outputs = head(x, cells=cells, features=features)
        per_example, _ = head.loss(outputs, cells=cells, features=features)
        total = tf.reduce_mean(per_example)
        scores = cells.mean(x[..., 0]) - 1e9 * (1 - cells.in_table)
        marginal = tf.reduce_logsumexp(scores - 1e9 * (1 - gold), [1, 2])
        marginal -= tf.reduce_logsumexp(scores, [1, 2])
        marginal = -tf.reduce_mean(tf.where(tf.reduce_sum(gold, [1, 2]) > 0, marginal, 0.0))
    np.testing.assert_allclose(tape.gradient(total, x), tape.gradient(marginal, x), atol=1e-6)


def test_uniform_target():
    """Cells score 1 and (2 + 4) / 2 = 3; header and question do not take part."""
    log_p = np.log(np.exp([1.0, 3.0]) / np.exp([1.0, 3.0]).sum())
    options = {"cell_cross_entropy": True, "cell_cross_entropy_target": "uniform"}
    outputs, total, _ = run(one_table(), LOGITS, **options)
    assert total == pytest.approx(-log_p[1], rel=1e-5)
    np.testing.assert_allclose(
        outputs["probs"][0], [0, 0, 0, *np.exp(log_p), np.exp(log_p[1]), 0], rtol=1e-5
    )
    _, total, _ = run(one_table(labels=(0, 0, 0, 1, 1, 1)), LOGITS, **options)
    assert total == pytest.approx(-log_p.mean(), rel=1e-5)
    _, total, _ = run(one_table(labels=(0, 0, 1, 0, 0, 0)), LOGITS, **options)
    assert total == 0  # a labelled header is not a data cell


def test_softmax_with_no_cell():
    """Scores 1 and 3 of the cells; that of "no cell" is the logit of the first token."""
    options = {
        "cell_cross_entropy": True,
        "cell_cross_entropy_target": "uniform",
        "allow_empty_column_selection": True,
    }
    for score, chosen in ((2.0, True), (4.0, False)):
        logits = LOGITS.copy()
        logits[0, 0] = score
        log_p = np.log(np.exp([1.0, 3.0, score]) / np.exp([1.0, 3.0, score]).sum())
        outputs, total, _ = run(one_table(), logits, **options)
        assert total == pytest.approx(-log_p[1], rel=1e-5)
        np.testing.assert_allclose(
            outputs["probs"][0], [0, 0, 0, *np.exp(log_p[[0, 1, 1]]), 0], rtol=1e-5
        )
        want = [0, 0, 0, 0, 1, 1, 0]
        np.testing.assert_array_equal(outputs["selected_tokens"][0], np.multiply(want, chosen))
        outputs, _, _ = run(one_table(), logits, **options, always_select_cell=True)
        np.testing.assert_array_equal(outputs["selected_tokens"][0], want)
        _, total, _ = run(one_table(labels=(0,) * 6), logits, **options)
        assert total == pytest.approx(-log_p[2], rel=1e-5)


def test_softmax_chooses_by_ratio():
    """exp(1 - 3) = .135 of the largest probability."""
    table = one_table()
    for ratio, want in ((0.14, [0, 0, 0, 0, 1, 1, 0]), (0.13, [0, 0, 0, 1, 1, 1, 0])):
        outputs, _, _ = run(table, LOGITS, cell_cross_entropy=True, cell_selection_ratio=ratio)
        np.testing.assert_array_equal(outputs["selected_tokens"][0], want)


def test_token_loss_weights():
    """The reference weighs every token; the option only the labelled ones."""
    logits, labels, mask = LOGITS[0], one_table()["label_ids"][0], one_table()["input_mask"][0]
    loss = np.where(labels == 1, np.log1p(np.exp(-logits)), np.log1p(np.exp(logits)))
    _, total, _ = run(one_table(), LOGITS)
    assert total == pytest.approx(10 * (loss * mask).sum() / 6, rel=1e-5)
    _, total, _ = run(one_table(), LOGITS, positive_weight_for_labelled_only=True)
    weight = np.where(labels == 1, 10, 1)
    assert total == pytest.approx((weight * loss * mask).sum() / 6, rel=1e-5)


def test_token_head_chooses_cells_by_their_mean_probability():
    logits = np.array([[9.0, 9.0, 9.0, -0.1, -1.0, 2.0, 50.0]], np.float32)
    outputs, _, _ = run(one_table(), logits)
    np.testing.assert_array_equal(outputs["selected_tokens"][0], [0, 0, 0, 0, 1, 1, 0])
    outputs, _, _ = run(one_table(), logits, cell_classification_threshold=0.6)
    np.testing.assert_array_equal(outputs["selected_tokens"][0], 0)
    assert outputs["probs"][0, 6] == 0  # padding


def test_the_best_cell_where_none_is_likely():
    """Where one is above the threshold, and where no column is chosen, it changes nothing."""
    unlikely = np.array([[9.0, 9.0, 9.0, -2.0, -1.0, -1.2, 50.0]], np.float32)
    outputs, _, _ = run(one_table(), unlikely)
    np.testing.assert_array_equal(outputs["selected_tokens"][0], 0)
    outputs, _, _ = run(one_table(), unlikely, always_select_cell=True)
    np.testing.assert_array_equal(outputs["selected_tokens"][0], [0, 0, 0, 0, 1, 1, 0])
    likely = np.array([[9.0, 9.0, 9.0, 2.0, 1.0, 1.0, 50.0]], np.float32)
    for always in (False, True):
        outputs, _, _ = run(one_table(), likely, always_select_cell=always)
        np.testing.assert_array_equal(outputs["selected_tokens"][0], [0, 0, 0, 1, 1, 1, 0])
    columns = np.array([[0.0, 5.0, 1.0, 5.0, 1.0, 1.0, 50.0]], np.float32)
    options = {"select_one_column": True, "always_select_cell": True}
    outputs, _, _ = run(one_table(), unlikely, columns, **options)
    np.testing.assert_array_equal(outputs["selected_tokens"][0], [0, 0, 0, 1, 0, 0, 0])
    nothing = np.array([[9.0, 1.0, 1.0, 1.0, 1.0, 1.0, -50.0]], np.float32)
    options["allow_empty_column_selection"] = True
    outputs, _, _ = run(one_table(labels=[0] * 6), unlikely, nothing, **options)
    np.testing.assert_array_equal(outputs["selected_tokens"], 0)


def test_one_column_only():
    """Both cells are likely, the second column less so: nothing outside the first is chosen."""
    columns = np.array([[-2.5, 5.0, 1.0, 5.0, 1.0, 1.0, 50.0]], np.float32)
    outputs, total, _ = run(one_table(), LOGITS, columns, select_one_column=True)
    np.testing.assert_array_equal(outputs["selected_tokens"][0], [0, 0, 0, 1, 0, 0, 0])
    # Added to the logit of column 0, and what the column loss of no labels is made of.
    np.testing.assert_allclose(outputs["column_logits"][0, :3], [-10002.5, 5, 1], atol=1e-3)
    _, unlabelled, _ = run(one_table(labels=[0] * 6), LOGITS, columns, select_one_column=True)
    assert unlabelled == pytest.approx(10002.5 + np.logaddexp(5.0, 1.0), abs=1e-3)
    column_loss = np.log(np.exp(5.0) + np.exp(1.0)) - 1.0
    # the header cell of column 2 scores 9, the data cell 3
    cell_loss = (np.log1p(np.exp(9.0)) + np.log1p(np.exp(-3.0))) / 2
    assert total == pytest.approx(column_loss + cell_loss, rel=1e-5)


def test_no_cell_is_an_answer_if_allowed():
    columns = np.array([[9.0, 1.0, 1.0, 1.0, 1.0, 1.0, -50.0]], np.float32)
    options = {"select_one_column": True, "allow_empty_column_selection": True}
    outputs, total, _ = run(one_table(labels=[0] * 6), LOGITS, columns, **options)
    np.testing.assert_array_equal(outputs["selected_tokens"], 0)
    assert float(outputs["column_logits"][0, 0]) == pytest.approx(9.0)  # padding left out
    assert total == pytest.approx(np.log(1 + 2 * np.exp(1.0 - 9.0)), rel=1e-3)


def test_a_table_without_cells():
    """The padding example of a fixed batch size: finite, nothing chosen."""
    empty = {name: np.zeros([1, 7], np.int32) for name in one_table()}
    for options in ({}, {"cell_cross_entropy": True}, {"select_one_column": True}):
        columns = LOGITS if "select_one_column" in options else None
        outputs, total, _ = run(empty, LOGITS, columns, **options)
        assert np.isfinite(total)
        np.testing.assert_array_equal(outputs["selected_tokens"], 0)


@pytest.mark.parametrize(
    "options",
    [
        {"cell_cross_entropy": True, "select_one_column": True},
        {"cell_cross_entropy_target": "softest"},
    ],
)
def test_contradicting_options(options):
    with pytest.raises(InputError, match="cell_cross_entropy"):
        cell_selection.cell_selection_head(ClassifierConfig(**options))


def test_names_and_initial_values():
    config = ClassifierConfig(select_one_column=True, init_cell_selection_weights_to_zero=True)
    head = cell_selection.cell_selection_head(config)
    head.build([None, None, 6])
    variables = head.checkpoint_variables()
    shapes = {name: tuple(variable.shape) for name, variable in variables.items()}
    assert shapes == {
        "output_weights": (6,),
        "output_bias": (),
        "column_output_weights": (6,),
        "column_output_bias": (),
    }
    for variable in variables.values():
        np.testing.assert_array_equal(variable, 0)
    head = cell_selection.cell_selection_head(ClassifierConfig())
    head.build([None, None, 4000])
    assert np.std(head.output_weights) == pytest.approx(0.0176, rel=0.1)  # cut at two deviations
