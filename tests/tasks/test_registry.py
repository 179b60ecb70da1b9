"""Tasks by name."""

import pytest
from official.core import exp_factory

from mate_tf import tasks
from mate_tf.errors import InputError
from mate_tf.tasks import base


def test_names():
    assert tasks.names() == sorted(tasks.names())
    assert {"SQA", "SYNTHETIC", "WTQ", "TABFACT", "CUSTOM", "PRETRAIN"} <= set(tasks.names())
    assert tasks.get("sqa") is tasks.get("SQA")
    with pytest.raises(InputError, match=r"'HAL' is none of ASSOCIATIVE_RECALL, .*CUSTOM, .*SQA"):
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
    class Again(base.TableTask):
        name_in_tapas = "SQA"

    with pytest.raises(ValueError, match="twice"):
        tasks.register(Again)
    assert tasks.get("SQA") is not Again
