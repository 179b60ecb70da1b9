"""The Dockerfile: its instructions, what it copies and runs; where docker is at hand, its image."""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import time
import tomllib
import urllib.request
import venv

import pandas
import pytest

from mate_tf.cli import flags, main

from .test_server import free_port

PROJECT = pathlib.Path(__file__).resolve().parents[2]
ANSWERS = "requirements-answers.txt"
KNOWN = {
    *("FROM", "WORKDIR", "COPY", "RUN", "USER", "ENV", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT"),
    *("CMD", "ARG", "LABEL", "STOPSIGNAL"),
}


def read(text):
    """Instructions of a Dockerfile, their lines joined: (name, rest) each."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines()
    return [tuple(line.split(None, 1)) for line in joined]


def problems(instructions, folder, ignored):
    """What is wrong with a Dockerfile, as hadolint would say it; [] if nothing is.

    Args:
        instructions: from `read`.
        folder: what it copies from.
        ignored: text of .dockerignore, which leaves everything out but some names.
    """
    found, stages, user, kept = [], set(), None, re.findall(r"^!(\S+)", ignored, re.MULTILINE)
    if not instructions or instructions[0][0] not in ("FROM", "ARG"):
        found.append("does not begin with FROM")
    for name, rest in instructions:
        if name not in KNOWN:
            found.append(f"{name}: unknown")
        words = shlex.split(rest)
        if name == "FROM":
            image, _, tag = words[0].partition(":")
            if not tag or tag == "latest":
                found.append(f"FROM {image}: no version")
            stages.update(words[2:3])
            user = None
        elif name == "COPY":
            flag = words[0].partition("=")
            if flag[0] == "--from":
                if flag[2] not in stages:
                    found.append(f"COPY: no stage {flag[2]}")
                continue
            for source in words[:-1]:
                if not (folder / source).exists() or source not in kept:
                    found.append(f"COPY {source}: is not there")
        elif name == "RUN":
            for command in re.split(r"&&|;|\|", rest):
                if "pip " in command and "--no-cache-dir" not in command:
                    found.append(f"RUN{command}: --no-cache-dir")
                if re.search(r"\b(sudo|curl|wget|apt)\b|chmod 777|ADD ", command):
                    found.append(f"RUN{command}")
        elif name in ("CMD", "ENTRYPOINT"):
            try:
                assert all(isinstance(word, str) for word in json.loads(rest))
            except (ValueError, AssertionError):
                found.append(f"{name}: not a list of JSON, so that signals go to a shell")
        elif name == "USER":
            user = words[0]
    if user in (None, "0", "root"):
        found.append("runs as root")
    return found


@pytest.fixture(scope="module")
def instructions():
    return read((PROJECT / "Dockerfile").read_text())


@pytest.fixture(scope="module")
def ignored():
    return (PROJECT / ".dockerignore").read_text()


def test_its_instructions(instructions, ignored):
    assert problems(instructions, PROJECT, ignored) == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("python:3.11-slim\n", "python\n", "FROM python: no version"),
        ("COPY configs configs", "COPY config config", "COPY config: is not there"),
        ("COPY configs configs", "COPY tests tests", "COPY tests: is not there"),
        ("--from=build", "--from=other", "COPY: no stage other"),
        ("USER 10001", "USER root", "runs as root"),
        ("USER 10001\n", "", "runs as root"),
        ("WORKDIR /build", "WORK /build", "WORK: unknown"),
        ('CMD ["serve", "--host=0.0.0.0"]', "CMD serve", "CMD: not a list of JSON"),
        ("pip install --no-cache-dir", "pip install", "--no-cache-dir"),
        ("FROM python:3.11-slim AS build\n", "", "does not begin with FROM"),
    ],
)
def test_problems_are_found(ignored, old, new, problem):
    text = (PROJECT / "Dockerfile").read_text()
    assert old in text
    found = problems(read(text.replace(old, new)), PROJECT, ignored)
    assert any(problem in each for each in found), found


def test_what_it_copies_is_what_the_wheel_needs(instructions):
    """All packages and files that setup.py and pyproject.toml name, and these two."""
    copied = {
        source
        for name, rest in instructions
        if name == "COPY" and "--from" not in rest
        for source in rest.split()[:-1]
    }
    setup = (PROJECT / "setup.py").read_text()
    folders = {"mate_tf", *re.findall(r'"mate_tf\.\w+": "(\w+)"', setup)}
    metadata = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    read_files = {metadata["readme"]}
    assert copied == folders | read_files | {"setup.py", "pyproject.toml", ANSWERS}


def test_its_command(instructions):
    """The program has the mode and the flags; the checked port is the one that it serves."""
    found = dict(instructions)
    assert json.loads(found["ENTRYPOINT"]) == ["mate-tf"]
    given = main.parse(["mate-tf", *json.loads(found["CMD"])])
    assert given.mode == "serve"
    assert given.host == "0.0.0.0"
    assert str(given.port) == found["EXPOSE"]
    assert f"127.0.0.1:{given.port}/healthz" in found["HEALTHCHECK"]
    flags.FLAGS.unparse_flags()


def test_the_packages_of_answers():
    """They are requirements of the package and its extra serve, and all but those of training."""
    metadata = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    lines = (PROJECT / ANSWERS).read_text().splitlines()
    listed = [line for line in lines if not line.startswith("#")]
    serve = metadata["optional-dependencies"]["serve"]
    assert listed[-len(serve) :] == serve
    own, required = listed[: -len(serve)], metadata["dependencies"]
    assert set(own) <= set(required)
    others = {re.match(r"[\w.-]+", each)[0] for each in required if each not in own}
    assert others == {
        *("tensorflow", "tf-models-official", "tensorflow-text", "tf_keras"),
        *("tensorflow-datasets", "ml_dtypes", "scipy", "setuptools", "tqdm"),
    }


@pytest.fixture(scope="module")
def environment(instructions, tmp_path_factory):
    """Variables of a new environment, into which the pip lines of the Dockerfile install."""
    folder = tmp_path_factory.mktemp("image")
    venv.create(folder / "env", with_pip=True)
    programs, wheels = folder / "env" / "bin", folder / "wheels"
    wheels.mkdir()
    shutil.copy(PROJECT / ANSWERS, wheels)
    for name in ("setup.py", "pyproject.toml", "README.md"):
        shutil.copy(PROJECT / name, folder)
    for name in ("configs", "models", "mate_tf"):
        shutil.copytree(PROJECT / name, folder / name)
    found = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    found["PATH"] = f"{programs}{os.pathsep}{found['PATH']}"
    for name, rest in instructions:
        for line in rest.split("&&") if name == "RUN" else ():
            if line.strip().startswith("pip "):
                line = line.replace("/wheels", str(wheels))
                subprocess.run(line, shell=True, check=True, cwd=folder, env=found)
    return found


@pytest.mark.slow
@pytest.mark.environment
def test_what_it_installs_answers(environment, tmp_path):
    """A table in each format, over HTTP too; what needs TensorFlow is refused in one line."""

    def run(*arguments):
        command = [program, *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, env=environment
        )

    program = shutil.which("mate-tf", path=environment["PATH"])
    assert not list(pathlib.Path(program).parents[1].glob("lib/*/site-packages/tensorflow*"))
    columns = {"name": ["Ann", "Bob"], "age": [30, 41]}
    frame = pandas.DataFrame(columns)
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_json(tmp_path / "a.json", orient="records")
    frame.to_html(tmp_path / "a.html", index=False)
    for ending in ("csv", "xlsx", "parquet", "json", "html"):
        done = run("ask", f"a.{ending}", "How old is Bob?", "--format=json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["text"] == "41"
    for arguments, needed in (
        (
            ("ask", "a.csv", "How old is Bob?", "--attention=linformer"),
            "needs TensorFlow with what",
        ),
        (("train", "--config_file=configs/quickstart.yaml"), "needs "),
    ):
        done = run(*arguments)
        assert done.returncode == 2
        assert needed in done.stderr.splitlines()[-1]
        assert "Traceback" not in done.stderr

    port = free_port()
    service = subprocess.Popen([program, "serve", f"--port={port}"], cwd=tmp_path, env=environment)
    try:
        wait_for(f"127.0.0.1:{port}")
        asked = {"table": columns, "question": "How old is Bob?"}
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/v1/ask",
            json.dumps(asked).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            assert json.load(response)["text"] == "41"
    finally:
        service.terminate()
        assert service.wait(60) in (0, 143)


def wait_for(address):
    """Waits until a service is healthy, for two minutes at most."""
    end = time.monotonic() + 120
    while True:
        try:
            with urllib.request.urlopen(f"http://{address}/healthz", timeout=5) as response:
                assert response.status == 200
                return
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.5)


def has_docker():
    if not shutil.which("docker"):
        return False
    return not subprocess.run(["docker", "info"], capture_output=True, timeout=30).returncode


@pytest.mark.slow
@pytest.mark.environment
def test_its_image():
    if not has_docker():
        pytest.skip("needs docker with a running daemon")
    name = "mate-tf-test"
    subprocess.run(["docker", "build", "-t", name, PROJECT], check=True, timeout=1800)
    command = ["docker", "run", "--rm", "-d", "-p", "127.0.0.1::7860", name]
    started = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    try:
        port = subprocess.run(
            ["docker", "port", started, "7860"], check=True, capture_output=True, text=True
        ).stdout.strip()
        wait_for(port)
    finally:
        subprocess.run(["docker", "stop", started], check=True, timeout=60)
