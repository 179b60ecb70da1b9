"""A tiny model as a training leaves it, and its export."""

import pathlib

MAX_ROWS, MAX_COLUMNS, LENGTH = 16, 8, 128

MODEL = {
    "cell_cross_entropy": True,
    "max_num_rows": MAX_ROWS,
    "max_num_columns": MAX_COLUMNS,
    "encoder": {
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 16,
        "initializer_range": 0.5,  # large enough for the answers to differ
        "disable_position_embeddings": True,
        "disabled_features": [],  # it hears the previous answer too
        "attention": {"name": "mate_efficient", "global_length": 16, "radius": 16},
    },
}


def make(folder: pathlib.Path) -> None:
    """Writes vocab.txt, model (random weights) and model/export into a folder."""
    import tensorflow as tf

    from mate_tf import tasks
    from mate_tf.data import synthetic
    from mate_tf.layers.framework import keras
    from mate_tf.serving import export
    from mate_tf.training import experiments

    vocab_file, model_dir = folder / "vocab.txt", folder / "model"
    synthetic.make_vocabulary(vocab_file)
    experiment = experiments.load(task="SYNTHETIC")
    conversion = {"max_seq_length": LENGTH, "bert_vocab_file": str(vocab_file)}
    experiments.override(experiment, {"task": {"model": MODEL, "conversion": conversion}}, "test")
    keras.utils.set_random_seed(1)
    model = tasks.create(experiment.task).build_model()
    experiments.save(experiment, str(model_dir))
    step = tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(model=model, global_step=step)
    tf.train.CheckpointManager(checkpoint, str(model_dir), max_to_keep=1).save(checkpoint_number=0)
    options = experiment.task.conversion.converter_options()
    export.export(model, str(model_dir / "export"), str(vocab_file), options)
