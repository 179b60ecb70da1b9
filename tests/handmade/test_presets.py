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
    "small": {
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
    "mini-facts": {
        "finn berg has the most medals": "entailed",
        "carla rossi is from italy": "entailed",
        "carla rossi is from norway": "refuted",
        "bob stone has 2 medals": "refuted",
    },
}
"""Preset -> question -> answer, in turn."""

WINNERS = "year,winner,city\n2001,Ann Lee,Basel\n2002,Bob Stone,Bern\n2003,Carla Rossi,Chur\n"
TEXTS = {
    "Ann Lee": "Ann Lee is a Swiss rower . She was born in Zug and studied in Geneva .",
    "Bob Stone": "Bob Stone is a British rower . He was born in Leeds in 1975 .",
    "Carla Rossi": "Carla Rossi is an Italian rower . She was born in Turin and works as a nurse .",
}
ASKED_WITH_TEXTS = {
    "mini-passages": {
        "where was the winner of 2002 born?": "Leeds",
        "in which city did the winner of 2001 study?": "Geneva",
        "what does the winner of 2003 work as?": "nurse",
        "who won in Chur?": "Carla Rossi",
    }
}
"""The same for models that read texts about cells."""


@pytest.fixture(scope="module")
def models(project):
    return project / "models"


def test_all_are_asked(models):
    folders = {path.name for path in models.iterdir() if path.is_dir()}
    assert folders == {*ASKED, *ASKED_WITH_TEXTS}


def test_size(models):
    sizes = {path: path.stat().st_size for path in models.rglob("*") if path.is_file()}
    assert sum(sizes.values()) < MOST_BYTES


@pytest.mark.parametrize("name", [*ASKED, *ASKED_WITH_TEXTS])
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
    answers = answers_of(project, tmp_path, "athletes.csv", *asked, f"--init_checkpoint={name}")
    assert {each["question"]: each["text"] for each in answers} == asked
    assert all(each["answerable"] for each in answers)


@pytest.mark.parametrize(("name", "asked"), ASKED_WITH_TEXTS.items(), ids=list(ASKED_WITH_TEXTS))
def test_texts_from_a_plain_installation(project, tmp_path, name, asked):
    (tmp_path / "winners.csv").write_text(WINNERS)
    (tmp_path / "texts").mkdir()
    for cell, text in TEXTS.items():
        (tmp_path / "texts" / f"{cell}.txt").write_text(text)
    flags = (f"--init_checkpoint={name}", "--passages=texts")
    answers = answers_of(project, tmp_path, "winners.csv", *asked, *flags)
    assert {each["question"]: each["text"] for each in answers} == asked
    assert [each["passage"] for each in answers] == ["Bob Stone", "Ann Lee", "Carla Rossi", None]
    assert all(0 < each["confidence"] < 1 for each in answers)


def answers_of(project, folder, *arguments):
    """What `mate-tf ask` prints as JSON."""
    done = subprocess.run(
        [sys.executable, project / "run_task_main.py", "ask", *arguments, "--format=json"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return json.loads(done.stdout)
