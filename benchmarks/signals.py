"""Time from a signal to the end of the program, in every mode.

    python benchmarks/signals.py

Runs each mode of a small model in a process of its own, sends SIGINT, SIGTERM or SIGHUP to its
process group, as a terminal does, after a time that is drawn by --seed, and waits for the end.
Prints a table and writes JSON and a plot.
"""

import argparse
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import time

import psutil

PROJECT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

EXIT_CODES = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}
LONG = "task: {generation: {num_train_tables: 20000}}\ntrainer: {train_steps: 100000}\n"
MODES = (
    *("create_data", "train", "eval", "predict", "predict_and_evaluate"),
    *("export", "analyze", "profile", "ask", "demo"),
)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config_file", default="configs/quickstart.yaml")
    parser.add_argument("--trained", default="out/quickstart", help="--output_dir of its training")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    parser.add_argument("--signals", nargs="+", choices=EXIT_CODES, default=list(EXIT_CODES))
    parser.add_argument("--longest", type=float, default=25, help="seconds before the signal")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("out/benchmarks"))
    return parser.parse_args()


def command(mode: str, config_file: str, trained: str, folder: pathlib.Path) -> list[str]:
    """Returns a command that runs long, or as long as the mode does.

    Args:
        mode: mode of the command line.
        config_file: the experiment of the model in `trained`.
        trained: output folder of a training, with an export.
        folder: folder for all that is written.
    """
    program = [sys.executable, str(PROJECT / "run_task_main.py"), f"--mode={mode}"]
    if mode in ("ask", "demo"):
        table = folder / "table.csv"
        table.write_text("name,age\n" + "ann,30\n" * 200, encoding="utf-8")
        asked = ["--question=who is 30?"] * 1000
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        own = [f"--table={table}", *asked] if mode == "ask" else [f"--port={port}"]
        return [*program, f"--export_dir={trained}/model/export", *own]
    if mode == "profile":
        return [*program, "--task=SQA", "--lengths=1024,2048", f"--output_dir={folder}"]
    written = [f"--export_dir={folder}/export"] if mode == "export" else []
    if mode in ("create_data", "train"):
        longer = folder / "longer.yaml"
        longer.write_text(LONG, encoding="utf-8")
        written = [f"--params_override={longer}", f"--model_dir={folder}/model"]
        trained = folder if mode == "create_data" else trained
    return [*program, f"--config_file={config_file}", f"--output_dir={trained}", *written]


def interrupt(command: list[str], name: str, after: float) -> dict:
    """Starts a command, sends it a signal, and waits for its end.

    Args:
        command: program and arguments.
        name: a key of EXIT_CODES.
        after: seconds from the start to the signal.

    Returns:
        signal, after: the arguments; seconds: from the signal to the end; 0 if it had ended before;
        exit_code: as a shell gives it; lines: what it said on standard error from its own program
        or as a stack trace; children: number of child processes that are left.
    """
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
    return {
        "signal": name,
        "after": after,
        "seconds": seconds,
        # A signal while Python unloads a program that is done ends it without a handler.
        "exit_code": code if code >= 0 else 128 - code,
        "lines": lines,
        "children": len(left),
    }


def measure(modes, names, config_file: str, trained: str, longest: float, seed: int, folder):
    """Interrupts each mode by each signal; yields results of `interrupt` with the mode."""
    draw = random.Random(seed)
    for mode in modes:
        for name in names:
            own = pathlib.Path(folder) / f"{mode}_{name}"
            own.mkdir(parents=True, exist_ok=True)
            after = draw.uniform(0.2, longest)
            started = command(mode, str(config_file), str(trained), own)
            yield {"mode": mode, **interrupt(started, name, after)}


def plot(results: list[dict], path: pathlib.Path) -> None:
    """Draws the seconds to the end over the seconds before the signal."""
    from mate_tf.analysis.plots import style

    @style.styled
    def draw():
        figure = style.new_figure(6, 4, "From a signal to the end of the program")
        axes = figure.add_subplot()
        for name in EXIT_CODES:
            found = [each for each in results if each["signal"] == name and each["seconds"]]
            after, seconds = ([each[key] for each in found] for key in ("after", "seconds"))
            axes.plot(after, seconds, "o", label=name)
        axes.set_xlabel("from the start to the signal (seconds)")
        axes.set_ylabel("from the signal to the end (seconds)")
        axes.set_ylim(bottom=0)
        axes.legend()
        figure.savefig(path)

    draw()


def main() -> None:
    options = arguments()
    import tempfile

    results = []
    print("mode                  signal    after     end in  exit code  lines  children left")
    with tempfile.TemporaryDirectory() as folder:
        for found in measure(
            *(options.modes, options.signals, options.config_file, options.trained),
            *(options.longest, options.seed, folder),
        ):
            results.append(found)
            times = f"{found['after']:6.1f} s {found['seconds']:7.2f} s"
            counts = f"{found['exit_code']:10} {len(found['lines']):6} {found['children']:14}"
            print(f"{found['mode']:22}{found['signal']:8}{times} {counts}", flush=True)
    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / "signals.json"
    path.write_text(json.dumps(results, indent=2), encoding="utf-8")
    plot(results, path.with_suffix(".png"))
    print(f"wrote | {path}, {path.with_suffix('.png')}")


if __name__ == "__main__":
    main()
