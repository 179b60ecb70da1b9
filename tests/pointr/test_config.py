"""Experiments of both stages: defaults, and values that cannot be used."""

import pytest

from mate_tf.errors import InputError
from mate_tf.pointr.config import PointrExperiment


def test_stages_are_the_experiments_of_their_tasks():
    experiment = PointrExperiment()
    assert (experiment.point.task.name, experiment.read.task.name) == ("HYBRIDQA", "HYBRIDQA_RC")
    assert (experiment.task.num_cells, experiment.task.policy) == (1, "first")  # the paper's
    experiment.task.policy = "product"
    experiment.check("x.yaml")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("num_cells", 0, "x.yaml: task.num_cells is 0, expected an integer of 1 or more"),
        ("policy", "last", "x.yaml: task.policy is 'last', expected one of first, product"),
        ("name", "SQA", "x.yaml: is an experiment for task SQA, not for POINTR"),
    ],
)
def test_what_cannot_be_used(field, value, message):
    experiment = PointrExperiment()
    setattr(experiment.task, field, value)
    with pytest.raises(InputError) as refused:
        experiment.check("x.yaml")
    assert str(refused.value) == message
