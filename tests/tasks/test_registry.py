"""Tasks by name."""

import dataclasses
import functools

import pytest
from official.core import exp_factory, task_factory

from mate_tf import tasks
from mate_tf.data.features import TOKEN_TYPES
from mate_tf.errors import InputError
from mate_tf.tasks import base, table


def test_names():
    assert tasks.names() == sorted(tasks.names())
    assert {"SQA", "SYNTHETIC", "WTQ", "TABFACT", "CUSTOM", "PRETRAIN"} <= set(tasks.names())
    assert tasks.get("sqa") is tasks.get("SQA")
    with pytest.raises(
        InputError, match=r"unknown task 'HAL'; known: ASSOCIATIVE_RECALL, .*CUSTOM, .*SQA"
    ):
        tasks.get("HAL")


@pytest.mark.parametrize("name", tasks.names())
def test_each_experiment_is_known_to_tf_models(name):
    experiment = exp_factory.get_exp_config(f"mate_tf/{name}")
    assert experiment.as_dict() == tasks.experiment(name).as_dict()
    assert experiment.task.name == name
    task = task_factory.get_task(experiment.task, logging_dir="logs")
    assert type(task) is tasks.get(name)
    assert (task.task_config, task.logging_dir) == (experiment.task, "logs")
    assert {"train", "dev"} <= set(task.splits)
    assert set(task.subsets.values()) <= set(task.splits)


def test_a_name_twice():
    class Again(table.TableTask):
        name = "SQA"

    with pytest.raises(ValueError, match="twice"):
        tasks.register(Again)
    assert tasks.get("SQA") is not Again


def test_a_task_of_a_user():
    """It is known by name, here and to tf-models, once its module is imported."""

    @tasks.register
    class Named(table.TableTask):
        name = "NAMED"

        @classmethod
        def experiment(cls):
            return tasks.experiment("SQA")

    assert tasks.get("named") is Named
    assert "NAMED" in tasks.names()
    assert exp_factory.get_exp_config("mate_tf/NAMED").task.name == "SQA"


def test_abilities():
    """Abilities are one value for all: a task changes them together, not field by field."""
    able = {name: tasks.get(name).capabilities for name in tasks.names()}
    assert able["SQA"] == base.Capabilities()
    assert not any(able[name].answers_questions for name in ("PRETRAIN", "TEXT_PRETRAIN"))
    assert not able["SQUAD"].reads_tables
    with pytest.raises(dataclasses.FrozenInstanceError):
        able["SQA"].reads_tables = False


MATE = {"name": "mate_efficient", "global_length": 116, "radius": 42}
RATE = "trainer.optimizer_config.learning_rate.bert"
CLIPPED = "trainer.optimizer_config.optimizer.bert_adamw.clipvalue"
SETTINGS = {
    "SQA": {  # TAPAS
        f"{RATE}.initial_learning_rate": 1.25e-5,
        f"{RATE}.warmup_ratio": 0.01,
        CLIPPED: None,
        "trainer.optimizer_config.optimizer.bert_adamw.weight_decay_rate": 0.01,
        "trainer.optimizer_config.optimizer.bert_adamw.epsilon": 1e-6,
        "trainer.optimizer_config.optimizer.bert_adamw.gradient_clip_norm": 1.0,
        "trainer.train_steps": 200_000,
        "task.train_data.global_batch_size": 128,
        "task.model.select_one_column": True,
        "task.model.allow_empty_column_selection": False,
        "task.model.encoder.attention": MATE,
    },
    "HYBRIDQA": {  # MATE, appendix A.2
        f"{RATE}.initial_learning_rate": 1e-5,
        f"{RATE}.warmup_ratio": 0.05,
        CLIPPED: 10,
        "trainer.train_steps": 80_000,
        "task.train_data.global_batch_size": 128,
        "task.conversion.max_seq_length": 2048,
        "task.conversion.entity_descriptions_sentence_limit": 5,
        "task.conversion.expand_entity_descriptions": True,
        "task.model.cell_cross_entropy": True,
        "task.model.cell_cross_entropy_target": "soft_em",
        "task.model.encoder.reset_position_index_per_cell": True,
        "task.model.encoder.attention": MATE,
    },
    "HYBRIDQA_RC": {  # MATE, appendix A.2
        f"{RATE}.initial_learning_rate": 5e-5,
        f"{RATE}.warmup_ratio": 0.01,
        "trainer.train_steps": 25_000,
        "task.train_data.global_batch_size": 512,
        "task.conversion.max_seq_length": 512,
        "task.conversion.update_answer_coordinates": True,
        "task.reading.single_cell_examples": True,
        "task.model.span_prediction": "mlp",
        "task.model.max_span_length": 10,
        "task.model.encoder.attention": {"name": "full"},
    },
    "PRETRAIN": {  # MATE, appendix A.1
        "trainer.train_steps": 1_000_000,
        "task.train_data.global_batch_size": 512,
        "task.conversion.max_seq_length": 128,
        "task.masking.masked_lm_prob": 0.15,
        "task.masking.max_predictions_per_seq": 20,
        "task.masking.mask_whole_cells": False,
        "task.random_table_prob": 0.5,
        "task.model.encoder.attention": MATE,
    },
    "TEXT_PRETRAIN": {  # BERT
        f"{RATE}.initial_learning_rate": 1e-4,
        f"{RATE}.warmup_ratio": 0.01,
        "trainer.train_steps": 1_000_000,
        "task.train_data.global_batch_size": 256,
        "task.masking.masked_lm_prob": 0.15,
        "task.masking.max_predictions_per_seq": 20,
        "task.random_next_prob": 0.5,
        "task.short_seq_prob": 0.1,
        "task.dupe_factor": 1,
        # Segments are embedded as in GLUE's tasks, and nothing of tables.
        "task.model.encoder.disabled_features": list(TOKEN_TYPES[1:]),
    },
}
"""Task -> key of its experiment -> value in the paper."""


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_of_the_papers(name):
    for key, expected in SETTINGS[name].items():
        found = functools.reduce(getattr, key.split("."), tasks.experiment(name))
        if isinstance(expected, dict):
            found = {each: found.as_dict()[each] for each in expected}
        assert found == expected, key
