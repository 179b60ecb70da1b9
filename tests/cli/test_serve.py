"""--mode=serve and --mode=mcp: what is said before a model is loaded, and what the flags set."""

import importlib.util
import os
import pickle
import socket

import pytest

from mate_tf.cli import ask, main, serve
from mate_tf.service import agents, server
from mate_tf.serving import presets
from mate_tf.tables.limits import MIB

FIND = importlib.util.find_spec


@pytest.mark.parametrize(
    ("mode", "module"),
    [("serve", "uvicorn"), ("serve", "python_multipart"), ("mcp", "mcp")],
)
def test_without_the_extra(refused, monkeypatch, mode, module):
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == module else FIND(name)
    )
    message = refused(mode)
    assert message == f"--mode={mode} needs {module}: pip install 'mate-tf[{mode}]'"


def test_a_port_in_use(refused):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        message = refused("serve", f"--port={port}")
    assert message == f"--port={port}: cannot be used (Address already in use); give another"


def test_no_export(refused, tmp_path):
    for mode in ("serve", "mcp"):
        port = [f"--port={free_port()}"] if mode == "serve" else []
        message = refused(mode, f"--export_dir={tmp_path}", *port)
        assert message == f"{tmp_path}: no SavedModel here; --mode=export writes one"


def test_no_model(refused, monkeypatch):
    monkeypatch.setattr(presets, "FOLDERS", ())
    message = refused("serve", f"--port={free_port()}")
    assert message.startswith("--mode=serve needs --export_dir=FOLDER of an exported model, or ")


def test_no_folder(refused, tmp_path):
    message = refused("mcp", f"--folder={tmp_path / 'absent'}")
    assert message == f"--folder={tmp_path / 'absent'}: no such folder"


@pytest.mark.parametrize(
    "flag", ["--workers=0", "--max_batch=0", "--timeout=-1", "--max_waiting=x", "--port=0"]
)
def test_wrong_numbers(refused, flag):
    assert flag.partition("=")[0].strip("-") in refused("serve", flag)


def test_tasks_without_a_service(refused):
    assert refused("--task=POINTR", "--mode=serve") == "task POINTR has no --mode=serve"
    assert refused("serve", "table.csv") == "arguments without a flag: table.csv"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def settings(monkeypatch):
    """settings(*flags): (settings, host, port, workers) that the mode serves with."""
    found = []
    monkeypatch.setattr(server, "serve", lambda *given: found.append(given))

    def serve_with(*flags):
        main._run("mate-tf", ["mate-tf", "serve", f"--port={free_port()}", *flags])
        return found.pop()

    return serve_with


def test_settings(settings, monkeypatch):
    monkeypatch.delenv(serve.TOKEN, raising=False)
    made, host, _, workers = settings(
        *("--workers=2", "--timeout=7", "--max_batch=3", "--max_waiting=5", "--max_tables=9"),
        *("--max_tables_mb=4", "--max_upload_mb=6", "--max_table_cells=50", "--allowed_hosts=a,b"),
    )
    assert (host, workers) == ("127.0.0.1", 2)
    assert (made.name, made.token) == ("mini", "")
    assert (made.timeout, made.most, made.waiting, made.max_tables) == (7, 3, 5, 9)
    assert (made.largest, made.max_tables_bytes) == (6 * MIB, 4 * MIB)
    assert made.limits.max_table_cells == 50
    assert {"127.0.0.1", "localhost", "a", "b"} <= set(made.hosts)
    # They are sent to other processes.
    assert pickle.loads(pickle.dumps(made)).hosts == made.hosts


def test_tokens(settings, monkeypatch):
    monkeypatch.delenv(serve.TOKEN, raising=False)
    one, other = (settings("--host=0.0.0.0")[0].token for _ in range(2))
    assert len(one) > 30
    assert one != other
    monkeypatch.setenv(serve.TOKEN, "given")
    assert settings("--host=0.0.0.0")[0].token == "given"
    assert settings()[0].token == "given"


def test_the_model_of_the_settings(settings, monkeypatch):
    """It is loaded with the flags, and has answered before it is served."""
    asked, loaded = [], []

    class Model:
        engine = "openvino"

        def ask(self, table, question):
            asked.append(question)

    def load(flags):
        loaded.append((flags.mixed_precision, flags.max_seq_length))
        return Model()

    monkeypatch.setattr(ask, "load", load)
    made, *_ = settings("--precision=bfloat16", "--max_seq_length=99")
    assert isinstance(made.load(), Model)
    assert loaded == [("bfloat16", 99)]
    assert asked


def test_agents(monkeypatch, tmp_path):
    found = []
    monkeypatch.setattr(agents, "run", lambda *given: found.append(given))
    monkeypatch.setattr(
        ask, "load", lambda flags: type("Model", (), {"engine": "openvino", "ask": print})
    )
    monkeypatch.chdir(tmp_path)
    main._run("mate-tf", ["mate-tf", "mcp", "--max_table_mb=3", "--timeout=4"])
    ((_, folder, limits, timeout, reads_texts),) = found
    assert not reads_texts
    assert os.path.samefile(folder, tmp_path)
    assert (limits.max_table_mb, timeout) == (3, 4)
