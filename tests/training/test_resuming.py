"""What is said if a resumed training has changed, and what is refused."""

import os
import shutil

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.data.records import record_frames
from mate_tf.errors import InputError
from mate_tf.training import experiments, resuming, trainer

from .. import graphs
from .test_trainer import save_untrained


@pytest.fixture
def begun(toy_experiment, tmp_path):
    """begun(*overrides): folder with a checkpoint of a training of that experiment."""

    def make(*overrides):
        experiment = experiments.resolve(toy_experiment(*overrides))
        folder = str(tmp_path / "model")
        save_untrained(toy_experiment(), folder)
        experiments.save(experiment, folder)
        resuming.save(experiment, folder)
        return folder

    return make


@pytest.fixture
def resumed(toy_experiment, caplog):
    """resumed(folder, *overrides): the warnings."""

    def check(folder, *overrides):
        caplog.clear()
        resuming.check(experiments.resolve(toy_experiment(*overrides)), folder)
        return [record.getMessage() for record in caplog.records]

    return check


def test_nothing_to_say(begun, resumed, toy_records, tmp_path):
    """Folders may be moved, a training may be longer, and an evaluation is another matter."""
    folder = begun()
    assert resumed(folder) == []
    moved = shutil.copy(toy_records["train"], tmp_path / "moved.tfrecord")
    assert resumed(folder, f"task.train_data.input_path='{moved}'") == []
    intervals = "trainer: {checkpoint_interval: 2, validation_interval: 3, max_to_keep: 2}"
    evaluation = "task.validation_data.global_batch_size=7"
    devices = "runtime: {distribution_strategy: one_device}"
    assert resumed(folder, intervals, evaluation, devices) == []
    assert resumed(str(tmp_path / "new")) == []


@pytest.mark.parametrize(
    ("override", "key"),
    [
        ("task.train_data.global_batch_size=8", r"task\.train_data\.global_batch_size=16, not 8"),
        ("task.train_data.buckets=[16, 32]", r"task\.train_data\.buckets"),
        ("task.train_data.max_batch_tokens=64", r"task\.train_data\.max_batch_tokens=0, not 64"),
        ("task.train_data.seed=2", r"task\.train_data\.seed=None, not 2"),
        ("tf_random_seed=2", "tf_random_seed=1, not 2"),
        (
            "trainer.optimizer_config.optimizer.type=sgd",
            "the optimizer here is bert_adamw, not sgd",
        ),
    ],
)
def test_refused(begun, resumed, override, key):
    """The batches that have been read could not be left out, or the moments not be used."""
    folder = begun()
    with pytest.raises(InputError, match=f"params.yaml: .*{key}.*; give another --model_dir"):
        resumed(folder, override)


def test_each_changed_key_is_named(begun, resumed):
    folder = begun("tf_random_seed=null")
    warnings = resumed(
        folder,
        *("tf_random_seed=null", "task.train_data.global_batch_size=8", "task.freeze=pooler"),
        "trainer.optimizer_config.optimizer.bert_adamw.weight_decay_rate=0.5",
    )
    assert [each.partition(" with ")[2] for each in warnings] == [
        "task.train_data.global_batch_size=8, previously 16",
        "task.freeze=pooler, previously ",
        "trainer.optimizer_config.optimizer.bert_adamw.weight_decay_rate=0.5, previously 0.0",
    ]


def test_other_records(begun, resumed, toy_records, tmp_path):
    """As create_data with another seed writes them: the same examples, in another order."""
    found = list(record_frames.records(toy_records["train"]))
    path = str(tmp_path / "other.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for record in reversed(found):
            writer.write(record)
    other = f"task.train_data.input_path='{path}'"
    folder = begun()
    with pytest.raises(InputError, match=f"{path}: these are not the records that .* trained on"):
        resumed(folder, other)
    shutil.rmtree(folder)
    folder = begun("tf_random_seed=null")
    [warning] = resumed(folder, other, "tf_random_seed=null")
    assert "these are not the records" in warning
    os.remove(os.path.join(folder, resuming.FILE))  # of an earlier version
    assert resumed(folder, other, "tf_random_seed=null") == []


def test_parts_of_large_records_are_compared(tmp_path, monkeypatch):
    monkeypatch.setattr(resuming, "_WHOLE", 1000)
    monkeypatch.setattr(resuming, "_PART", 40)
    content = np.random.default_rng(0).bytes(20_000)
    whole = {}
    for name, change in (("a", b""), ("same", b""), ("end", b"x"), ("begin", b"x")):
        path = tmp_path / f"{name}.tfrecord"
        path.write_bytes(change + content[1:] if name == "begin" else content[:-1] + change)
        whole[name] = resuming.fingerprint(str(path))
    assert whole["a"] == whole["same"]
    assert len(set(whole.values())) == 3
    assert resuming.fingerprint(str(tmp_path / "none")) is None


def test_a_training_asks(begun, toy_experiment):
    """And writes the hash of its records."""
    folder = begun()
    os.remove(os.path.join(folder, resuming.FILE))
    with graphs.avoided():
        trainer.train(toy_experiment("trainer.train_steps=2"), folder)
        assert os.path.exists(os.path.join(folder, resuming.FILE))
        with pytest.raises(InputError, match="tf_random_seed=1, not 2"):
            trainer.train(toy_experiment("tf_random_seed=2"), folder)
        trained = toy_experiment("tf_random_seed=2", "trainer.train_steps=2")
        assert trainer.train(trained, folder) == {"global_step": 2}
