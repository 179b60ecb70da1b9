"""The Dockerfile: its instructions, what it copies and runs; where docker is at hand, its image."""

import json
import pathlib
import re
import shlex
import shutil
import subprocess
import time
import tomllib
import urllib.request

import pytest

from mate_tf.cli import flags, main

PROJECT = pathlib.Path(__file__).resolve().parents[2]
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
    assert copied == folders | read_files | {"setup.py", "pyproject.toml"}


def test_its_command(instructions):
    """The program has the mode and the flags; the checked port is the one that it serves."""
    found = dict(instructions)
    assert json.loads(found["ENTRYPOINT"]) == ["mate-tf"]
    given = main.parse(["mate-tf", *json.loads(found["CMD"])])
    assert given.mode == "serve"
    assert given.host == "0.0.0.0"
    assert str(given.port) == found["EXPOSE"]
    assert f"127.0.0.1:{given.port}/healthz" in found["HEALTHCHECK"]
    assert "[serve]" in next(rest for name, rest in instructions if "pip install" in rest)
    flags.FLAGS.unparse_flags()


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
        end = time.monotonic() + 120
        while True:
            try:
                with urllib.request.urlopen(f"http://{port}/healthz", timeout=5) as response:
                    assert response.status == 200
                    break
            except OSError:
                assert time.monotonic() < end
                time.sleep(1)
    finally:
        subprocess.run(["docker", "stop", started], check=True, timeout=60)
