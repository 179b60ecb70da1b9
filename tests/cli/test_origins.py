"""Files of predictions are told apart by the checkpoint that they are of."""

import json

import pytest

from mate_tf.cli import origins
from mate_tf.errors import InputError


@pytest.fixture
def folder(tmp_path):
    """A model folder with scores and predictions of its last checkpoint."""
    for name in ("ckpt-5.index", "ckpt-10.index", "dev.tsv", "RTE.tsv"):
        (tmp_path / name).write_text(name)
    of = origins.checkpoint(str(tmp_path))
    assert of == {"name": "ckpt-10", "step": 10}
    origins.record(str(tmp_path), of, [str(tmp_path / "dev.tsv")])
    origins.record(str(tmp_path), of, [str(tmp_path / "RTE.tsv")])
    (tmp_path / "metrics.json").write_text(json.dumps({"dev": {}, "checkpoint": of}))
    return tmp_path


def check(folder):
    origins.check(str(folder), [str(folder / name) for name in ("dev.tsv", "RTE.tsv")])


def test_all_of_one_checkpoint(folder):
    check(folder)


def test_of_an_initial_checkpoint(tmp_path):
    assert origins.checkpoint(str(tmp_path), "google/tapas") == {
        "name": "google/tapas",
        "step": None,
    }


def test_a_changed_file(folder):
    (folder / "dev.tsv").write_text("of another run")
    with pytest.raises(InputError, match=r"dev.tsv: is not from ckpt-10, whose scores are here"):
        check(folder)


def test_predicted_again_without_scores(folder):
    (folder / "ckpt-15.index").touch()
    of = origins.checkpoint(str(folder))
    origins.record(str(folder), of, [str(folder / "dev.tsv")])
    message = "metrics.json: has the scores of ckpt-10, but the predictions next to it are from "
    message += "ckpt-15"
    with pytest.raises(InputError, match=message):
        check(folder)
    (folder / "metrics.json").write_text(json.dumps({"dev": {}, "checkpoint": of}))
    with pytest.raises(InputError, match=r"RTE.tsv: is not from ckpt-15"):  # a killed run's
        check(folder)


def test_no_record(folder):
    (folder / origins.FILE).unlink()
    with pytest.raises(InputError, match="are from an unknown checkpoint"):
        check(folder)
    (folder / "metrics.json").write_text(json.dumps({"dev": {}}))
    check(folder)
