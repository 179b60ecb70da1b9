"""HYBRIDQA: what it learns from, how it is scored, its hyper-parameters and ablations."""

import json

import numpy as np
import pytest

from mate_tf import tasks
from mate_tf.data import interactions, records
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.datasets import hybridqa
from mate_tf.data.records import create_data
from mate_tf.evaluation import baselines, metrics
from mate_tf.evaluation import hybridqa as evaluation
from mate_tf.evaluation.predictions import Prediction
from mate_tf.tables.table import Table
from mate_tf.tasks.hybridqa import AMBIGUOUS, NO_CANDIDATE
from mate_tf.training import experiments


@pytest.fixture(scope="module")
def raw(recordings):
    return recordings / "raw"


@pytest.fixture(scope="module")
def dev(recordings):
    return list(records.read_interactions(recordings / "interactions" / "dev.tfrecord"))


def _task(**config):
    experiment = tasks.experiment("HYBRIDQA")
    experiment.task.override(config)
    return tasks.create(experiment.task)


def _problems(task, raw, split):
    return {
        interaction.id: interactions.problem(interaction.questions[0])
        for interaction in task.interactions(raw, split)
    }


def test_ablations_are_single_keys(project):
    """Every override that the configuration file names is one."""
    path = project / "configs" / "hybridqa.yaml"
    lines = [line for line in path.read_text().splitlines() if line.startswith("#   ")]
    overrides = [line.split()[-1] for line in lines if "=" in line.split()[-1]]
    overrides = [each for each in overrides if each.startswith("task.")]
    assert len(overrides) == 11
    for override in overrides:
        loaded = experiments.load(str(path), [override])
        key, value = override.split("=")
        found = loaded.as_dict()
        for part in key.split("."):
            found = found[part]
        assert str(found).lower() == value


def test_training_questions_without_candidates_teach_nothing(raw):
    problems = _problems(_task(), raw, "train")
    assert {key for key, problem in problems.items() if problem} == {"h4-0"}
    assert problems["h4-0"] == NO_CANDIDATE
    assert not any(_problems(_task(), raw, "dev").values())


def test_discards_ambiguous_questions(raw):
    problems = _problems(_task(discard_ambiguous=True), raw, "train")
    assert {key: problem for key, problem in problems.items() if problem} == {
        "h1-0": AMBIGUOUS,
        "h4-0": NO_CANDIDATE,
    }
    assert not any(_problems(_task(discard_ambiguous=True), raw, "dev").values())


def test_splits(raw):
    assert _task().splits == ("train", "dev")
    task = _task(with_test_split=True)
    assert task.splits == ("train", "dev", "test")
    assert len(list(task.interactions(raw, "test"))) == 2


def test_what_is_wrong_with_the_files_is_reported(raw, goldens, tmp_path):
    """The conversion says how many questions have no table, and its report which."""
    released = tmp_path / "released_data"
    released.mkdir()
    for name in ("train.traced.json", "dev.traced.json"):
        questions = json.loads((raw / "released_data" / name).read_text())
        questions.append({**questions[0], "question_id": "extra", "table_id": "Nowhere_0"})
        (released / name).write_text(json.dumps(questions))
    (tmp_path / "WikiTables-WithLinks.zip").write_bytes(
        (raw / "WikiTables-WithLinks.zip").read_bytes()
    )
    task = _task()
    converter = ExampleConverter(
        goldens / "tokenization" / "vocab.txt", 128, expand_entity_descriptions=True
    )
    output = tmp_path / "out"
    reports = create_data.create_data(
        {split: task.interactions(tmp_path, split) for split in task.splits}, output, converter
    )
    assert (reports["train"].questions, reports["train"].examples) == (6, 5)
    assert (reports["dev"].questions, reports["dev"].examples) == (3, 3)
    for report in reports.values():
        assert f"1 {hybridqa.NO_TABLE}" in str(report)
    assert f"1 dropped (Invalid answer: {NO_CANDIDATE})" in str(reports["train"])
    written = json.loads((output / "tf_examples" / "dev.report.json").read_text())
    assert written["defects"] == {hybridqa.NO_TABLE: 1}
    (message,) = written["defect_messages"][hybridqa.NO_TABLE]
    assert "question extra" in message
    assert "Nowhere_0" in message


def test_measures_hits_by_answer_type(dev):
    """h6 and h7 have one cell with the answer in a passage, h8 two."""
    predicted = {
        "h6-0_0": Prediction("h6-0_0", ((3, 3),), ranked=((3, 3), (0, 0))),
        "h7-0_0": Prediction("h7-0_0", ((0, 0),), ranked=((0, 0), (1, 1), (0, 1))),
    }
    measured = _task().measure(dev, predicted)
    assert measured["Hits@1"] == {
        "all": (pytest.approx(1 / 3), 3),
        "1_in_text": (0.5, 2),
        "2+_in_text": (0.0, 1),
    }
    assert measured["Hits@3"]["all"] == measured["Hits@5"]["all"] == (pytest.approx(2 / 3), 3)


def test_stands_beside_word_counting(dev):
    task = _task()
    for name in task.baselines:
        measured = task.measure(dev, baselines.predict(dev, name))
        assert set(measured) == {"Hits@1", "Hits@3", "Hits@5"}


def test_differences_come_with_intervals(dev):
    """A model that is the ranker is no better; one that knows the answers is, by its misses."""
    ranker = baselines.predict(dev, "TF-IDF of cells")
    oracle = {
        question.id: Prediction(question.id, (), ranked=tuple(metrics.gold_cells(question)))
        for interaction in dev
        for question in interaction.questions
    }
    systems = {"model": oracle, "ranker": ranker, "the same": oracle}
    ((_, differences),) = _task().compare(dev, systems).items()
    assert differences["the same"] == dict.fromkeys(
        ["Hits@1", "Hits@3", "Hits@5"], "+0.0% [+0.0%, +0.0%]"
    )
    missed = 1 - np.mean([*evaluation.hits(dev, ranker, 1).values()])
    assert differences["ranker"]["Hits@1"].startswith(f"{missed:+.1%} [")


@pytest.mark.parametrize(
    ("cells", "right"), [([(0, 1)], True), ([(2, 0), (1, 1)], True), ([(0, 0)], False), ([], False)]
)
def test_one_of_the_candidate_cells_is_right(cells, right):
    table = Table.from_rows(["a", "b"], [["x", "y"]] * 3)
    question = interactions.Question("q-0_0", "who", coordinates=[(0, 1), (1, 1)])
    interaction = interactions.interaction_from_table(table, "q-0", [question])
    predicted = Prediction("q-0_0", tuple(cells))
    assert _task().is_right(interaction, interaction.questions[0], predicted) is right
