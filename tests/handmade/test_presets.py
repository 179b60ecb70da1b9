"""The models that come with the package: size, cards, and one question of each kind."""

import json
import subprocess
import sys

import pytest

MOST_BYTES = 100e6
ATHLETES = """\
name,country,sport,age,medals
Ann Lee,Switzerland,skiing,24,3
Bob Stone,Austria,skiing,31,5
Carla Rossi,Italy,luge,28,2
Dieter Maier,Germany,luge,35,4
Eva Novak,Slovenia,skiing,22,1
Finn Berg,Norway,biathlon,27,6
Greta Olsen,Norway,biathlon,30,2
"""
ASKED = {
    "mini": {
        "how old is Carla Rossi?": "28",
        "which athlete has the most medals?": "Finn Berg",
        "how many athletes are from Norway?": "2",
        "what is the total of medals?": "23",
    },
    "mini-conversation": {
        "which athletes are from norway?": "Finn Berg, Greta Olsen",
        "which of them has more medals?": "Finn Berg",
        "how old is he?": "27",
    },
}
"""Preset -> question -> answer, in turn."""


@pytest.fixture(scope="module")
def models(project):
    return project / "models"


def test_all_are_asked(models):
    assert {path.name for path in models.iterdir() if path.is_dir()} == set(ASKED)


def test_size(models):
    sizes = {path: path.stat().st_size for path in models.rglob("*") if path.is_file()}
    assert sum(sizes.values()) < MOST_BYTES


@pytest.mark.parametrize("name", ASKED)
def test_card(models, name):
    """It says what the model was trained on, for how long, its scores and limits, and a command."""
    text = (models / name / "README.md").read_text(encoding="utf-8")
    for words in ("| trained for |", "licence", "95 % interval", "## Limits", "mate-tf"):
        assert words in text
    assert f"[{name}]({name}/README.md)" in (models / "README.md").read_text()


@pytest.mark.parametrize(("name", "asked"), ASKED.items(), ids=list(ASKED))
def test_from_a_plain_installation(project, tmp_path, name, asked):
    """As a user asks it; without TensorFlow it takes seconds."""
    (tmp_path / "athletes.csv").write_text(ATHLETES)
    command = [sys.executable, project / "run_task_main.py", "ask", "athletes.csv", *asked]
    done = subprocess.run(
        [*command, f"--init_checkpoint={name}", "--format=json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    answers = json.loads(done.stdout)
    assert {each["question"]: each["text"] for each in answers} == asked
    assert all(each["answerable"] for each in answers)
