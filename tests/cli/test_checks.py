"""What a command is about: configuration files, the task, and the task of two models."""

import types

import pytest

from mate_tf.cli import checks
from mate_tf.errors import InputError
from mate_tf.files.config_files import find_config


def flags(**given):
    return types.SimpleNamespace(
        **{"task": None, "config_file": None, "mode": "train", "export_dir": None} | given
    )


def test_a_file_of_the_user_comes_first(tmp_path, monkeypatch, project):
    monkeypatch.chdir(tmp_path)
    for name in ("sqa.yaml", "configs/sqa.yaml"):
        assert find_config(name) == str(project / "configs" / "sqa.yaml")
    (tmp_path / "sqa.yaml").touch()
    assert find_config("sqa.yaml") == "sqa.yaml"
    for name in ("none.yaml", "elsewhere/sqa.yaml"):
        with pytest.raises(InputError, match=f"--config_file={name}: no such file"):
            find_config(name)


@pytest.mark.parametrize(
    ("text", "name"),
    [("task: {name: Sqa}", "SQA"), ("task: {}", ""), ("- task", ""), ("a: [", ""), ("\xff", "")],
)
def test_name_of_the_task_in_a_file(tmp_path, text, name):
    path = tmp_path / "x.yaml"
    path.write_bytes(text.encode("latin-1"))
    given = flags(config_file=str(path))
    assert checks.task_name(given) == name
    other = tmp_path / "other.yaml"
    other.write_text("base: x.yaml\ntask: {init_exclude: pooler}")
    given.config_file = str(other)
    assert checks.task_name(given) == name
    given.task = "wtq"
    assert checks.task_name(given) == "WTQ"


@pytest.mark.parametrize("task", ["POINTR", "pointr"])
def test_two_models_by_task(task):
    assert checks.is_pointr(flags(task=task))
    assert not checks.is_pointr(flags(task="HYBRIDQA"))
    assert not checks.is_pointr(flags())


def test_two_models_by_configuration(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("task: {name: pointr}")
    assert checks.is_pointr(flags(config_file=str(path)))
    assert checks.is_pointr(flags(config_file="pointr.yaml"))  # in the package
    path.write_text("task: [")  # what is wrong is told where all of it is read
    assert not checks.is_pointr(flags(config_file=str(path)))


@pytest.mark.parametrize("name", ["export_dir", "init_checkpoint"])
def test_two_models_by_their_folder(tmp_path, name):
    asking = flags(mode="ask", **{"export_dir": None, "init_checkpoint": None, name: str(tmp_path)})
    assert not checks.is_pointr(asking)
    (tmp_path / "pointr.json").touch()
    assert checks.is_pointr(asking)
    assert not checks.is_pointr(flags(mode="export", export_dir=str(tmp_path)))
