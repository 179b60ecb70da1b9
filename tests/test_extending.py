"""docs/extending.md, done word by word in a copy of the library."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

TINY = {
    "task": {
        "conversion": {"max_seq_length": 48},
        "model": {
            "encoder": {
                "hidden_size": 16,
                "num_hidden_layers": 1,
                "num_attention_heads": 2,
                "intermediate_size": 16,
                "vocab_size": 200,
                "attention": {"distance": 6},
            }
        },
    },
    "trainer": {"train_steps": 2, "validation_interval": 2},
}


@pytest.fixture(scope="module")
def page(project):
    return (project / "docs" / "extending.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def extended(project, page, tmp_path_factory):
    """A copy of the library with what the page says, and data for its task."""
    folder = tmp_path_factory.mktemp("extended")
    for name in ("mate_tf", "tests", "configs", "protos"):
        shutil.copytree(project / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("run_task_main.py", "pyproject.toml", "setup.py", "README.md"):
        shutil.copy(project / name, folder)
    for block in re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        first, code = block.split("\n", 1)
        into = re.fullmatch(r"# (in )?(mate_tf/\S+\.py)", first)
        with open(folder / into[2], "a" if into[1] else "x", encoding="utf-8") as file:
            file.write(code)

    data = folder / "captions"
    data.mkdir()
    (data / "cities.csv").write_text("city,country\nRome,Italy\nParis,France\n", encoding="utf-8")
    (data / "teams.csv").write_text("team,points\nReds,3\nBlues,1\n", encoding="utf-8")
    rows = ["cities.csv,cities of the world,1", "cities.csv,teams by points,0"]
    rows += ["teams.csv,teams by points,1", "teams.csv,cities of the world,0"]
    (data / "train.csv").write_text("\n".join(rows * 20) + "\n", encoding="utf-8")
    (data / "dev.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    words = set(re.findall(r"[a-z0-9]+", (data / "train.csv").read_text().lower()))
    tables = "".join((data / name).read_text() for name in ("cities.csv", "teams.csv"))
    words |= {*re.findall(r"[a-z0-9]+", tables.lower()), ".", ","}
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[EMPTY]"]
    (folder / "vocab.txt").write_text("\n".join([*special, *sorted(words)]) + "\n")
    (folder / "tiny.json").write_text(json.dumps(TINY))
    return folder


@pytest.fixture(scope="module")
def commands(page):
    """The page's commands: the contract test, and the task."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    return [shlex.split(block.replace("\\\n", " "))[1:] for block in blocks]


def run(arguments, folder):
    environment = os.environ | {"PYTHONPATH": str(folder), "TF_CPP_MIN_LOG_LEVEL": "3"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )


def test_the_variant_keeps_the_contract(extended, commands):
    done = run([*commands[0], "-p", "no:cacheprovider"], extended)
    assert done.returncode == 0, done.stdout[-3000:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= 8


def test_the_task_runs_with_the_variant(extended, commands):
    tiny = f"--params_override={extended / 'tiny.json'}"
    done = run([*commands[1], tiny, "--train_batch_size=8", "--test_batch_size=4"], extended)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "created | dev: 4 examples of 4 questions (100.0%)" in done.stdout
    assert "captions" in done.stdout
    assert "majority class" in done.stdout
    assert list((extended / "out" / "captions" / "model").glob("ckpt-2.index"))
    params = (extended / "out" / "captions" / "model" / "params.yaml").read_text()
    assert "name: nearby" in params
    assert "distance: 6" in params


def test_wrong_data_of_the_task_is_refused(extended, commands):
    broken = extended / "broken"
    shutil.copytree(extended / "captions", broken)
    (broken / "train.csv").write_text("cities.csv,cities,maybe\n")
    arguments = [*commands[1], "--mode=create_data", f"--input_dir={broken}", "--output_dir=out/b"]
    done = run(arguments, extended)
    assert done.returncode == 2
    assert done.stderr.strip().splitlines()[-1].endswith("row 1: expected table, caption, 0 or 1")
