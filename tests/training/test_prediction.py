"""Predictions example by example, and conversations in which the model hears its own answers."""

import os

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import tasks
from mate_tf.evaluation import predictions
from mate_tf.training import experiments, prediction


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory):
    return str(tmp_path_factory.mktemp("model"))


@pytest.fixture
def trained(toy_experiment, model_dir):
    """The experiment of `model_dir`, which predicts in batches of 16 and of 32 tokens."""
    experiment = toy_experiment(
        "task: {model: {encoder: {disabled_features: []}}, validation_data: {buckets: [16, 32]}}"
    )
    if not os.listdir(model_dir):
        # Untrained: only what goes in and out is tested.
        model = tasks.create(experiment.task).build_model()
        tf.train.CheckpointManager(tf.train.Checkpoint(model=model), model_dir, 1).save()
        experiments.save(experiment, model_dir)
    return experiment


@pytest.fixture(scope="module")
def predicted():
    return {}


@pytest.fixture
def plain(trained, model_dir, toy_records, predicted):
    """Predictions by question, each question asked alone."""
    if not predicted:
        predicted.update(by_question(prediction.predict(trained, model_dir, toy_records["dev"])))
    return predicted


def by_question(outputs):
    return {output["question_id"]: output for output in outputs}


def test_one_output_per_example_without_padding(plain):
    assert sorted(plain) == sorted(f"dev-{i}-0_{j}" for i in range(16) for j in range(2))
    lengths = set()
    for output in plain.values():
        tokens = len(output["probs"])
        lengths.add(tokens)
        assert {len(output[name]) for name in ("row_ids", "column_ids", "selected_tokens")} == {
            tokens
        }
        assert output["row_ids"][-1] > 0  # the last token is one of the table
        assert output["label_ids"].sum() == 1
        assert output["selected_tokens"].sum() >= 1
        assert output["table_id"] == "toy"
        np.testing.assert_allclose(output["probs"].sum(), 1.0, rtol=1e-4)  # one token a cell
    assert len(lengths) > 1


def test_packed(trained, model_dir, toy_records, plain):
    """With a model that was trained without; in fewer sequences than there are examples."""
    experiment = trained.replace()
    experiment.task.model.encoder.pack = True
    experiment.task.validation_data.global_batch_size = 32
    outputs = by_question(prediction.predict(experiment, model_dir, toy_records["dev"]))
    assert sum(len(output["probs"]) for output in outputs.values()) < 0.8 * 32 * 32
    assert outputs.keys() == plain.keys()
    for question, output in plain.items():
        packed = outputs[question]
        np.testing.assert_array_equal(packed["selected_tokens"], output["selected_tokens"])
        np.testing.assert_allclose(packed["probs"], output["probs"], atol=1e-5)


def test_spans(toy_experiment, tmp_path, toy_records):
    """The best span of each example, in its own tokens, and how probable it is."""
    experiment = toy_experiment(
        "task: {model: {span_prediction: mlp, span_hidden_size: 4,"
        " encoder: {attention: {name: full}}}}"
    )
    model = tasks.create(experiment.task).build_model()
    tf.train.CheckpointManager(tf.train.Checkpoint(model=model), str(tmp_path), 1).save()
    outputs = list(prediction.predict(experiment, str(tmp_path), toy_records["dev"]))
    assert len(outputs) == 32
    for output in outputs:
        first, last = output["pred_span"]
        assert 0 <= first <= last < len(output["row_ids"])
        assert output["row_ids"][first] == output["row_ids"][last] > 0
        assert output["column_ids"][first] == output["column_ids"][last] > 0
        assert np.log(1 / 1000) < output["span_log_prob"] < 0
        (span,) = predictions.prediction(output).spans
        assert span["row_index"] == output["row_ids"][first] - 1
        assert span["token_ids"] == output["input_ids"][first : last + 1].tolist()
        assert span["score"] == pytest.approx(float(output["span_log_prob"]))


def cells(output, chosen):
    return set(zip(output["row_ids"][chosen], output["column_ids"][chosen], strict=True))


def test_sequential_feeds_back_the_models_own_answers(
    trained, model_dir, toy_records, plain, monkeypatch
):
    given = {}
    run = prediction._Predictor._run

    def spy(self, batches):
        batches = list(batches)
        labels = [row for batch in batches for row in batch["prev_label_ids"]]
        for output, previous in zip(run(self, iter(batches)), labels, strict=True):
            given[output["question_id"]] = previous[: len(output["probs"])]
            yield output

    monkeypatch.setattr(prediction._Predictor, "_run", spy)
    outputs = by_question(
        prediction.predict(trained, model_dir, toy_records["dev"], sequential=True)
    )
    assert sorted(outputs) == sorted(plain)
    heard = 0
    for index in range(16):
        first, second = f"dev-{index}-0_0", f"dev-{index}-0_1"
        assert not given[first].any()
        np.testing.assert_allclose(outputs[first]["probs"], plain[first]["probs"], atol=1e-5)
        answer = cells(outputs[first], outputs[first]["selected_tokens"] > 0)
        everything = cells(outputs[second], slice(None))
        # the toy's tables differ in length, so a cell may not be there any more
        assert cells(outputs[second], given[second] > 0) == answer & everything
        heard += given[second].any()
    assert heard > 8


def test_sequential_beside_marks_of_shared_words(trained, toy_records, monkeypatch):
    """A model with `mark_previous` hears its own answers as 2."""
    heard = []

    def run(batches):
        for batch in batches:
            heard.append(batch["prev_label_ids"])
            shape = batch["row_ids"].shape
            yield batch, {"probs": np.ones(shape), "selected_tokens": np.ones(shape)}

    for marked in (False, True):
        conversion = trained.task.conversion
        monkeypatch.setattr(
            trained.task,
            "conversion",
            conversion.replace(mark_matches=marked, mark_previous=marked),
        )
        heard.clear()
        list(prediction.predict_with(run, trained, toy_records["dev"], sequential=True))
        assert max(labels.max() for labels in heard) == 1 + marked
