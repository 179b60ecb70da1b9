"""Configuration files by path, and by name wherever the command runs."""

import types

import pytest

from mate_tf.cli import config_files
from mate_tf.errors import InputError


def test_a_file_of_the_user_comes_first(tmp_path, monkeypatch, project):
    monkeypatch.chdir(tmp_path)
    for name in ("sqa.yaml", "configs/sqa.yaml"):
        assert config_files.find_config(name) == str(project / "configs" / "sqa.yaml")
    (tmp_path / "sqa.yaml").touch()
    assert config_files.find_config("sqa.yaml") == "sqa.yaml"
    for name in ("none.yaml", "elsewhere/sqa.yaml"):
        with pytest.raises(InputError, match=f"--config_file={name}: no such file"):
            config_files.find_config(name)


@pytest.mark.parametrize(
    ("text", "name"),
    [("task: {name: Sqa}", "SQA"), ("task: {}", ""), ("- task", ""), ("a: [", ""), ("\xff", "")],
)
def test_name_of_the_task_in_a_file(tmp_path, text, name):
    path = tmp_path / "x.yaml"
    path.write_bytes(text.encode("latin-1"))
    flags = types.SimpleNamespace(task=None, config_file=str(path))
    assert config_files.task_name(flags) == name
    other = tmp_path / "other.yaml"
    other.write_text("base: x.yaml\ntask: {init_exclude: pooler}")
    flags.config_file = str(other)
    assert config_files.task_name(flags) == name
    flags.task = "wtq"
    assert config_files.task_name(flags) == "WTQ"
