"""A question and a table become inputs of a model in a process that has no TensorFlow."""

import json
import pkgutil
import subprocess
import sys

import numpy as np
import pytest

from mate_tf import answers, files, tables
from mate_tf.data import converters
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.serving.prepared import PreparedTable
from mate_tf.serving.read_part import ReadPart

BLOCKED = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("tensorflow", "tensorflow_text", "official"):
            raise ImportError(f"{name} is imported")

sys.meta_path.insert(0, Blocked())
"""
MODULES = [
    *("mate_tf.serving.answer", "mate_tf.serving.confidence", "mate_tf.serving.names"),
    *("mate_tf.serving.answer_notes", "mate_tf.serving.prepared", "mate_tf.serving.read_part"),
    *("mate_tf.serving.whole", "mate_tf.checkpoints.latest", "mate_tf.data.interactions"),
    *("mate_tf.evaluation.associations", "mate_tf.evaluation.calibration"),
    "mate_tf.evaluation.unanswerable",
    *(
        f"{package.__name__}.{module.name}"
        for package in (answers, converters, files, tables)
        for module in pkgutil.iter_modules(package.__path__)
        if module.name != "tokenizer_graph"
    ),
]
OPTIONS = {"number_parser": "modern", "renumber_to_fit": True, "mark_matches": True}
QUESTION = "how much is the saw by Makita?"
READ = """
import json
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.serving import confidence
from mate_tf.serving.prepared import PreparedTable
from mate_tf.serving.read_part import ReadPart

table, vocabulary, model, options, question = json.loads(sys.argv[1])
prepared = PreparedTable(table)
converter = ExampleConverter(vocabulary, 64, **options)
windows = converter.windows(prepared.interaction(question), 0)
shape = prepared.table.num_rows, prepared.table.num_columns
parts = [ReadPart(windows.convert(rows), shape) for rows in windows.rows]
print(json.dumps([part.values["input_ids"].tolist() for part in parts]))
assert confidence.find(model) is not None
assert confidence.score(0.5, {}) == 0.5
assert "tensorflow" not in sys.modules
"""
FILES = """
from mate_tf.evaluation.calibration import Calibration
from mate_tf.serving import confidence

folder = sys.argv[1]
assert confidence.latest_weights(folder) == "ckpt-7"
confidence.write(folder, Calibration(threshold=0.25, weights="ckpt-7"))
assert confidence.find(folder, "ckpt-7").threshold == 0.25
assert "tensorflow" not in sys.modules
"""
ASK = """
from mate_tf.cli.main import run

for precision in sys.argv[1:]:
    arguments = ("ask", "staff.csv", "How old is Bob?", "--format=json")
    try:
        run(["mate-tf", *arguments, f"--precision={precision}"])
    except SystemExit as end:
        assert not end.code, end

from mate_tf.cli import checks, main, serve

flags = main.parse(["mate-tf", "serve"])
checks.check(flags)
assert serve._load(flags).engine == "openvino"
"""


@pytest.fixture
def run(project):
    """run(program, *arguments): what it prints in a process that cannot import TensorFlow."""

    def call(program, *arguments):
        command = [sys.executable, "-c", BLOCKED + program, *arguments]
        done = subprocess.run(command, cwd=project, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return call


@pytest.fixture
def table(tmp_path):
    """Articles, more of them than fit into one window."""
    lines = [f"{100 + row},{'Makita' if row % 3 else 'Bosch'},Säge,{row}.50 €" for row in range(30)]
    path = tmp_path / "stock.csv"
    path.write_text("\n".join(["Article,Brand,Kind,Price", *lines]), encoding="utf-8")
    return path


def test_a_question_about_a_table_in_windows(run, table, project):
    model = project / "models" / "mini"
    vocabulary = model / "vocab.txt"
    arguments = [str(table), str(vocabulary), str(model), OPTIONS, QUESTION]
    found = json.loads(run(READ, json.dumps(arguments)))

    prepared = PreparedTable(table)
    converter = ExampleConverter(vocabulary, 64, **OPTIONS)
    windows = converter.windows(prepared.interaction(QUESTION), 0)
    parts = [ReadPart(windows.convert(rows), (30, 4)) for rows in windows.rows]
    assert len(found) == len(parts) > 1
    for ids, part in zip(found, parts, strict=True):
        np.testing.assert_array_equal(ids, part.values["input_ids"])
        assert part.example.features.feature["input_ids"].int64_list.value == ids


def test_files_of_a_model(run, tmp_path):
    for step in (7, 10):
        (tmp_path / f"ckpt-{step}.index").touch()
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "ckpt-7"\n')
    run(FILES, tmp_path)


def test_modules_for_reading(run):
    imports = "\n".join(f"import {module}" for module in MODULES)
    run(f"{imports}\nassert 'tensorflow' not in sys.modules")


def test_tensorflow_is_blocked(run):
    with pytest.raises(AssertionError, match="tensorflow is imported"):
        run("import mate_tf.serving.signatures")


def test_ask_of_the_command_line(tmp_path):
    """From the file to the answer, with the preset; what `serve` loads, too."""
    (tmp_path / "staff.csv").write_text("name,age\nAnn,30\nBob,41\n")
    command = [sys.executable, "-c", BLOCKED + ASK, "float32", "auto", "int8"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["text"] for line in done.stdout.splitlines()] == ["41"] * 3
