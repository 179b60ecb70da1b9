"""Tasks by name."""

import dataclasses

import pytest
from official.core import exp_factory

from mate_tf import tasks
from mate_tf.errors import InputError
from mate_tf.tasks import base, table


def test_names():
    assert tasks.names() == sorted(tasks.names())
    assert {"SQA", "SYNTHETIC", "WTQ", "TABFACT", "CUSTOM", "PRETRAIN"} <= set(tasks.names())
    assert tasks.get("sqa") is tasks.get("SQA")
    with pytest.raises(
        InputError, match=r"'HAL' is not one of ASSOCIATIVE_RECALL, .*CUSTOM, .*SQA"
    ):
        tasks.get("HAL")


@pytest.mark.parametrize("name", tasks.names())
def test_each_experiment_is_known_to_tf_models(name):
    experiment = exp_factory.get_exp_config(f"mate_tf/{name}")
    assert experiment.as_dict() == tasks.experiment(name).as_dict()
    assert experiment.task.name == name
    task = tasks.create(experiment.task)
    assert isinstance(task, tasks.get(name))
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
