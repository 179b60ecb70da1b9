"""Modes predict and predict_and_evaluate: files, and scores of model and baselines."""

import functools
import json
import operator
import pathlib
import shutil
import types

import pytest

from mate_tf.cli import scores
from mate_tf.data import records
from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.data.records.create_data import interactions_of_examples, interactions_path
from mate_tf.evaluation import metrics, order, predictions
from mate_tf.evaluation.predictions import Prediction
from mate_tf.serving.answer import Answer, AnswerCell
from mate_tf.tables.table import Table
from mate_tf.tasks.table import TableTask
from mate_tf.training import trainer

from .. import graphs


def _interactions(prefix, classes):
    table = Table.from_rows(["A"], [["3"], ["4"]])
    return [
        interaction_from_table(
            table, f"{prefix}{i}-0", [Question(f"{prefix}{i}-0_0", "is it?", class_index=c)]
        )
        for i, c in enumerate(classes)
    ]


@pytest.fixture
def job(tmp_path, monkeypatch):
    """A model that says 1 to everything and adds up the first column."""
    splits = {"train": [0, 0, 1], "dev": [1, 0, 1, 1], "test": [0, 1], "small": [1]}
    for split, classes in splits.items():
        path = interactions_path(str(tmp_path), split)
        name = "test" if split == "small" else split
        records.write_interactions(_interactions(name, classes), path)
    answers = {
        split: [
            Prediction(f"{split}{i}-0_0", ((0, 0), (1, 0)), aggregation="SUM", class_index=1)
            for i in range(len(splits[split]))
        ]
        for split in ("dev", "test")
    }
    monkeypatch.setattr(scores, "predict", lambda job: answers)
    task = types.SimpleNamespace(
        splits=("train", "dev", "test"),
        subsets={"small": "test"},
        sequential=False,
        baselines=("majority class",),
        measure=lambda interactions, predicted: {
            "classes": metrics.classification_metrics(interactions, predicted)
        },
        compare=lambda interactions, systems: {},
        warnings=lambda interactions, predicted: [f"{len(predicted)} answers by a test's model"],
        task_config=types.SimpleNamespace(model=types.SimpleNamespace(num_aggregation_labels=4)),
    )
    task.write_answers = functools.partial(TableTask.write_answers, task)
    task.task_config.init_checkpoint = "google/tapas-base"
    experiment = types.SimpleNamespace(task=task.task_config)
    return types.SimpleNamespace(
        task=task,
        experiment=experiment,
        output_dir=str(tmp_path),
        model_dir=str(tmp_path),
        calibrate=False,
        perturb=(),
    )


def test_scores_beside_a_baseline_that_learns(job, tmp_path, capsys):
    results = scores.predict_and_evaluate(job)
    accuracies = {
        split: {name: values["accuracy"] for name, values in each["classes"].items()}
        for split, each in results.items()
    }
    assert accuracies == {
        "dev": {"model": 0.75, "majority class": 0.25},
        "test": {"model": 0.5, "majority class": 0.5},
        "small": {"model": 1.0, "majority class": 0.0},
    }
    printed = capsys.readouterr().out
    assert "majority class" in printed
    assert "warning | dev: 4 answers by a test's model\n" in printed
    of = {"name": "google/tapas-base", "step": None}
    assert json.loads((tmp_path / "metrics.json").read_text()) == results | {"checkpoint": of}
    predicted = json.loads((tmp_path / "predicted.json").read_text())
    assert predicted["checkpoint"] == of
    assert "test.answers.tsv" in predicted["files"]


def test_answers_in_the_submission_format(job, tmp_path):
    scores.predict_and_evaluate(job)
    assert (tmp_path / "test.answers.tsv").read_text() == "test0\t7.0\ntest1\t7.0\n"
    job.experiment.task.model.num_aggregation_labels = 0
    (tmp_path / "test.answers.tsv").unlink()
    scores.predict_and_evaluate(job)
    assert not (tmp_path / "test.answers.tsv").exists()


def test_writes_every_split_but_train(command, trained_copy, created, monkeypatch):
    """With one model for all of them."""
    load, loaded = trainer.load_model, []
    monkeypatch.setattr(trainer, "load_model", lambda *args: loaded.append(args) or load(*args))
    with graphs.avoided():
        output = command("--mode=predict", *trained_copy)
    for split in ("dev", "test"):
        assert f"/{split}.tsv, .json" in output
    assert len(loaded) == 1
    model_dir = trained_copy[-1].partition("=")[2]
    report = json.loads((created / "tf_examples" / "dev.report.json").read_text())
    for read in (predictions.read_tsv, predictions.read_json):
        ending = read.__name__.partition("_")[2]
        found = read(f"{model_dir}/dev.{ending}")
        assert len(found) == report["examples"]


def test_whole_tables(command, trained_copy, created, monkeypatch):
    """Predictions are the answers of `ask` to every question."""

    class Asks:
        class_names = ()

        def with_calibration(self, calibration):
            assert calibration is None
            return self

        def ask_batch(self, pairs, previous):
            cell = AnswerCell(0, 0, "x", 0.5)
            return [Answer((cell,), "NONE", None, 0.5, "x") for _ in pairs]

    monkeypatch.setattr(scores, "_predictor", lambda job: Asks())
    command("--mode=predict", *trained_copy, "--whole_tables")
    model_dir = trained_copy[-1].partition("=")[2]
    for split in ("dev", "test"):
        interactions = list(records.read_interactions(interactions_path(str(created), split)))
        found = predictions.read_json(f"{model_dir}/{split}.json")
        assert len(found) == sum(len(each.questions) for each in interactions)
        assert {each.coordinates for each in found} == {((0, 0),)}


def test_whole_tables_of_other_modes(refused, trained):
    message = refused("--mode=eval", *trained, "--whole_tables")
    assert message == "--whole_tables is for --mode=predict, predict_and_evaluate"


@pytest.mark.parametrize("kind", order.KINDS)
def test_shuffled_tables(command, trained_copy, created, monkeypatch, kind):
    """Every other answer is right in any order; the others are the first cell in any order."""

    def run(path, sequential):
        given = records.read_interactions(interactions_of_examples(path))
        questions = [question for each in given for question in each.questions]
        for number, question in enumerate(questions):
            cells = metrics.gold_cells(question) if number % 2 else {(0, 0)}
            yield Prediction(question.id, tuple(sorted(cells)))

    monkeypatch.setattr(scores, "_whole", lambda job: run)
    flags = (*trained_copy, "--whole_tables", "--num_processes=1", f"--perturb={kind}")
    output = command("--mode=predict_and_evaluate", *flags)
    model_dir = trained_copy[-1].partition("=")[2]
    metrics_file = json.loads(pathlib.Path(model_dir, "metrics.json").read_text())
    for split in ("dev", "test"):
        given = list(records.read_interactions(interactions_path(str(created), split)))
        _, orders = order.shuffled(given, kind, seed=0)
        moved = [place[0] != 0 for place in orders.values()][::2]
        name = f"{kind} shuffled"
        changed = metrics_file[split]["order"][name]["answers changed"]
        assert changed == pytest.approx(sum(moved) / len(orders))
        assert any(moved)
        files = [f"{model_dir}/{split}{end}.json" for end in ("", f"_{kind}_shuffled")]
        before, after = (predictions.read_json(file) for file in files)
        assert [each.question_id for each in before] == [each.question_id for each in after]
        assert sum(map(operator.ne, before, after)) == sum(moved)
        accuracies = {
            each: value["all"][0] for each, value in metrics_file[split]["question type"].items()
        }
        assert 0.5 <= accuracies["model"] < 1
        assert name in accuracies
    (line,) = {line for line in output.splitlines() if line.startswith("order ")}
    assert line.split() == ["order", kind, "shuffled"]


@pytest.mark.parametrize("given", ["cells", "rows,rows", "rows,"])
def test_what_cannot_be_shuffled(refused, trained, given):
    message = refused("--mode=predict_and_evaluate", *trained, f"--perturb={given}")
    assert message == f"--perturb={given}: expected rows or columns, or both, separated by a comma"


def test_tasks_without_tables_shuffle_none(refused, tmp_path):
    flags = ("--task=RTE", "--perturb=rows", f"--model_dir={tmp_path}")
    message = refused("--mode=predict_and_evaluate", *flags)
    assert message == "task RTE does not read tables, so it has no --perturb"


def test_truncated_examples(refused, trained, created, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(created, copy)
    path = copy / "tf_examples" / "dev.tfrecord"
    path.write_bytes(path.read_bytes()[:-50])
    for mode in ("predict", "eval"):
        message = refused(f"--mode={mode}", *trained, f"--output_dir={copy}")
        assert message.startswith(f"{path}: damaged at record ")


def test_export_to_a_folder_of_something_else(refused, trained, tmp_path):
    (tmp_path / "precious").write_text("")
    message = refused("--mode=export", *trained, f"--export_dir={tmp_path}")
    assert message.startswith(f"{tmp_path}: exists and is not a SavedModel")
    assert (tmp_path / "precious").exists()
