"""Those who load a SavedModel without mate-tf: Python, saved_model_cli and a program in C."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from mate_tf.data import interactions
from mate_tf.tables.table import Table

QUESTION = "who is 41?"

# One process for two: each imports TensorFlow. saved_model_cli ends it.
ALONE = """
import json, sys
for name in ("mate_tf", "tensorflow_text", "tf_keras", "official"):
    sys.modules[name] = None  # an import fails
import tensorflow as tf
# The session of TensorFlow 1 and the program in C run with it.
tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
path = sys.argv[1]
request = json.loads(sys.argv[2])
signatures = tf.saved_model.load(path).signatures
example = tf.constant([bytes.fromhex(request.pop("example"))])
found = {"serving_examples": signatures["serving_examples"](examples=example)}
given = {name: tf.constant(values) for name, values in request.items()}
found["serving_default"] = signatures["serving_default"](**given)
print(json.dumps({
    signature: {
        name: tf.strings.as_string(values).numpy().astype(str).tolist()
        for name, values in outputs.items()
    }
    for signature, outputs in found.items()
}))
exprs = ";".join(f"{name}={values!r}" for name, values in request.items())
sys.argv = [
    "saved_model_cli", "run", "--dir", path, "--tag_set=serve",
    "--signature_def=serving_default", f"--input_exprs={exprs}",
]
from tensorflow.python.tools import saved_model_cli
saved_model_cli.main()
"""


@pytest.fixture(scope="module")
def people():
    rows = [["Ann", "Rome", 30], ["Bob", "Oslo", 41], ["Cy", "Bern", 52]]
    return Table.from_rows(["name", "city", "age"], rows)


@pytest.fixture(scope="module")
def answer(predictor, people):
    return predictor.ask(people, QUESTION)


@pytest.mark.slow
def test_python_and_saved_model_cli(saved_model, predictor, answer, people, tmp_path):
    asked = [interactions.Question("ask-0_0", QUESTION)]
    proto = interactions.interaction_from_table(people, "ask-0", asked)
    example = predictor._model.converter.convert(proto, 0).SerializeToString()
    request = {
        "question": [QUESTION],
        "header": [people.columns],
        "cells": [people.rows],
        "example": example.hex(),
    }
    result = subprocess.run(
        [sys.executable, "-c", ALONE, saved_model, json.dumps(request)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    found = json.loads(next(line for line in lines if line.startswith("{")))
    for signature, cells in (("serving_examples", "selected"), ("serving_default", "cells")):
        outputs = found[signature]
        chosen = np.argwhere(np.array(outputs[cells][0], int))
        assert [tuple(cell) for cell in chosen.tolist()] == answer.coordinates
        assert float(outputs["probability"][0]) == pytest.approx(answer.probability, abs=1e-5)
    assert found["serving_default"]["text"] == [answer.text]
    # saved_model_cli
    place = lines.index("Result for output key text:")
    assert lines[place + 1] == f"[{answer.text.encode()!r}]"


@pytest.mark.slow
def test_session_of_tensorflow_1(saved_model, answer, people):
    """The graph as servers run it: in one session, with all of TensorFlow's graph optimizers."""
    given = {"question": [QUESTION], "header": [people.columns], "cells": [people.rows]}
    default = tf.compat.v1.ConfigProto()  # without it these are the options of this process
    with tf.Graph().as_default(), tf.compat.v1.Session(config=default) as session:
        loaded = tf.compat.v1.saved_model.load(session, ["serve"], saved_model)
        signature = loaded.signature_def["serving_default"]
        outputs = {name: signature.outputs[name].name for name in ("text", "probability")}
        feed = {signature.inputs[name].name: values for name, values in given.items()}
        found = session.run(outputs, feed)
    assert found["text"].tolist() == [answer.text.encode()]
    assert found["probability"] == pytest.approx(answer.probability, abs=1e-5)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """client.c, built with the headers and libraries of the installed TensorFlow."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    folder = pathlib.Path(tf.sysconfig.get_lib())
    libraries = [*folder.glob("libtensorflow_cc.so*"), *folder.glob("libtensorflow_framework.so*")]
    if len(libraries) < 2:
        pytest.skip(f"no libtensorflow in {folder}")
    path = tmp_path_factory.mktemp("client") / "client"
    source = pathlib.Path(__file__).with_name("client.c")
    command = [compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", str(source), "-o", str(path)]
    command += [f"-I{tf.sysconfig.get_include()}", *map(str, libraries), f"-Wl,-rpath,{folder}"]
    subprocess.run(command, check=True)
    return path


@pytest.mark.slow
def test_program_in_c(client, saved_model, answer, people):
    """Rows of lines and tabs in, outputs out; a request that is none ends with a message."""
    description = saved_model_pb2.SavedModel()
    with open(os.path.join(saved_model, "saved_model.pb"), "rb") as file:
        description.ParseFromString(file.read())
    signature = description.meta_graphs[0].signature_def["serving_default"]
    names = [f"{name}={signature.inputs[name].name}" for name in ("question", "header", "cells")]
    names += [f"{name}={info.name}" for name, info in sorted(signature.outputs.items())]
    lines = [QUESTION, *map("\t".join, [people.columns, *people.rows])]
    result = subprocess.run(
        [client, saved_model, *names],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    found = dict(line.split("\t", 1) for line in result.stdout.splitlines())
    assert set(found) == set(signature.outputs)
    cells = np.array(found["cells"].split("\t"), int).reshape(3, 3)
    assert [tuple(cell) for cell in np.argwhere(cells).tolist()] == answer.coordinates
    assert found["text"] == answer.text
    assert found["aggregation"] == "NONE"
    assert np.isnan(float(found["value"]))
    assert float(found["probability"]) == pytest.approx(answer.probability, abs=1e-5)


@pytest.mark.slow
def test_program_in_c_says_what_is_wrong(client):
    result = subprocess.run([client], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (1, "arguments: see the head of client.c\n")
