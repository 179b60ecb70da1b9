"""Cells from probabilities; files as the reference writes and reads them."""

import csv
import json

import numpy as np
import pytest

from mate_tf.errors import InputError
from mate_tf.evaluation import predictions
from mate_tf.evaluation.predictions import Prediction

QUESTION_IDS = ("noid", "q1-0_1", "q2-0_0", "q3-0_1")


@pytest.fixture(params=["cells", "span"])
def kind(request):
    """Which of the reference's files: spans are runs of tokens, or of a span head."""
    return request.param


@pytest.fixture
def reference(goldens, kind):
    """Model outputs and the reference's rows for them."""
    path = goldens / "metrics" / "open" / f"write_predictions_{kind}.tsv"
    features = np.load(goldens / "classifier/open/features.npz")
    inputs = np.load(goldens / "metrics/open/write_predictions_inputs.npz")
    length = features["input_ids"].shape[1]
    spans = [(i, i + size) for size in range(10) for i in range(length - size)]
    outputs = []
    for index, (question_id, row) in enumerate(zip(QUESTION_IDS, _rows(path), strict=True)):
        output = {
            "question_id": question_id,
            "probs": inputs[f"{kind}_probabilities_{index}"],
            **{k: features[k][index] for k in ("input_ids", "row_ids", "column_ids")},
            "aggregation_function_id": np.array([index % 4]),
            "pred_aggr": np.int32((index + 1) % 4),
            "classification_class_index": np.array([index % 2]),
            "pred_cls": np.int32(1),
            "logits_cls": np.array([0, float(row["logits_cls"])], np.float32),
        }
        if kind == "span":
            output |= {"span_logits": inputs[f"span_logits_{index}"], "span_indexes": spans}
        outputs.append(output)
    return outputs, path


def _rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.mark.parametrize("kind", ["cells"], indirect=True)
def test_mean_cell_probabilities_are_the_references(reference, goldens):
    expected = json.loads((goldens / "metrics/open/write_predictions.json").read_text())
    for output, cells in zip(reference[0], expected["mean_cell_probs"], strict=True):
        found, means = predictions.cell_probabilities(
            output["probs"], output["row_ids"], output["column_ids"]
        )
        by_cell = {(column, row): p for (row, column), p in zip(found.tolist(), means, strict=True)}
        assert set(by_cell) == {tuple(cell) for cell, _ in cells}
        for cell, probability in cells:
            assert by_cell[tuple(cell)] == pytest.approx(probability, abs=1e-6)


def test_tsv_is_the_references(reference, tmp_path, kind):
    outputs, path = reference
    written = tmp_path / "predictions.tsv"
    found = [predictions.prediction(output) for output in outputs]
    predictions.write_tsv(found, written, token_probabilities=kind == "cells")
    assert written.read_bytes().splitlines(True)[0] == path.read_bytes().splitlines(True)[0]
    for row, reference_row in zip(_rows(written), _rows(path), strict=True):
        for name in (*predictions._COLUMNS[:5], *predictions.LABEL_COLUMNS):
            assert row[name] == reference_row[name]
        spans, reference_spans = json.loads(row["answers"]), json.loads(reference_row["answers"])
        assert [_without_score(s) for s in spans] == [_without_score(s) for s in reference_spans]
        assert [s["score"] for s in spans] == pytest.approx(
            [s["score"] for s in reference_spans], abs=1e-6
        )
        tokens = json.loads(reference_row.get("token_probabilities", "[]"))
        found = json.loads(row.get("token_probabilities", "[]"))
        np.testing.assert_allclose(found, tokens, atol=1e-7)


def _without_score(span):
    return {key: value for key, value in span.items() if key != "score"}


def test_reads_the_references_files(reference, goldens):
    outputs, path = reference
    for read, output in zip(predictions.read_tsv(path), outputs, strict=True):
        made = predictions.prediction(output)
        assert read.coordinates == made.coordinates
        if read.token_probabilities:
            assert read.ranked == made.ranked
            assert read.probabilities == pytest.approx(made.probabilities, abs=1e-6)
        assert read.labels == made.labels
        assert (read.aggregation, read.class_index) == (made.aggregation, made.class_index)
        assert read.class_probabilities == made.class_probabilities
    denotation = predictions.read_tsv(goldens / "metrics/open/denotation.predictions.tsv")
    assert len(denotation) == 54
    assert denotation[1].coordinates == ((0, 0), (1, 0))


def test_tsv_and_json_come_back(reference, tmp_path):
    made = [predictions.prediction(output) for output in reference[0]]
    predictions.write_tsv(made, tmp_path / "a.tsv", token_probabilities=True)
    back = predictions.read_tsv(tmp_path / "a.tsv")
    assert [p.coordinates for p in back] == [p.coordinates for p in made]
    assert [p.spans for p in back] == [p.spans for p in made]
    assert [p.labels for p in back] == [p.labels for p in made]
    predictions.write_json(made, tmp_path / "a.json")
    not_there = {"spans": (), "token_probabilities": ()}
    for read, one in zip(predictions.read_json(tmp_path / "a.json"), made, strict=True):
        assert vars(read) == vars(one) | not_there
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.json", "a.tsv"]


def test_cell_probabilities_against_a_loop():
    generator = np.random.default_rng(0)
    for _ in range(20):
        rows, columns = generator.integers(0, 5, 60), generator.integers(0, 4, 60)
        probs = generator.random(60).astype(np.float32)
        found, means = predictions.cell_probabilities(probs, rows, columns)
        expected = {}
        for p, row, column in zip(probs, rows, columns, strict=True):
            if row and column:
                expected.setdefault((row - 1, column - 1), []).append(p)
        assert [tuple(cell) for cell in found.tolist()] == sorted(expected)
        np.testing.assert_allclose(means, [np.mean(expected[c]) for c in sorted(expected)], 1e-5)


def test_selected_tokens_decide_when_there_are_any():
    output = {
        "question_id": "a-0_0",
        "probs": np.array([0.9, 0.9, 0.3, 0.3, 0.9], np.float32),
        "row_ids": np.array([0, 0, 1, 1, 2]),
        "column_ids": np.array([0, 1, 1, 1, 1]),
    }
    assert predictions.prediction(output).coordinates == ((1, 0),)
    chosen = predictions.prediction({**output, "selected_tokens": np.array([0, 0, 1, 1, 0])})
    assert chosen.coordinates == ((0, 0),)
    assert chosen.probabilities == pytest.approx([0.3])
    assert chosen.ranked == ((1, 0), (0, 0))


OUTPUT = {
    "question_id": "a-0_0",
    "probs": np.array([0.9, 0.9], np.float32),
    "row_ids": np.array([0, 1]),
    "column_ids": np.array([0, 1]),
}


@pytest.mark.parametrize(
    ("logits", "text", "probabilities"),
    [
        ([1.0, 2.0], "1.0", [0.268941, 0.731059]),
        (1.0, "1.0", [0.268941, 0.731059]),
        ([0.0, 0.5, -0.5], "[0.0 0.5 -0.5]", [0.307196, 0.506480, 0.186324]),
        ([1e4, -1e4], "-20000.0", [1.0, 0.0]),
    ],
)
def test_classes(tmp_path, logits, text, probabilities):
    """Two classes as one difference of logits, more as a list."""
    output = OUTPUT | {"pred_cls": np.int32(1), "logits_cls": np.array(logits, np.float32)}
    made = predictions.prediction(output)
    assert made.labels == {"pred_cls": "1", "logits_cls": text}
    predictions.write_tsv([made], tmp_path / "a.tsv")
    for found in (made, *predictions.read_tsv(tmp_path / "a.tsv")):
        assert found.class_index == 1
        assert found.class_probabilities == pytest.approx(probabilities, abs=1e-6)
        assert found.aggregation == "NONE"


def test_aggregation_without_a_class():
    """A gold class that nothing predicts is not written."""
    output = OUTPUT | {
        "pred_aggr": 3,
        "aggregation_function_id": [1],
        "classification_class_index": [0],
    }
    made = predictions.prediction(output)
    assert made.labels == {"gold_aggr": "1", "pred_aggr": "3"}
    assert (made.aggregation, made.class_index, made.class_probabilities) == ("COUNT", None, ())


def test_answers_that_are_not_from_a_model(tmp_path):
    made = [
        Prediction("a-0_0", ((0, 1),), aggregation="SUM"),
        Prediction("a-0_1", (), class_index=1),
    ]
    predictions.write_tsv(made, tmp_path / "a.tsv")
    for read, one in zip(predictions.read_tsv(tmp_path / "a.tsv"), made, strict=True):
        assert (read.coordinates, read.aggregation) == (one.coordinates, one.aggregation)
        assert read.class_index == one.class_index


def test_best_span_outside_of_the_table_is_none():
    output = OUTPUT | {
        "input_ids": np.array([5, 6]),
        "span_logits": np.array([1.0, 0.0]),
        "span_indexes": np.array([[0, 0], [1, 1]]),
    }
    assert predictions.prediction(output).spans == ()
    (span,) = predictions.prediction(output | {"span_logits": np.array([0.0, 1.0])}).spans
    assert (span["token_ids"], span["score"]) == ([6], 1.0)


def test_question_without_a_table():
    output = {"question_id": "x", "probs": [0.9], "row_ids": [0], "column_ids": [0]}
    assert predictions.prediction(output).coordinates == ()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.tsv", "question_id\tx\nq\t1\n", r"a.tsv line 2: not a line of predictions"),
        (
            "a.tsv",
            "question_id\tanswer_coordinates\tanswers\tpred_aggr\nq\t[]\t[]\t4\n",
            r"a.tsv line 2: not a line of predictions",
        ),
        ("a.tsv", None, "a.tsv: No such file"),
        ("a.json", '[{"question_id": "a"}]', "a.json: not a JSON file of predictions"),
        ("a.json", "[", "a.json: not a JSON file of predictions"),
        ("a.json", None, "a.json: cannot be read: No such file"),
    ],
)
def test_unreadable_files(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_text(content)
    read = predictions.read_tsv if name.endswith("tsv") else predictions.read_json
    with pytest.raises(InputError, match=message):
        read(tmp_path / name)
