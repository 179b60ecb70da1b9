"""What every task does with batches and outputs."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import tasks
from mate_tf.checkpoints.names import checkpoint_variables
from mate_tf.data import features as feature_names
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.errors import InputError
from mate_tf.tasks import base, configs


def test_conversion_config_is_the_converters(tmp_path):
    """Every option of the converter can be configured, with the same default."""
    pieces = ["[PAD]", "[EMPTY]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##a"]
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(pieces) + "\n")
    options = configs.ConversionConfig().converter_options()
    converter = ExampleConverter(str(path), **options)
    assert converter.__getstate__() == ExampleConverter(str(path)).__getstate__()
    assert "bert_vocab_file" not in options


def small_task(**config):
    experiment = tasks.experiment("SQA")
    encoder = {
        "vocab_size": 100,
        "hidden_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 8,
    }
    experiment.task.override({"model": {"encoder": encoder}, **config})
    return tasks.create(experiment.task)


def test_accuracy_counts_whole_answers():
    """Right: exactly the gold cells. Padding counts neither as a token nor as an example."""
    task = small_task()
    labels = np.array([[0, 1, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]])
    chosen = np.array([[0, 1, 1, 1], [0, 1, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
    mask = np.array([[1, 1, 1, 0]] + [[1, 1, 1, 1]] * 4)
    columns = np.array([[0, 1, 1, 1]] * 4 + [[0, 0, 0, 0]])
    (metric,) = task.build_metrics()
    features = {"label_ids": labels, "input_mask": mask, "column_ids": columns}
    task.process_metrics([metric], features, {"selected_tokens": chosen})
    assert metric.name == "answer_accuracy"
    assert float(metric.result()) == 0.5


def test_what_of_a_checkpoint_is_left_aside(tmp_path, capsys):
    source = small_task().build_model()
    path = tf.train.Checkpoint(model=source).write(str(tmp_path / "model"))
    for exclude, fresh in (
        ("", ()),
        ("pooler", ("pooler",)),
        ("layer_0|^output_", ("layer_0", "output_")),
    ):
        task = small_task(init_checkpoint=path, init_exclude=exclude)
        model = task.build_model()
        for variable in model.variables:
            variable.assign(tf.fill(variable.shape, 7.0))
        task.initialize(model)
        assert "initialized | " in capsys.readouterr().out
        loaded = checkpoint_variables(source)
        for name, variable in checkpoint_variables(model).items():
            kept = any(part in name for part in fresh) and not name.startswith("column_")
            want = tf.fill(variable.shape, 7.0) if kept else loaded[name]
            np.testing.assert_array_equal(variable, want, name)
    with pytest.raises(InputError, match=r"task\.init_exclude: '\(' is no regular expression"):
        small_task(init_checkpoint=path, init_exclude="(").initialize(source)


def test_loss_is_the_models_and_its_layers():
    """tf-models calls it by keyword."""
    losses = [tf.constant(0.25)]
    outputs = {"total_loss": tf.constant(1.0)}
    task = small_task()
    assert task.build_losses(labels={}, model_outputs=outputs, aux_losses=losses) == 1.25
    assert task.build_losses(labels={}, model_outputs=outputs, aux_losses=None) == 1.0


def test_examples_longer_than_there_are_positions():
    with pytest.raises(InputError, match=r"max_seq_length=513 .*max_position_embeddings=512"):
        small_task(conversion={"max_seq_length": 513}).build_model()
    endless = small_task(conversion={"max_seq_length": 513})
    endless.task_config.model.encoder.reset_position_index_per_cell = True
    endless.build_model()


def test_inputs_are_what_a_model_reads(monkeypatch):
    """No strings, and only the numbers that are used."""
    names = feature_names.names(feature_names.ALL)
    batch = {name: np.zeros([2, 3], np.int32) for name in names}
    seen = {}

    def dataset(pattern, batch_size, **options):
        seen.update(options, pattern=pattern, batch_size=batch_size)
        return tf.data.Dataset.from_tensors(batch)

    monkeypatch.setattr(base.records, "dataset", dataset)
    task = small_task(conversion={"max_seq_length": 3})
    data = configs.TableDataConfig(
        input_path="x*", global_batch_size=4, is_training=True, seed=5, skip_batches=7
    )
    context = tf.distribute.InputContext(num_replicas_in_sync=2)
    element = task.build_inputs(data, context).element_spec
    assert set(element) == {*feature_names.names(feature_names.MODEL_INPUTS), "label_ids"}
    assert seen == {
        "pattern": "x*",
        "batch_size": 4,
        "seq_length": 3,
        "buckets": None,
        "shuffle": 10_000,
        "seed": 5,
        "repeat": True,
        "drop_remainder": True,
        "fill_remainder": False,
        "max_batch_tokens": None,
        "curriculum": (0, 0),
        "multiple_of": 2,
        "skip": 7,
    }
    task.build_inputs(configs.TableDataConfig(buckets=[2, 3]))
    assert (seen["shuffle"], seen["repeat"], seen["drop_remainder"]) == (0, False, False)
    assert seen["buckets"] == [2, 3]
    # on a TPU: one shape
    task.build_inputs(configs.TableDataConfig(buckets=[2, 3], static_shapes=True))
    assert (seen["buckets"], seen["fill_remainder"]) == (None, True)
    uneven = configs.TableDataConfig(global_batch_size=5, is_training=True)
    with pytest.raises(InputError, match=r"train_data\.global_batch_size=5 .* 2 replicas"):
        task.build_inputs(uneven, context)
