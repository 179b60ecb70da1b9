"""Tasks with small models."""

from mate_tf import tasks

SIZES = {
    "vocab_size": 300,
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 8,
}


def small_task(name="SQA", *overrides, **changes):
    """The task with a small model; `overrides` and `changes` are keys of its config."""
    config = tasks.experiment(name).task
    for each in ({"model": {"encoder": SIZES}}, *overrides, changes):
        config.override(each)
    return tasks.create(config)
