"""Commands and code of docs/service.md run for real, and do what the page says."""

import json
import pathlib
import re
import subprocess

import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from mate_tf.cli import main
from mate_tf.serving.predictor import Predictor
from mate_tf.tables.table import Table

from ..docs import pages
from .test_server import Server, free_port

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "service.md"
ADDRESS, REST = "127.0.0.1:7860", "127.0.0.1:8501"
SECRET = "a-long-secret"


@pytest.fixture(scope="module")
def address(project, tmp_path_factory):
    """Where the page's command that needs a token serves the preset."""
    import sys

    port, log = free_port(), tmp_path_factory.mktemp("service") / "log"
    command = [sys.executable, project / "run_task_main.py", "serve", f"--port={port}"]
    with Server(command, port, log) as server:
        yield server.ready().url.removeprefix("http://")


def curl_blocks():
    return [block for block in pages.blocks(PAGE, "sh") if f"curl -s http://{ADDRESS}" in block]


@pytest.mark.parametrize("number", range(len(curl_blocks())))
def test_curl(project, address, number):
    script = curl_blocks()[number].replace(ADDRESS, address)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], cwd=project, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert not re.search(r'^\{"error": "', done.stdout, re.MULTILINE)
    for text in EXPECTED:
        if text in script:
            assert EXPECTED[text] in done.stdout


EXPECTED = {
    "how old is Bob?": '"text": "45"',
    "who has the highest salary?": '"text": "Julia Schmidt"',
    "which city does Kenji Tanaka live in?": '"text": "Osaka"',
    "who is 31?": '"text": "Ann"',
    "/metrics": "mate_tf_requests_total{",
    "/docs": "<!doctype html>",
}
"""Part of a command -> what it prints."""


def test_all_paths_are_shown(address):
    from mate_tf.service import openapi

    text = PAGE.read_text("utf-8")
    assert [path for path in openapi.PATHS if f"http://{ADDRESS}{path}" not in text] == []


def test_python(address, capsys):
    client, application = pages.blocks(PAGE, "python")
    exec(client.replace(ADDRESS, address), {})
    text, confidence = capsys.readouterr().out.split()
    assert text == "45"
    assert 0 < float(confidence) < 1
    found = {}
    exec(application, found)
    from starlette.testclient import TestClient

    with TestClient(found["app"], base_url="http://localhost") as client:
        assert client.get("/healthz").json() == {"status": "ok"}


def test_the_configuration_of_agents(project, monkeypatch):
    monkeypatch.chdir(project)
    (block,) = pages.blocks(PAGE, "json")
    (server,) = json.loads(block)["mcpServers"].values()
    given = main.parse([server["command"], *server["args"]])
    assert given.mode == "mcp"
    assert pathlib.Path(given.folder).is_dir()


def test_rest_of_tensorflow_serving(trained_model):
    """The body fits the signature, and the answer is that of the predictor."""
    (body,) = re.findall(rf"curl -s http://{REST}/v1/models/mate:predict -d '(.*?)'", text(), re.S)
    request = json.loads(body)
    export = trained_model / "export"
    saved = saved_model_pb2.SavedModel.FromString((export / "saved_model.pb").read_bytes())
    described = saved.meta_graphs[0].signature_def[request["signature_name"]]
    assert set(request) == {"signature_name", "inputs"}
    assert set(request["inputs"]) == set(described.inputs)
    given = {}
    for name, about in described.inputs.items():
        values = tf.constant(request["inputs"][name], tf.dtypes.as_dtype(about.dtype))
        assert tf.TensorShape(about.tensor_shape).is_compatible_with(values.shape)
        given[name] = values
    found = tf.saved_model.load(str(export)).signatures[request["signature_name"]](**given)
    assert {"text", "cells"} <= set(found)
    (question,), (header,), (rows,) = (
        request["inputs"][name] for name in ("question", "header", "cells")
    )
    answer = Predictor(str(export), {}).ask(Table.from_rows(header, rows), question)
    assert found["text"].numpy()[0].decode() == answer.text
    cells = [tuple(cell) for cell in tf.where(found["cells"][0]).numpy().tolist()]
    assert cells == answer.coordinates


def text():
    return PAGE.read_text("utf-8")
