"""Tasks over sequences: settings of the papers' tables, learning rates, what counts as asked."""

import math
import pathlib

import numpy as np
import pytest
import tensorflow as tf
from official.modeling import optimization

from mate_tf import attention, tasks
from mate_tf.errors import InputError
from mate_tf.tasks import configs
from mate_tf.training import experiments

from .conftest import small_task

CONFIGS = pathlib.Path(__file__).parents[2] / "configs"

LRA = ("LISTOPS", "LRA_TEXT", "LRA_RETRIEVAL", "LRA_IMAGE")
GLUE = ("RTE", "MRPC", "COLA", "SST-2", "STS-B", "MNLI", "QQP", "QNLI", "WNLI")

TABLE_8 = {
    # length, layers, heads, width, inner width, batch, rate, steps, weight decay
    "LISTOPS": (2048, 4, 4, 512, 1024, 32, 0.05, 5000, 0.1),
    "LRA_TEXT": (4096, 4, 4, 256, 1024, 32, 0.05, 20000, 0.1),
    "LRA_RETRIEVAL": (8192, 4, 4, 128, 512, 32, 0.05, 5000, 0.1),
    "LRA_IMAGE": (1024 + 1, 1, 1, 32, 64, 56, 0.0005, 35000, 0.0),
}
TABLE_7 = {"SST-2": (128, 3, 3e-5), "COLA": (16, 10, 1e-5), "MRPC": (16, 10, 1e-5)}
TABLE_7 |= dict.fromkeys(("MNLI", "QQP", "QNLI"), TABLE_7["SST-2"])
TABLE_7["RTE"] = (16, 10, 2e-5)
TABLE_7 |= dict.fromkeys(("STS-B", "WNLI"), TABLE_7["RTE"])  # not in the paper
EXAMPLES = {
    "SST-2": 67_349,
    "MNLI": 392_702,
    "QQP": 363_846,
    "QNLI": 104_743,
    "COLA": 8_551,
    "MRPC": 3_668,
    "RTE": 2_490,
    "STS-B": 5_749,
    "WNLI": 635,
}
"""Task -> examples of its official training set, for QQP without the broken ones."""


@pytest.mark.parametrize("name", TABLE_8)
def test_table_8(name):
    experiment = tasks.experiment(name)
    task, encoder = experiment.task, experiment.task.model.encoder
    optimizer = experiment.trainer.optimizer_config
    rate = optimizer.learning_rate.get()
    assert (
        task.conversion.max_seq_length,
        encoder.num_hidden_layers,
        encoder.num_attention_heads,
        encoder.hidden_size,
        encoder.intermediate_size,
        task.train_data.global_batch_size,
        rate.initial_learning_rate,
        experiment.trainer.train_steps,
        optimizer.optimizer.bert_adamw.weight_decay_rate,
    ) == TABLE_8[name]
    dropout = (0.3, 0.2) if name == "LRA_IMAGE" else (0.1, 0.1)
    assert (encoder.hidden_dropout_prob, encoder.attention_probs_dropout_prob) == dropout


@pytest.mark.parametrize("name", TABLE_7)
def test_table_7(name):
    """The task's defaults, and its configuration file."""
    batch, epochs, rate = TABLE_7[name]
    path = CONFIGS / f"{name.lower().replace('-', '')}.yaml"
    for experiment in (tasks.experiment(name), experiments.load(path)):
        assert experiment.task.name == name
        assert experiment.task.train_data.global_batch_size == batch
        assert experiment.trainer.train_steps == EXAMPLES[name] * epochs // batch
        assert experiment.trainer.optimizer_config.learning_rate.bert.initial_learning_rate == rate
        assert experiment.task.model.encoder.attention.name == "full"
        assert experiment.task.conversion.max_seq_length == 512


def learning_rate(name):
    config = tasks.experiment(name).trainer.optimizer_config
    return optimization.OptimizerFactory(config).build_learning_rate()


@pytest.mark.parametrize(("name", "warmup"), [("LISTOPS", 1000), ("LRA_TEXT", 8000)])
def test_learning_rate_of_long_range_arena(name, warmup):
    rate = learning_rate(name)
    for step in (1, 500, warmup - 1, warmup, warmup + 1, 4 * warmup, 20_000):
        expected = 0.05 * min(1, step / warmup) / math.sqrt(max(step, warmup))
        assert float(rate(step)) == pytest.approx(expected, rel=1e-4)


def test_learning_rate_of_images():
    rate = learning_rate("LRA_IMAGE")
    for step in (1, 100, 175, 1000, 17_675, 34_999):
        progress = max(0, (step - 175) / 35_000)
        expected = 5e-4 * min(1, step / 175) * (1 + math.cos(math.pi * progress)) / 2
        assert float(rate(step)) == pytest.approx(expected, rel=1e-3, abs=1e-9)


def test_padding_is_not_asked():
    task = small_task("STS-B")
    (metric,) = task.build_metrics()
    assert metric.name == "squared_error"
    labels = {
        "input_mask": np.array([[1, 1, 0], [1, 1, 1], [1, 0, 0]]),
        "answer": np.array([[1.0], [2.0], [np.nan]], np.float32),
    }
    outputs = {"logits_cls": np.array([[2.0], [5.0], [9.0]], np.float32)}
    task.process_metrics([metric], labels, outputs)
    assert float(metric.result()) == (1 + 9) / 2
    task = small_task("COLA")
    (metric,) = task.build_metrics()
    assert metric.name == "class_accuracy"
    labels["classification_class_index"] = np.array([[1], [0], [0]])
    task.process_metrics([metric], labels, {"pred_cls": np.array([1, 1, 0])})
    assert float(metric.result()) == 0.5


def test_what_is_predicted():
    assert tasks.get("MRPC").further_metrics == tasks.get("QQP").further_metrics == ("F1",)
    assert tasks.get("COLA").further_metrics == ("Matthews correlation",)
    for name in (*LRA, *GLUE, "SWAG", "ASSOCIATIVE_RECALL"):
        task = tasks.create(tasks.experiment(name).task)
        labels = task.task_config.model.num_classification_labels
        assert labels == (len(task.class_names) or 1)
        assert not task.capabilities.reads_tables
        assert task.capabilities.makes_vocabulary == (name not in (*GLUE, "SWAG"))
        if task.capabilities.makes_vocabulary and task.symbols:
            assert task.task_config.model.encoder.vocab_size >= 4 + len(task.symbols)
    as_bytes = small_task("RTE", conversion={"tokens": "bytes"})
    assert as_bytes.capabilities.makes_vocabulary


def test_a_vocabulary_of_bytes(tmp_path):
    task = small_task("SST-2", conversion={"tokens": "bytes", "max_seq_length": 6})
    task.make_vocabulary(tmp_path / "vocab.txt")
    assert len((tmp_path / "vocab.txt").read_text().split("\n")) == 4 + 256 + 1
    assert task.converter(tmp_path / "vocab.txt").max_seq_length == 6


def test_what_does_not_fit_the_model():
    with pytest.raises(InputError, match=r"=8194 is more than .*=4096 for each of 2 parts"):
        small_task("LRA_RETRIEVAL", conversion={"max_seq_length": 8194}).build_model()
    with pytest.raises(InputError, match=r"max_seq_length=2049 is more than .*=2048$"):
        small_task("LISTOPS", conversion={"max_seq_length": 2049}).build_model()
    task = small_task("ASSOCIATIVE_RECALL", generation={"num_values": 9})
    with pytest.raises(InputError, match=r"labels=8, but task ASSOCIATIVE_RECALL has 9 classes"):
        task.build_model()
    data = configs.TableDataConfig(input_path="x", buckets=[64])
    with pytest.raises(
        InputError, match=r"buckets=\[64\]: not supported with two towers or choices"
    ):
        small_task("LRA_RETRIEVAL").build_inputs(data)


@pytest.mark.parametrize("name", attention.names())
def test_models_of_sequences_with_any_attention(name):
    """Padding changes nothing."""
    encoder = {"attention": {"name": name}, "pooling": "all", "attention_probs_dropout_prob": 0.0}
    model = small_task("LRA_TEXT", model={"encoder": encoder}).build_model()
    ids = tf.constant([[2, 5, 6, 7, 8, 9, 10], [2, 5, 6, 0, 0, 0, 0]])
    features = {name: tf.zeros_like(ids) for name in ("segment_ids", "row_ids", "column_ids")}
    mask = tf.cast(ids > 0, tf.int32)
    logits = model({**features, "input_ids": ids, "input_mask": mask})["logits_cls"]
    short = {name: value[1:, :3] for name, value in features.items()}
    alone = model({**short, "input_ids": ids[1:, :3], "input_mask": mask[1:, :3]})["logits_cls"]
    assert np.isfinite(logits).all()
    np.testing.assert_allclose(alone[0], logits[1], atol=1e-5)
