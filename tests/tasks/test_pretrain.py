"""PRETRAIN: the paper's settings, and what every pre-training task reads and counts."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import tasks
from mate_tf.data import features as feature_names
from mate_tf.errors import InputError
from mate_tf.models.pretrainer import LABELS, TablePretrainer
from mate_tf.tasks import base, configs
from mate_tf.tasks.pretrain import METRICS, PretrainTask

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{i}" for i in range(50))]
MASK = PIECES.index("[MASK]")


@pytest.fixture
def make(vocabulary_file):
    """make(**config): a task with a small vocabulary."""
    path = vocabulary_file(PIECES)

    def task(**config):
        experiment = tasks.experiment("PRETRAIN")
        experiment.task.override({"conversion": {"bert_vocab_file": str(path)}, **config})
        return tasks.create(experiment.task)

    return task


@pytest.fixture
def examples(monkeypatch):
    """Five batches of two equal examples in place of files."""
    batch = {name: np.zeros([2, 20], np.int32) for name in feature_names.names(feature_names.ALL)}
    batch["input_ids"][:] = [2, 6, 3, *range(10, 27)]
    batch["input_mask"][:] = 1
    batch["column_ids"][:, 3:] = 1
    batch["classification_class_index"] = np.array([[0], [1]], np.int32)

    def dataset(*args, skip, **kwargs):
        return tf.data.Dataset.from_tensors(batch).repeat(5).skip(skip)

    monkeypatch.setattr(base.records, "dataset", dataset)
    return batch


def batches(task, **params):
    return list(task.build_inputs(configs.TableDataConfig(**params)).as_numpy_iterator())


def test_batches(make, examples):
    found = batches(make(), is_training=True, seed=3)
    assert set(found[0]) == {*feature_names.names(feature_names.MODEL_INPUTS), *LABELS}
    for batch in found:
        assert batch["next_sentence_labels"].tolist() == [[0], [1]]
        assert batch["masked_lm_weights"].shape == (2, 20)
        assert batch["masked_lm_weights"].sum(axis=1).tolist() == [3, 3]  # 15 % of 20
        changed = batch["input_ids"] != examples["input_ids"]
        assert changed.any()


def test_masks_are_new_each_time_in_training_and_always_the_same_in_evaluation(make, examples):
    def masks(**params):
        return [batch["masked_lm_positions"].tolist() for batch in batches(make(), **params)]

    once = masks(is_training=True)
    assert len({str(each) for each in once}) == 5
    assert once != masks(is_training=True)
    assert masks(is_training=True, seed=1) == masks(is_training=True, seed=1)
    assert masks() == masks()
    # Resumed after two batches:
    seeded = {"is_training": True, "seed": 1}
    assert masks(**seeded, skip_batches=2) == masks(**seeded)[2:]


@pytest.fixture
def task():
    """task(next_sentence) of a kind that overrides nothing."""

    def make(next_sentence=True):
        experiment = tasks.experiment("PRETRAIN")
        experiment.task.model.next_sentence = next_sentence
        return PretrainTask(experiment.task)

    return make


def test_what_it_cannot_do(task):
    capabilities = task().capabilities
    assert not capabilities.answers_questions
    assert not capabilities.reads_tables
    assert task().model_type is TablePretrainer
    with pytest.raises(InputError, match=r"the id of \[MASK\] is unknown"):
        task().global_batches(configs.TableDataConfig())


@pytest.mark.parametrize(("next_sentence", "count"), [(True, 4), (False, 2)])
def test_metrics_are_those_of_the_models_heads(task, next_sentence, count):
    found = [metric.name for metric in task(next_sentence).build_metrics()]
    assert found == list(METRICS[:count])


def test_losses_are_means_over_what_was_masked(task):
    """Two words of the first example; the second example only fills the batch up."""
    labels = {
        "masked_lm_ids": np.array([[3, 4], [0, 0]], np.int32),
        "masked_lm_weights": np.array([[1, 1], [0, 0]], np.float32),
        "next_sentence_labels": np.array([[0], [0]], np.int32),
        "column_ids": np.array([[0, 1, 1], [0, 0, 0]], np.int32),
    }
    outputs = {
        "masked_lm_predictions": tf.constant([3, 3, 9, 9]),
        "masked_lm_example_loss": tf.constant([1.0, 4.0, 100.0, 100.0]),
        "next_sentence_predictions": tf.constant([1, 0]),
        "next_sentence_example_loss": tf.constant([0.25, 100.0]),
    }
    built = task().build_metrics()
    task().process_metrics(built, labels, outputs)
    assert {metric.name: float(metric.result()) for metric in built} == {
        "masked_lm_accuracy": 0.5,
        "masked_lm_loss": 2.5,
        "next_sentence_accuracy": 0,
        "next_sentence_loss": 0.25,
    }
