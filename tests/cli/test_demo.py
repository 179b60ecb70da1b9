"""--mode=demo: what is said when the page cannot be served."""

import importlib.util
import socket

import pytest

from mate_tf.cli import checks, flags
from mate_tf.serving import presets, saving
from mate_tf.serving.model_folder import WEIGHTS, Kind

FIND = importlib.util.find_spec


@pytest.fixture
def with_gradio(monkeypatch):
    """Whether gradio is there or not, it is found; nothing here goes on to import it."""
    spec = importlib.util.find_spec("json")
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: spec if name == "gradio" else FIND(name)
    )


def test_without_the_extra(refused, monkeypatch):
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "gradio" else FIND(name)
    )
    message = refused("--mode=demo", "--export_dir=absent")
    assert message == "--mode=demo needs gradio: pip install -e '.[demo]'"


def test_a_port_in_use(refused, with_gradio):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        message = refused("--mode=demo", "--export_dir=absent", f"--port={port}")
    assert message == f"--port={port}: cannot be used (Address already in use); give another"


def test_an_address_of_another_machine(refused, with_gradio):
    message = refused("--mode=demo", "--export_dir=absent", "--host=192.0.2.1")
    assert (
        message
        == "--host=192.0.2.1: cannot be used (Cannot assign requested address); give another"
    )
    message = refused("--mode=demo", "--export_dir=absent", "--host=[::1")
    assert message == "--host=[::1: has one bracket"
    message = refused("--mode=demo", "--export_dir=absent", "--host=\0")
    assert "cannot be used (host name must not contain null character" in message


def test_no_such_port(refused):
    assert "port" in refused("--mode=demo", "--export_dir=absent", "--port=70000")


def test_no_model(refused, with_gradio, monkeypatch):
    monkeypatch.setattr(presets, "FOLDERS", ())
    with socket.socket() as other:  # a port that nobody has once it is closed
        other.bind(("127.0.0.1", 0))
        port = other.getsockname()[1]
    message = refused("--mode=demo", f"--port={port}")
    assert message.startswith("--mode=demo needs --export_dir=FOLDER of an exported model, or ")


def test_without_a_model_it_is_the_preset(tmp_path, monkeypatch):
    monkeypatch.setattr(presets, "FOLDERS", (tmp_path,))
    folder = tmp_path / presets.DEFAULT
    folder.mkdir()
    for name in (Kind.PRESET.value, WEIGHTS, saving.VOCABULARY):
        (folder / name).touch()
    given = flags.FLAGS
    given(["mate-tf", "--mode=demo", "--export_dir="])
    checks.check(given)
    assert given.init_checkpoint == str(folder)
    given(["mate-tf", "--mode=demo", "--init_checkpoint=", f"--export_dir={tmp_path}"])
    checks.check(given)
    assert not given.init_checkpoint


def test_tasks_without_a_page(refused, with_gradio):
    assert refused("--task=POINTR", "--mode=demo") == "task POINTR has no --mode=demo"
