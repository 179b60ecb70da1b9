"""A tiny model: exported, and in the folder of its training."""

import pytest
import tensorflow as tf

from mate_tf import tasks
from mate_tf.data import synthetic
from mate_tf.layers.keras_namespace import keras
from mate_tf.serving import export
from mate_tf.training import experiments

MODEL = {
    "cell_cross_entropy": True,
    "max_num_rows": 16,
    "max_num_columns": 8,
    "encoder": {
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 16,
        "initializer_range": 0.5,
        "disable_position_embeddings": True,
        "attention": {"name": "mate_efficient", "global_length": 16, "radius": 16},
    },
}


@pytest.fixture(scope="session")
def trained_model(tmp_path_factory):
    """Folder as a training leaves it, with random weights, and the export below it."""
    folder = tmp_path_factory.mktemp("trained") / "model"
    vocab_file = folder.with_name("vocab.txt")
    synthetic.make_vocabulary(vocab_file)
    experiment = experiments.load(task="SYNTHETIC")
    conversion = {"max_seq_length": 128, "bert_vocab_file": str(vocab_file)}
    experiments.override(experiment, {"task": {"model": MODEL, "conversion": conversion}}, "test")
    keras.utils.set_random_seed(1)
    model = tasks.create(experiment.task).build_model()
    experiments.save(experiment, str(folder))
    step = tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(model=model, global_step=step)
    tf.train.CheckpointManager(checkpoint, str(folder), max_to_keep=1).save(checkpoint_number=0)
    options = experiment.task.conversion.converter_options()
    export.export(model, str(folder / "export"), str(vocab_file), options)
    return folder
