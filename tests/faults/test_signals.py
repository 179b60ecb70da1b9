"""Every mode ends by a signal with one line, the shell's exit code and no child process.

    pytest -s -m faults tests/faults/test_signals.py

A mode of a small model runs in a process of its own. SIGINT, SIGTERM or SIGHUP goes to its process
group, as from a terminal, after a time that --seed draws.
"""

import os
import random
import signal
import socket
import subprocess
import sys
import time

import psutil
import pytest

EXIT_CODES = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}
LONG = "task: {generation: {num_train_tables: 20000}}\ntrainer: {train_steps: 100000}\n"
MODES = (
    *("create_data", "train", "eval", "predict", "predict_and_evaluate"),
    *("export", "analyze", "profile", "ask", "demo"),
)
TALKATIVE = ("create_data", "demo")
"""Modes that are not done before the longest time; the others may be, and then say nothing."""


@pytest.fixture
def command(project, tmp_path):
    """command(mode, trained): a command that runs long, or as long as the mode does. `trained` is
    the output folder of configs/quickstart.yaml, or has such a model and its export."""

    def of(mode, trained):
        program = [sys.executable, str(project / "run_task_main.py"), f"--mode={mode}"]
        if mode in ("ask", "demo"):
            table = tmp_path / "table.csv"
            table.write_text("name,age\n" + "ann,30\n" * 200, encoding="utf-8")
            asked = ["--question=who is 30?"] * 1000
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = probe.getsockname()[1]
            own = [f"--table={table}", *asked] if mode == "ask" else [f"--port={port}"]
            return [*program, f"--export_dir={trained}/model/export", *own]
        if mode == "profile":
            return [*program, "--task=SQA", "--lengths=1024,2048", f"--output_dir={tmp_path}"]
        written = [f"--export_dir={tmp_path}/export"] if mode == "export" else []
        if mode in ("create_data", "train"):
            longer = tmp_path / "longer.yaml"
            longer.write_text(LONG, encoding="utf-8")
            written = [f"--params_override={longer}", f"--model_dir={tmp_path}/model"]
            trained = tmp_path if mode == "create_data" else trained
        config = f"--config_file={project / 'configs' / 'quickstart.yaml'}"
        return [*program, config, f"--output_dir={trained}", *written]

    return of


def interrupt(command: list[str], name: str, after: float) -> dict:
    """Starts a command, sends it a signal (a key of EXIT_CODES) after some seconds, awaits its end.
    Returns seconds: from the signal to the end; 0 if it had ended before; exit_code: as a shell
    gives it; lines: what it said on standard error from its own program or as a stack trace;
    children: number of child processes that are left."""
    process = psutil.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # In the background of a shell SIGINT is ignored, under nohup SIGHUP; programs keep that.
        preexec_fn=lambda: signal.signal(getattr(signal, name), signal.SIG_DFL),
    )
    time.sleep(after)
    children, seconds = [], 0.0
    if process.poll() is None:
        children = process.children(recursive=True)
        start = time.perf_counter()
        os.killpg(process.pid, getattr(signal, name))
        said = process.stderr.read()
        code = process.wait()
        seconds = time.perf_counter() - start
    else:
        said, code = process.stderr.read(), process.returncode
    process.stderr.close()
    _, left = psutil.wait_procs(children, timeout=2)
    lines = [
        line
        for line in said.decode(errors="replace").splitlines()
        if line.startswith(("run_task_main.py:", "Traceback", "KeyboardInterrupt"))
    ]
    for child in left:
        child.kill()
    # A signal while Python unloads a program that is done ends it without a handler.
    code = code if code >= 0 else 128 - code
    return {"seconds": seconds, "exit_code": code, "lines": lines, "children": len(left)}


def check(mode, name, found):
    assert found["children"] == 0, found
    if found["seconds"]:
        assert found["exit_code"] == EXIT_CODES[name], found
        assert [line for line in found["lines"] if "interrupted" in line] == found["lines"]
        assert len(found["lines"]) == 1 or mode not in TALKATIVE, found
    else:
        assert found["exit_code"] == 0, found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "name"),
    [("create_data", "SIGINT"), ("profile", "SIGTERM"), ("ask", "SIGHUP"), ("demo", "SIGINT")],
)
def test_some_modes(command, trained_model, tmp_path, mode, name):
    trained = tmp_path / "trained"
    trained.mkdir()
    (trained / "model").symlink_to(trained_model)
    # The longest time is after TensorFlow's import, on most machines.
    after = random.uniform(0.2, 20)
    check(mode, name, interrupt(command(mode, trained), name, after))


@pytest.mark.faults
@pytest.mark.parametrize("name", EXIT_CODES)
@pytest.mark.parametrize("mode", MODES)
def test_every_mode(command, quickstart_model, mode, name):
    """Within two seconds, of the model that README.md's first command trains."""
    if mode == "demo":
        pytest.importorskip("gradio", reason="the page needs the extra 'demo'")
    after = random.uniform(0.2, 25)
    found = interrupt(command(mode, quickstart_model.parent), name, after)
    print(f"{mode}, {name} after {after:.1f} s: {found['seconds']:.2f} s")
    check(mode, name, found)
    assert found["seconds"] < 2
