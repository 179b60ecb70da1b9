"""--calibrate: what it writes, prints and refuses, and what ask says afterwards."""

import json
import pathlib

import pytest

from mate_tf.cli import export, modes, scores
from mate_tf.data import records
from mate_tf.data.records.create_data import interactions_path
from mate_tf.errors import InputError
from mate_tf.evaluation import associations, calibration
from mate_tf.serving import export as saved_model

from .. import graphs

pytestmark = pytest.mark.usefixtures("loaded_once")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("name,age\nAnn,30\nBob,41\nCy,52\n")
    return path


@pytest.fixture
def without_graphs_now(trained_copy):
    """Not those of the training before, which others read."""
    with graphs.avoided():
        yield


@pytest.mark.usefixtures("without_graphs_now")
def test_evaluate_export_and_ask(command, trained_copy, table, created, monkeypatch):
    """The scores have the errors, the export has the calibration, ask goes by its threshold."""
    monkeypatch.setattr(associations, "MIN_COUNT", 2)
    model_dir = pathlib.Path(trained_copy[-1].partition("=")[2])
    output = command("--mode=predict_and_evaluate", *trained_copy, "--calibrate")
    path = model_dir / calibration.FILE
    assert f"calibrated | {path}" in output
    measured = json.loads(path.read_text())["measured"]
    assert measured["questions about other tables"] > 0
    for row in ("calibration error before", "calibration error after", "AUROC of the confidence"):
        assert 0 <= measured[row] <= 1
        assert f"\n{row} " in output
    scores = json.loads((model_dir / "metrics.json").read_text())
    assert scores["dev"]["confidence"]["model"] == measured
    assert "confidence" not in scores["test"]
    fitted = calibration.read(path)
    assert fitted.weights == "ckpt-2"
    train = records.read_interactions(interactions_path(str(created), "train"))
    assert fitted.associations == associations.count(train)
    assert fitted.associations
    command("--mode=export", *trained_copy)
    extras = pathlib.Path(saved_model.extras_dir(str(model_dir / "export")))
    assert calibration.read(extras / calibration.FILE) == fitted

    ask = ("--mode=ask", *trained_copy, f"--table={table}", "--question=what is the average age?")
    for threshold in (0.0, 1.0):
        changed = json.loads((extras / calibration.FILE).read_text()) | {"threshold": threshold}
        (extras / calibration.FILE).write_text(json.dumps(changed))
        output = command(*ask)
        answer = json.loads(next(line for line in output.splitlines() if line.startswith("{")))
        assert 0 < answer["confidence"] < 1
        assert answer["answerable"] == (threshold == 0)
        guess = f"no answer found; best guess: {answer['text']}, confidence "
        assert (guess in output) == (threshold == 1)
        assert "note: this model cannot average: it picks cells" in output
    lines = command(*ask, "--format=table").splitlines()
    assert lines[2].startswith(guess)


def test_run_goes_on_without(monkeypatch, capsys):
    """Without --calibrate, data that do not allow it do not end a run."""

    def refuse(job):
        raise InputError("all tables share column names")

    monkeypatch.setattr(scores, "calibrate", refuse)
    modes._calibrate_if_possible(None)
    assert capsys.readouterr().out == "\nnot calibrated | all tables share column names\n"


def test_export_fits_first(monkeypatch, command, trained_copy):
    done = []
    monkeypatch.setattr(scores, "calibrate", lambda job: done.append("fitted"))
    monkeypatch.setattr(export, "export", lambda job, reading: done.append("exported"))
    command("--mode=export", *trained_copy, "--calibrate")
    assert done == ["fitted", "exported"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--mode=train", "--config_file=configs/quickstart.yaml"], "is for --mode=run, predict_"),
        (["--mode=export"], "needs --task or --config_file, with its dev questions"),
        (["--mode=export", "--task=POINTR"], "task POINTR has two models"),
    ],
)
def test_refused(refused, arguments, words):
    assert f"--calibrate {words}".replace("--calibrate task", "--calibrate: task") in refused(
        *arguments, "--calibrate"
    )


def test_tasks_without_tables(refused, tmp_path):
    """Said before a model is loaded."""
    model_dir = tmp_path / "model"
    model_dir.mkdir()
    flags = ("--mode=export", "--task=SST-2", "--calibrate", f"--output_dir={tmp_path}")
    assert refused(*flags) == "task SST-2 does not read tables, so it has no --calibrate"
