"""The reader's task: from official files to labels, a metric and answers as they are written."""

import json

import pytest
import tensorflow as tf

from mate_tf import tasks
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.evaluation import predictions
from mate_tf.tasks import head_metrics

WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] [EMPTY] where is bern on the aare ? . : 5 city river"
PASSAGE = "Bern is on the Aare . The river Aare ."


@pytest.fixture
def data(tmp_path):
    """One table; the answer is twice in the passage behind one of its cells."""
    files = {
        "released_data/dev.json": [
            {"question_id": name, "question": "Where is Bern ?", "table_id": "T", **answer}
            for name, answer in (
                ("q1", {"answer-text": "the  Aare"}),
                ("q2", {"answer-text": "nowhere"}),
            )
        ],
        "tables_tok/T.json": {
            "url": "u", "title": "t", "uid": "T",
            "header": [["City", []], ["Rank", []]],
            "data": [[["Bern", ["/wiki/Bern"]], ["5", []]]],
        },
        "request_tok/T.json": {"/wiki/Bern": PASSAGE},
    }  # fmt: skip
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content))
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS.split()))
    return tmp_path


@pytest.fixture
def task(data):
    config = tasks.experiment("HYBRIDQA_RC").task
    config.conversion.bert_vocab_file = str(data / "vocab.txt")
    return tasks.create(config)


def labelled(features):
    tokens = features["input_ids"].int64_list.value
    labels = features["label_ids"].int64_list.value
    return [(place, WORDS.split()[tokens[place]]) for place, on in enumerate(labels) if on]


def test_from_files_to_labels_and_answers(task, data):
    (interaction,) = task.interactions(data, "dev")  # q2's answer is nowhere
    ((cell,),) = (row.cells for row in interaction.table.rows)
    assert (interaction.id, cell.text) == ("q1/0-0", f"Bern : {PASSAGE}")
    converter = ExampleConverter(
        task.task_config.conversion.bert_vocab_file,
        **{**task.task_config.conversion.converter_options(), "max_seq_length": 24},
    )
    features = converter.convert(interaction, 0).features.feature
    # [CLS] where is bern ? [SEP] [EMPTY] bern : bern is on the aare . the river aare .
    assert labelled(features) == [(12, "the"), (13, "aare")]
    output = {
        name: features[name].int64_list.value[:19]
        for name in ("input_ids", "row_ids", "column_ids")
    }
    output |= {"question_id": "q1/0-0_0", "probs": [0.0] * 19, "span_log_prob": -0.5}
    found = predictions.prediction(output | {"pred_span": [12, 13]})
    (span,) = found.spans
    assert (span["begin_token_index"], span["end_token_index"], span["score"]) == (5, 7, -0.5)
    scores = {"right": found, "none": None}
    scores["near"] = predictions.prediction(output | {"pred_span": [11, 13]})
    scores["question"] = predictions.prediction(output | {"pred_span": [3, 3]})
    measured = {}
    for name, each in scores.items():
        given = {} if each is None else {"q1/0-0_0": each}
        ((_, measured[name]),) = task.measure([interaction], given).items()
    assert measured["right"] == {"cells": 1, "exact match": 1.0, "F1": 1.0}
    assert measured["near"] == {"cells": 1, "exact match": 0.0, "F1": pytest.approx(2 / 3)}
    assert measured["question"] == measured["none"] == {"cells": 1, "exact match": 0.0, "F1": 0.0}


def test_metric_counts_exact_spans(task):
    """Right, too long, no gold span, and an example that only fills the batch."""
    assert task.label_names() == ["label_ids", "label_ids"]
    (metric,) = task.build_metrics()
    assert metric.name == head_metrics.SPAN_ACCURACY
    labels = {
        "label_ids": tf.constant([[0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]),
        "column_ids": tf.constant([[0, 1, 1, 1]] * 3 + [[0] * 4]),
    }
    outputs = {"pred_span": tf.constant([[1, 2], [1, 3], [1, 1], [0, 0]])}
    task.process_metrics([metric], labels, outputs)
    assert float(metric.result()) == pytest.approx(1 / 3)
