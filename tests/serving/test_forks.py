"""A process that is forked after a model was loaded refuses models; a new process loads its own."""

import subprocess
import sys

import pytest

from mate_tf.errors import InputError
from mate_tf.serving import forks
from mate_tf.serving.predictor import Predictor

CODE = """
import multiprocessing
import mate_tf

TABLE = {"name": ["Ann", "Bob"], "age": [31, 45]}

def ask(predictor):
    return predictor.ask(TABLE, "how old is Bob?").text

def read(predictor):
    return predictor.read(TABLE, "how old is Bob?").num_tokens

def load():
    return ask(mate_tf.Predictor.from_preset())

def told(function, arguments, results):
    try:
        results.put(function(*arguments))
    except mate_tf.InputError as error:
        results.put(str(error))

def child(method, seconds, function, *arguments):
    context = multiprocessing.get_context(method)
    results = context.SimpleQueue()
    process = context.Process(target=told, args=(function, arguments, results))
    process.start()
    process.join(seconds)
    if process.is_alive():
        process.kill()
        return "hangs"
    return results.get()

if __name__ == "__main__":
    predictor = mate_tf.Predictor.from_preset()
    print(ask(predictor))
    print(child("fork", 20, ask, predictor))
    print(child("fork", 20, read, predictor))
    print(child("fork", 20, load))
    print(child("spawn", 120, load))
"""


@pytest.fixture(scope="module")
def lines(project, tmp_path_factory):
    """What a program prints whose children ask the preset: one line each."""
    path = tmp_path_factory.mktemp("program") / "program.py"
    path.write_text(f"import sys\nsys.path.insert(0, {str(project)!r})\n{CODE}")
    command = [sys.executable, path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


@pytest.mark.slow
def test_a_forked_child_is_refused(lines):
    own, *refused, _ = lines
    assert own == "45"
    assert len(refused) == 3
    for line in refused:
        assert "mini: was loaded before the process was forked; load it in each process" in line


@pytest.mark.slow
def test_a_spawned_child_loads_its_own(lines):
    assert lines[-1] == "45"


FORKED = """
import os
from mate_tf.errors import InputError
from mate_tf.serving import forks

def fork():
    pid = os.fork()
    if not pid:
        try:
            forks.check("own")
            forks.note("own")
            forks.check("own")
            os.write(1, b"allowed\\n")
        except InputError as error:
            os.write(1, f"{error}\\n".encode())
        finally:
            os._exit(0)
    os.waitpid(pid, 0)

fork()
forks.note("mini")
fork()
forks.check("mini")
"""


def test_a_fork_before_a_model_is_loaded_is_allowed(run_python):
    """And one after it is refused, as the real models above are."""
    allowed, refused = run_python(FORKED).splitlines()
    assert allowed == "allowed"
    assert refused.startswith("mini: was loaded before the process was forked; load it in each")


def test_whatever_uses_a_model_is_refused(mini, monkeypatch):
    table, question = {"name": ["Ann", "Bob"], "age": [31, 45]}, "how old is Bob?"
    assert mini.ask(table, question).text == "45"
    monkeypatch.setattr(forks, "_before", ["mini"])
    for use in (mini.ask, mini.read, lambda *_: Predictor.from_preset()):
        with pytest.raises(InputError, match="mini: was loaded before the process was forked"):
            use(table, question)
