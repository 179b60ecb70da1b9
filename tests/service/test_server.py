"""The service in processes of its own: how it ends, several processes, models that fail to load."""

import concurrent.futures
import json
import re
import signal
import socket
import subprocess
import sys
import time

import httpx
import psutil
import pytest

PROGRAM = """
import sys, time
sys.path[:0] = [{project!r}]
from mate_tf.cli import main, signals
from mate_tf.errors import InputError
from mate_tf.service import server
from mate_tf.service.settings import Settings
from mate_tf.serving.answer import Answer

class Model:
    class_names, calibration = (), None

    def ask_batch(self, pairs, batch_size, previous):
        answers = []
        for table, question in pairs:
            time.sleep(float(question))
            answers.append(Answer((), "NONE", None, 0.5, table.table.rows[0][0]))
        return answers

def load():
    if {fails!r}:
        raise InputError("no model\\nhere")
    return Model()

def run(flags):
    settings = Settings(load=load, name="m", timeout=20.0, token={token!r})
    with signals.patient(settings.timeout + server.GRACE):
        server.serve(settings, "127.0.0.1", {port}, {workers})

if __name__ == "__main__":
    main._mode = lambda flags: run  # all else is as in the command
    sys.argv = ["mate-tf", "serve"]
    main.run()
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server(subprocess.Popen):
    """A program that serves; it and its children are killed at the end of the block."""

    def __init__(self, command, port, log):
        self.url, self.log = f"http://127.0.0.1:{port}", log
        with log.open("w") as file:
            super().__init__(command, stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.PIPE)

    def __exit__(self, *raised):
        if self.poll() is None:
            own = psutil.Process(self.pid)
            for process in [*own.children(recursive=True), own]:
                process.kill()
        return super().__exit__(*raised)

    def ready(self, times=1):
        """Waits until so many processes have said that they are ready."""
        end = time.monotonic() + 120
        while self.log.read_text().count("serve | http") < times:
            assert self.poll() is None, self.log.read_text()
            assert time.monotonic() < end, self.log.read_text()
            time.sleep(0.05)
        return self

    def ask(self, seconds, text="x", client=httpx, **given):
        body = given or {"table": [["a"], [text]], "question": str(seconds)}
        return client.post(f"{self.url}/v1/ask", json=body, timeout=60)

    def children_that_serve(self):
        """Processes that listen, besides the first one."""
        found = psutil.Process(self.pid).children()
        return [each for each in found if "spawn_main" in " ".join(each.cmdline())]


@pytest.fixture
def program(project, tmp_path):
    """program(workers, fails): a `Server` with a model whose answers take as long as is asked."""

    def start(workers=1, fails=False, token=""):
        port = free_port()
        code = PROGRAM.format(
            project=str(project), fails=fails, port=port, workers=workers, token=token
        )
        path = tmp_path / "program.py"
        path.write_text(code)
        return Server([sys.executable, path], port, tmp_path / "log")

    return start


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)]
)
def test_running_requests_are_answered_and_new_ones_refused(program, number):
    with program() as server, concurrent.futures.ThreadPoolExecutor(4) as pool:
        server.ready()
        running = [pool.submit(server.ask, 2, str(each)) for each in range(2)]
        time.sleep(0.5)
        server.send_signal(number)
        time.sleep(0.3)
        refused = server.ask(0)
        assert refused.status_code == 503
        assert refused.json() == {"error": "the service is stopping"}
        assert httpx.get(f"{server.url}/healthz").status_code == 503
        assert [each.result().json()["text"] for each in running] == ["0", "1"]
        assert server.wait(10) == 128 + number
        last = server.log.read_text().splitlines()[-1]
        name = signal.Signals(number).name
        assert last == f"mate-tf: interrupted ({name}); run the same command to resume"


def test_a_second_signal_ends_it_at_once(program):
    with program() as server, concurrent.futures.ThreadPoolExecutor(1) as pool:
        server.ready()
        running = pool.submit(server.ask, 15)
        time.sleep(0.5)
        server.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        begin = time.monotonic()
        server.send_signal(signal.SIGTERM)
        assert server.wait(10) == 128 + signal.SIGTERM
        assert time.monotonic() - begin < 5
        with pytest.raises(httpx.HTTPError):
            running.result()


def test_several_processes(program):
    with program(workers=2, token="t") as server, httpx.Client() as client:
        server.ready(2)
        assert "token | t" in server.log.read_text()
        client.headers["authorization"] = "Bearer t"
        post = {"table": [["a"], ["x"]]}
        stored = client.post(f"{server.url}/v1/tables", json=post).json()
        found = []
        for _ in range(20):  # new connections, so that both processes get some
            with httpx.Client(headers=client.headers) as other:
                found.append(
                    server.ask(0, client=other, table_id=stored["table_id"], question="0").text
                )
        assert {json.loads(each)["text"] for each in found} == {"x"}
        # One process counts what all have answered.
        text = client.get(f"{server.url}/metrics").text
        assert 'mate_tf_requests_total{path="/v1/ask",status="200"} 20.0' in text
        # A process that dies is replaced.
        children = server.children_that_serve()
        assert len(children) == 2
        children[0].kill()
        server.ready(3)
        with httpx.Client(headers=client.headers) as other:
            assert server.ask(0, "y", client=other).json()["text"] == "y"
        begin = time.monotonic()
        server.send_signal(signal.SIGTERM)
        assert server.wait(20) == 128 + signal.SIGTERM
        assert time.monotonic() - begin < 10
        assert not any(each.is_running() for each in children)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_model_that_cannot_be_loaded(program, workers):
    with program(workers, fails=True) as server:
        assert server.wait(120) == 2
        own = server.log.read_text().splitlines()
        assert own[-1] == "mate-tf: no model here"
        assert sum("no model here" in line for line in own) == 1


@pytest.mark.slow
def test_the_command(project, tmp_path):
    """`mate-tf serve` with the preset, asked once, ended by a signal; the default run asks it in
    test_documented.py."""
    port = free_port()
    command = [sys.executable, project / "run_task_main.py", "serve", f"--port={port}"]
    with Server(command, port, tmp_path / "log") as server:
        server.ready()
        given = {"table": [["name", "age"], ["Ann", 31], ["Bob", 45]]}
        answer = server.ask(0, **given, question="how old is Bob?").json()
        assert answer["text"] == "45"
        assert 0 < answer["confidence"] < 1
        server.send_signal(signal.SIGTERM)
        assert server.wait(20) == 128 + signal.SIGTERM
    lines = server.log.read_text().splitlines()
    assert re.fullmatch(r"model \| mini; its scores and limits: .*README\.md", lines[0])
    assert f"serve | {server.url}" in lines
    assert lines[-1].endswith("interrupted (SIGTERM); run the same command to resume")
