"""Two processes on loopback that train one model; what the command line says of TF_CONFIG."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time

import pytest

from mate_tf.training import trainer

from ..event_files import summaries

pytestmark = pytest.mark.slow

TOGETHER = "--params_override=runtime.distribution_strategy=multi_worker_mirrored"
NO_DROPOUT = (
    "--params_override=task: {model: {sequence_dropout_prob: 0.0,"
    " encoder: {hidden_dropout_prob: 0.0, attention_probs_dropout_prob: 0.0}}}"
)
RATE = "--learning_rate=0.01"


def free_ports(number):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def tf_config(ports, index):
    addresses = [f"127.0.0.1:{port}" for port in ports]
    return json.dumps(
        {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
    )


@pytest.fixture
def arguments(arguments):
    return (*arguments, "--tf_random_seed=3")


@pytest.fixture
def worker(project):
    """worker(ports, index, *arguments): the command line as one of the workers."""
    with contextlib.ExitStack() as stack:

        def start(ports, index, *arguments):
            process = subprocess.Popen(
                [sys.executable, project / "run_task_main.py", TOGETHER, *arguments],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                env=os.environ | {"TF_CONFIG": tf_config(ports, index)},
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        yield start


def said(process, timeout=None):
    """What the program itself says at its end."""
    _, errors = process.communicate(timeout=timeout)
    assert "Traceback" not in errors, errors[-3000:]
    return [line for line in errors.splitlines() if line.startswith("run_task_main.py: ")]


def start_both(worker, *arguments):
    ports = free_ports(2)
    return [worker(ports, index, *arguments) for index in range(2)]


def test_wrong_tf_config(refused, arguments, monkeypatch, tmp_path):
    monkeypatch.setenv("TF_CONFIG", "{")
    assert refused(*arguments, TOGETHER).startswith("TF_CONFIG={: not valid JSON: ")
    monkeypatch.setenv("TF_CONFIG", '{"cluster": {"worker": ["a:1"]}}')
    assert 'has no "task"' in refused(*arguments, TOGETHER)
    monkeypatch.setenv("TF_CONFIG", tf_config([1, 2], 0))
    assert "--mode=run with TF_CONFIG" in refused("--mode=run", *arguments[1:], TOGETHER)
    assert not (tmp_path / "model").exists()


def test_a_worker_that_does_not_come(worker, arguments):
    process = worker(free_ports(2), 0, *arguments, "--params_override=trainer.worker_timeout=5")
    (line,) = said(process)
    assert "TF_CONFIG: the workers 127.0.0.1:" in line
    assert "did not connect" in line
    assert process.returncode == 2


def test_two_workers_train_as_one(worker, command, arguments, tmp_path, files):
    """The same losses with the same batches, whose lengths differ from step to step."""
    options = (
        NO_DROPOUT,
        RATE,
        "--num_train_steps=20",
        "--params_override=task: {train_data: {buckets: [64, 96], max_batch_tokens: 400}}",
        "--params_override=trainer: {checkpoint_interval: 10, validation_interval: 20}",
    )
    both = start_both(worker, *arguments, *options)
    assert [said(process) for process in both] == [[], []]
    assert [process.returncode for process in both] == [0, 0]
    alone = tmp_path / "alone"
    command(*arguments, *options, f"--model_dir={alone}")
    curves = [summaries(folder / "train") for folder in (tmp_path / "model", alone)]
    two, one = (dict(curve["training_loss"]) for curve in curves)
    assert list(one) == list(range(1, 21))
    print("largest relative difference", max(abs(two[step] / one[step] - 1) for step in one))
    assert two == pytest.approx(one, rel=1e-3)
    two, one = (
        dict(summaries(folder / "validation")["validation_loss"])
        for folder in (tmp_path / "model", alone)
    )
    assert two == pytest.approx(one, rel=1e-3)

    def kinds(folder):
        return [name for name in files(folder) if "events" not in name]

    assert kinds(tmp_path / "model") == kinds(alone)


def last_saved(model_dir):
    """The step of the last checkpoint that is whole, 0 without one."""
    return max((int(p.stem.partition("-")[2]) for p in model_dir.glob("ckpt-*.index")), default=0)


def test_a_worker_is_killed(worker, arguments, tmp_path):
    """The other one ends with a line; both together go on from the last checkpoint."""
    model_dir = tmp_path / "model"
    before = 0
    for killed in (1, 0):
        both = start_both(worker, *arguments, "--num_train_steps=100000")
        while last_saved(model_dir) < before + 2:
            assert [process.poll() for process in both] == [None, None]
            time.sleep(0.1)  # the processor is theirs
        both[killed].kill()
        other = both[1 - killed]
        (line,) = said(other, timeout=120)
        assert other.returncode == 2
        assert "lost another worker" in line
        assert "again to resume from the last checkpoint" in line
        assert before < trainer.global_step(str(model_dir)) < 100000
        before = trainer.global_step(str(model_dir))
    last = before + 3
    both = start_both(worker, *arguments, f"--num_train_steps={last}")
    assert [said(process) for process in both] == [[], []]
    assert [process.returncode for process in both] == [0, 0]
    assert trainer.global_step(str(model_dir)) == last
    steps = [step for step, _ in summaries(model_dir / "train")["training_loss"]]
    assert steps.count(1) == 1  # it did not begin again
    assert set(range(1, last + 1)) <= set(steps)
