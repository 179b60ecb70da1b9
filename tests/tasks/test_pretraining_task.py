"""Pre-training tasks: what they read and count, whatever their examples are made of."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import tasks
from mate_tf.errors import InputError
from mate_tf.models.pretrainer import TablePretrainer
from mate_tf.tasks import configs
from mate_tf.tasks.pretraining_task import METRICS, PretrainTask


@pytest.fixture
def task():
    """task(next_sentence) of a kind that overrides nothing."""

    def make(next_sentence=True):
        experiment = tasks.experiment("PRETRAIN")
        experiment.task.model.next_sentence = next_sentence
        return PretrainTask(experiment.task)

    return make


def test_cannot_be_asked_anything(task):
    capabilities = task().capabilities
    assert not capabilities.answers_questions
    assert not capabilities.reads_tables
    assert task().model_type is TablePretrainer


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


def test_which_piece_is_a_mask_must_be_known(task):
    with pytest.raises(InputError, match=r"the id of \[MASK\] is unknown"):
        task().global_batches(configs.TableDataConfig())
