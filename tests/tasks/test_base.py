"""What every task does with batches, outputs, and what is not trained."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.checkpoints.names import checkpoint_variables, variable_paths
from mate_tf.data import features as feature_names
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.errors import InputError
from mate_tf.layers.framework import keras
from mate_tf.tasks import base, configs

from .conftest import small_task


def test_conversion_config_is_the_converters(vocabulary_file):
    """Every option of the converter can be configured, with the same default."""
    path = vocabulary_file(["[PAD]", "[EMPTY]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##a"])
    options = configs.ConversionConfig().converter_options()
    converter = ExampleConverter(str(path), **options)
    assert converter.__getstate__() == ExampleConverter(str(path)).__getstate__()
    assert "bert_vocab_file" not in options


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
    with pytest.raises(InputError, match=r"task\.init_exclude: '\(' is not a regular expression"):
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


TREES = {"encoder": {"num_hidden_layers": 2, "attention": {"name": "tree_fine", "tree_height": 1}}}


@pytest.fixture(scope="module")
def batch():
    rng = np.random.default_rng(0)
    found = {
        spec.name: np.zeros(
            [2, 12 if spec.per_token else spec.size],
            np.float32 if spec.dtype == "float32" else np.int32,
        )
        for spec in (
            *feature_names.MODEL_INPUTS,
            *feature_names.TOKEN_LABELS,
            *feature_names.EXAMPLE_LABELS,
        )
    }
    found["input_ids"] = rng.integers(5, 30, [2, 12]).astype(np.int32)
    found["input_mask"][:] = 1
    for name in ("segment_ids", "column_ids", "row_ids"):
        found[name][:, 6:] = 1
    found["label_ids"][:, 8] = 1
    return {name: tf.constant(value) for name, value in found.items()}


@pytest.mark.parametrize(
    ("freeze", "still"),
    [
        ("attention/self/tree/", {"tree/kernel", "tree/bias"}),  # the reference's names
        (r"blocks/1/|^encoder/embeddings/", {"blocks/1/", "encoder/embeddings/"}),  # paths
    ],
)
def test_frozen_variables_stay(batch, freeze, still):
    of_freeze = small_task(freeze=freeze, model=TREES)
    model = of_freeze.build_model()
    optimizer = keras.optimizers.legacy.Adam(0.1)
    paths = {id(v): name for name, v in variable_paths(model).items()}
    before = {paths[id(v)]: v.numpy() for v in model.variables}
    of_freeze.train_step(batch, model, optimizer)
    after = {paths[id(v)]: v.numpy() for v in model.variables}
    frozen = {name for name in before if any(part in name for part in still)}
    assert frozen
    assert {paths[id(v)] for v in model.non_trainable_variables} == frozen
    changed = {name for name in before if (before[name] != after[name]).any()}
    assert not changed & frozen
    assert any("attention/query/kernel" in name for name in changed)
    # the iteration, and two moments of each variable that is trained; nothing reads the pooler
    assert len(optimizer.variables()) == 1 + 2 * (len(model.trainable_variables) - 2)
    assert len(model.variables) == len(model.trainable_variables) + len(frozen)


def test_nothing_or_everything_is_frozen():
    assert small_task(model=TREES).build_model().non_trainable_variables == []
    pretrainer = small_task("PRETRAIN", freeze="^bert/", model=TREES).build_model()
    trained = {variable.name.split("/")[0] for variable in pretrainer.trainable_variables}
    assert trained == {"masked_words", "random_table"}
    with pytest.raises(InputError, match=r"task\.freeze: 'forest' matches no variable"):
        small_task(freeze="forest").build_model()
    with pytest.raises(InputError, match=r"task\.freeze: '\(' is not a regular expression"):
        small_task(freeze="(").build_model()
