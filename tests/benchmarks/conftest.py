"""The scripts in benchmarks/ as modules, and their jobs within this process."""

import contextlib
import importlib.util
import os
import subprocess

import pytest

from ..cli.conftest import invoke


@pytest.fixture(scope="session")
def load_benchmark(project):
    """load_benchmark(name): a new module of benchmarks/<name>.py."""

    def load(name):
        path = project / "benchmarks" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(f"benchmark_{name}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture
def jobs_in_this_process(monkeypatch, project):
    """Runs what a benchmark starts as `run_task_main.py` here, which spares TensorFlow's import.

    Other commands stay processes. Environment variables of a job have no effect.
    """
    run = subprocess.run
    program = str(project / "run_task_main.py")

    def run_here(command, *, check=False, stdout=None, stderr=None, **others):
        if program not in command:
            return run(command, check=check, stdout=stdout, stderr=stderr, **others)
        with contextlib.ExitStack() as stack:
            for stream, redirect in (
                (stdout, contextlib.redirect_stdout),
                (stderr, contextlib.redirect_stderr),
            ):
                if stream == subprocess.DEVNULL:
                    stream = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))
                if stream is not None:
                    stack.enter_context(redirect(stream))
            done = subprocess.CompletedProcess(command, invoke(*command[2:]))
        if check:
            done.check_returncode()
        return done

    monkeypatch.setattr(subprocess, "run", run_here)
