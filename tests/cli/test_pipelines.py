"""Tasks of several models are found by their name, by a file, or by what is exported."""

import sys
import types

import pytest

from mate_tf.cli import pipelines

POINTR = pipelines.PIPELINES["POINTR"]


def flags(**given):
    return types.SimpleNamespace(
        **{"task": None, "config_file": None, "mode": "train", "export_dir": None} | given
    )


@pytest.mark.parametrize("task", ["POINTR", "pointr"])
def test_by_task(task):
    assert pipelines.find(flags(task=task)) is POINTR
    assert pipelines.find(flags(task="HYBRIDQA")) is None
    assert pipelines.find(flags()) is None


def test_by_configuration(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("task: {name: pointr}")
    assert pipelines.find(flags(config_file=str(path))) is POINTR
    assert pipelines.find(flags(config_file="pointr.yaml")) is POINTR  # in the package
    path.write_text("task: [")  # what is wrong is told where all of it is read
    assert pipelines.find(flags(config_file=str(path))) is None


def test_by_what_is_exported(tmp_path):
    asking = flags(mode="ask", export_dir=str(tmp_path))
    assert pipelines.find(asking) is None
    (tmp_path / "point").mkdir()
    (tmp_path / "point" / "saved_model.pb").touch()
    assert pipelines.find(asking) is POINTR
    assert pipelines.find(flags(mode="export", export_dir=str(tmp_path))) is None


def test_modules_of_pipelines_run_modes(monkeypatch):
    for pipeline in pipelines.PIPELINES.values():
        monkeypatch.delitem(sys.modules, pipeline.module, raising=False)
        assert callable(__import__(pipeline.module, fromlist=["main"]).main)
