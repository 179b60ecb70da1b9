"""SYNTHETIC: as many tables as configured, and a vocabulary that the model has room for."""

import itertools

import pytest
from official.modeling import optimization

from mate_tf import tasks
from mate_tf.training import experiments


@pytest.fixture
def task():
    experiment = tasks.experiment("SYNTHETIC")
    experiment.task.override(
        {"generation": {"num_train_tables": 4, "num_dev_tables": 3, "max_rows": 9, "seed": 2}}
    )
    return tasks.create(experiment.task)


def test_tables_as_configured(task):
    tables = {split: list(task.interactions(None, split)) for split in ("train", "dev")}
    assert {split: len(each) for split, each in tables.items()} == {"train": 4, "dev": 3}
    for interaction in itertools.chain(*tables.values()):
        assert 5 <= len(interaction.table.rows) <= 9
        assert len(interaction.questions) == 6
    assert [t.SerializeToString(deterministic=True) for t in task.interactions(None, "dev")] == [
        t.SerializeToString(deterministic=True) for t in tables["dev"]
    ]


def test_unanswerable_questions_are_for_training_only(task):
    task.task_config.generation.train_unanswerable = 1.0
    for split, answered in (("train", False), ("dev", True)):
        for interaction in task.interactions(None, split):
            for question in interaction.questions:
                assert bool(question.answer.answer_coordinates) == answered


@pytest.mark.parametrize("steps", [100, 1000])
def test_one_warm_up(steps):
    """A schedule of a file, with its own warm-up, replaces the default's."""
    experiment = experiments.load(task="SYNTHETIC")
    rate = "{type: bert, bert: {initial_learning_rate: 0.002, warmup_steps: 10}}"
    experiments.override(
        experiment,
        *experiments.read_override(
            f"trainer: {{train_steps: {steps}, optimizer_config: {{learning_rate: {rate}}}}}"
        ),
    )
    experiment = experiments.resolve(experiment)
    factory = optimization.OptimizerFactory(experiment.trainer.optimizer_config)
    schedule = factory.build_learning_rate()
    found = [float(schedule(step)) for step in (5, 10, steps // 2, steps)]
    assert found == pytest.approx([0.001, 0.002 * (1 - 10 / steps), 0.001, 0])


def test_vocabulary_fits_the_model(task, tmp_path):
    assert task.capabilities.makes_vocabulary
    path = tmp_path / "vocab.txt"
    task.make_vocabulary(str(path))
    assert len(path.read_text().splitlines()) == task.task_config.model.encoder.vocab_size
