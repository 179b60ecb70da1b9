"""SQuAD's and SWAG's tasks: appendix C's settings, and what the metric counts."""

import pytest
import tensorflow as tf

from mate_tf import tasks
from mate_tf.data.converters import windows
from mate_tf.errors import InputError
from mate_tf.tasks import head_metrics
from mate_tf.training import experiments

from .conftest import small_task


@pytest.mark.parametrize(
    ("name", "batch", "epochs", "examples", "rate"),
    [
        ("squad_v1", 32, 3, 87_599, 3e-5),
        ("squad_v2", 48, 2, 130_319, 5e-5),
        ("swag", 16, 3, 73_546, 2e-5),
    ],
)
def test_appendix_c(name, batch, epochs, examples, rate, project):
    experiment = experiments.load(str(project / "configs" / f"{name}.yaml"))
    optimizer = experiment.trainer.optimizer_config
    schedule = optimizer.learning_rate.bert
    assert experiment.task.train_data.global_batch_size == batch
    assert experiment.trainer.train_steps == examples * epochs // batch
    assert (schedule.initial_learning_rate, schedule.warmup_ratio) == (rate, 0.1)
    assert optimizer.optimizer.bert_adamw.weight_decay_rate == 0.01
    if name != "squad_v2":
        default = tasks.experiment(name.partition("_")[0])
        assert default.trainer.train_steps == experiment.trainer.train_steps


def test_windows_need_the_empty_span(vocabulary_file):
    for changes in ({"span_prediction": "none"}, {"allow_empty_span": False}):
        with pytest.raises(InputError, match=r"SQUAD needs task\.model\.span_prediction and"):
            small_task("SQUAD", model=changes).build_model()
    with pytest.raises(InputError, match=r"max_seq_length=600 is more than .*=512"):
        small_task("SQUAD", conversion={"max_seq_length": 600}).build_model()
    vocab_file = vocabulary_file(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[EMPTY]"])
    converter = small_task("SQUAD", conversion={"max_seq_length": 99, "doc_stride": 9}).converter(
        vocab_file
    )
    assert isinstance(converter, windows.WindowConverter)
    assert converter.max_seq_length == 99


def test_metric_counts_the_empty_span():
    """Right span, wrong span, rightly and wrongly none, none where nothing is labelled, padding."""
    task = small_task("SQUAD")
    (metric,) = task.build_metrics()
    assert metric.name == head_metrics.SPAN_ACCURACY
    span, empty, nothing = [0, 1, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0]
    labels = {
        "label_ids": tf.constant([span, span, empty, span, nothing, nothing]),
        "column_ids": tf.constant([[0, 1, 1, 1]] * 5 + [[0] * 4]),
    }
    outputs = {
        "pred_span": tf.constant([[1, 2], [1, 1], [1, 2], [1, 2], [1, 1], [0, 0]]),
        "span_log_prob": tf.constant([-1.0] * 6),
        "empty_span_log_prob": tf.constant([-2.0, -2.0, -0.5, -0.5, -0.5, -0.5]),
    }
    task.process_metrics([metric], labels, outputs)
    assert float(metric.result()) == pytest.approx(2 / 5)


def test_swag_is_four_pairs():
    task = tasks.create(tasks.experiment("SWAG").task)
    model = task.task_config.model
    assert model.multiple_choice
    assert model.towers().num_parts == len(task.class_names) == 4
    assert task.task_config.conversion.max_seq_length == 4 * 128
    task.task_config.conversion.max_seq_length = 4 * 513
    with pytest.raises(InputError, match=r"=2052 is more than .*=512 for each of 4 parts"):
        task.build_model()
