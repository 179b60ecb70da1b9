"""--task=POINTR: both stages from official files to answers, once, with tiny models."""

import dataclasses
import functools
import json
import shutil
import subprocess
import sys
import types

import pytest
from absl.testing import flagsaver

from mate_tf.cli import ask, flags, pointr
from mate_tf.cli import passages as asking
from mate_tf.data.datasets import hybridqa
from mate_tf.errors import InputError
from mate_tf.evaluation import calibration, hybridqa_answers
from mate_tf.pointr import adapter
from mate_tf.pointr import predictor as serving
from mate_tf.serving import presets
from mate_tf.tables import cell_texts
from mate_tf.tables.table import Table
from mate_tf.training import experiments, trainer

from ..serving.test_without_tensorflow import BLOCKED
from ..shared_folder import shared_folder

NAMES = ["Ann", "Bob", "Cy", "Dee", "Eve", "Flo"]
TOWNS = ["Basel", "Bern", "Chur", "Genf", "Zug", "Thun"]
WORDS = ["where", "was", "the", "winner", "of", "born", "in", "a", "year", "who", "won", "race"]
WORDS += list("().:?")
PIECES = ["[PAD]", "[EMPTY]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
PIECES += [word.lower() for word in NAMES + TOWNS] + ["2000", "2001", "2002"]
STAGE = """
  task:
    conversion: {conversion}
    train_data: {{global_batch_size: 2}}
    validation_data: {{global_batch_size: 2}}
    model:
      max_num_rows: 8
      max_num_columns: 4
      span_hidden_size: 4
      encoder:
        vocab_size: {vocabulary}
        hidden_size: 8
        num_hidden_layers: 1
        num_attention_heads: 2
        intermediate_size: 8
        max_position_embeddings: 64
        {attention}
  trainer:
    {{train_steps: 2, steps_per_loop: 1, summary_interval: 1, checkpoint_interval: 1,
     validation_interval: 2}}
"""
CONFIG = "task: {name: POINTR, num_cells: 2, policy: product}\npoint:" + STAGE.format(
    vocabulary=len(PIECES),
    conversion="{max_seq_length: 64}",
    attention="attention: {name: mate_efficient, global_length: 16, radius: 8}",
)
CONFIG += "read:" + STAGE.format(
    vocabulary=len(PIECES), conversion="{max_seq_length: 32}", attention=""
)

ASK = """
import pathlib
from mate_tf.cli import main
from mate_tf.serving import presets

presets.FOLDERS = (pathlib.Path(sys.argv[1]),)
main.run(["mate-tf", "ask", "plain.csv", sys.argv[2], "--passages=texts"])
"""


def table(number):
    """Winners of three years; their towns are in passages only."""
    names = [NAMES[(number + row) % 6] for row in range(3)]
    return {
        "title": "Races",
        "header": [["year", []], ["winner", []]],
        "data": [
            [[str(2000 + row), []], [name, [f"/wiki/{name}"]]] for row, name in enumerate(names)
        ],
    }


def passages(number):
    names = [name for _, (name, _) in table(number)["data"]]
    return {f"/wiki/{name}": f"{name} was born in {town(name)} . A race ." for name in names}


def expanded(number):
    """What the reader sees of each cell: its text, and the passage that it links to."""
    texts = passages(number)
    for row in table(number)["data"]:
        for text, links in row:
            yield " : ".join([text, *(texts[link] for link in links)])


def town(name):
    return TOWNS[NAMES.index(name)]


def questions(numbers):
    for number in numbers:
        for row in range(3):
            name = table(number)["data"][row][1][0]
            yield {
                "question_id": f"q{number}{row}",
                "question": f"Where was the winner of {2000 + row} born ?",
                "table_id": f"Races_{number}",
                "answer-text": town(name),
            }
    yield {
        "question_id": f"q{numbers[0]}9",
        "question": "Who won in 2001 ?",
        "table_id": f"Races_{numbers[0]}",
        "answer-text": table(numbers[0])["data"][1][1][0],
    }


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """HybridQA's official layout: four tables to learn from, two to be asked about."""
    return shared_folder(tmp_path_factory, "pointr_data", write_data)


def write_data(folder):
    for number in range(6):
        write(folder / "tables_tok" / f"Races_{number}.json", table(number))
        write(folder / "request_tok" / f"Races_{number}.json", passages(number))
    write(folder / "released_data" / "train.json", list(questions([0, 1, 2, 3])))
    dev = list(questions([4, 5]))
    write(folder / "released_data" / "dev.json", dev)
    reference = {each["question_id"]: each["answer-text"] for each in dev} | {"elsewhere": "x"}
    groups = {
        "table": ["q49", "elsewhere"],
        "passage": [name for name in reference if name[2] < "9"],
    }
    write(folder / "released_data" / "dev_reference.json", {"reference": reference, **groups})
    write(folder / "vocab.txt", "\n".join(PIECES) + "\n")


@pytest.fixture(scope="module")
def finished(data, invoked, tmp_path_factory, without_graphs):
    """Output folder after --mode=run, and the flags of the run; not to be changed."""

    def flags_of(folder):
        return (
            f"--config_file={folder / 'tiny.yaml'}",
            f"--output_dir={folder}",
            f"--bert_vocab_file={data / 'vocab.txt'}",
            "--num_processes=1",
        )

    def run(folder):
        write(folder / "tiny.yaml", CONFIG)
        assert invoked("--mode=run", f"--input_dir={data}", *flags_of(folder)) == 0

    folder = shared_folder(tmp_path_factory, "pointr_run", run)
    return folder, flags_of(folder)


@pytest.fixture(scope="module")
def load():
    """load(export_dir): a `PointrPredictor`, loaded once for all tests of a worker."""
    loaded = functools.cache(serving.PointrPredictor)

    def load(export_dir, reading=None):
        assert reading in (None, "whole")
        return loaded(export_dir)

    return load


def read_answers(path):
    """Question id -> answer of a file for HybridQA's official evaluator."""
    return {each["question_id"]: each["pred"] for each in json.loads(path.read_text())}


@pytest.fixture
def predictor(finished, load):
    """The exported models of the run."""
    return load(str(finished[0] / "model" / "export"))


def test_what_a_run_leaves(finished, data):
    """Answers that the official evaluator can read, each written in the table or a passage."""
    folder, _ = finished
    answers = read_answers(folder / "model" / "dev.predictions.json")
    asked = {each["question_id"]: each["table_id"] for each in questions([4, 5])}
    assert answers.keys() == asked.keys()
    for name, text in answers.items():
        assert text
        assert any(text in each for each in expanded(int(asked[name][-1]))), text
    metrics = json.loads((folder / "model" / "metrics.json").read_text())["dev"]
    assert {group: values["questions"] for group, values in metrics.items()} == {
        "table": 1,
        "passage": 6,
        "total": 7,
    }
    reference = hybridqa_answers.read_reference(data / "released_data" / "dev_reference.json")
    official = hybridqa_answers.evaluate(answers, reference.of(answers))
    for group, values in metrics.items():
        assert values["EM"] == pytest.approx(official[group].exact / 100)
        assert values["F1"] == pytest.approx(official[group].f1 / 100)
        assert values["EM low"] <= values["EM"] <= values["EM high"]
    for stage in ("point", "read"):
        assert (folder / "model" / stage / "ckpt-2.index").exists()
        assert (folder / "model" / "export" / stage / "saved_model.pb").exists()


def test_baselines_of_the_first_stage(finished, data, invoked, tmp_path):
    """From training to EM and F1, a layer of each, with the reader that is there already.

    It reads the cells' own texts only, as in the baseline Table-Only.
    """
    folder, arguments = finished
    baselines = [
        {"name": "linformer", "projected_length": 8, "length": 72},  # 8 added by table_etc
        {"name": "table_etc", "num_global": 8, "local_radius": 8},
    ]
    encoder = {"num_hidden_layers": 2, "attention": baselines}
    override = {"point": {"task": {"model": {"encoder": encoder}}}}
    override["read"] = {"task": {"reading": {"sources": "cells"}}}
    shutil.copytree(folder / "model" / "read", tmp_path / "model" / "read")
    own = (
        f"--model_dir={tmp_path / 'model'}",
        f"--params_override={json.dumps(override)}",
    )
    for mode in ("train", "predict_and_evaluate"):
        assert invoked(f"--mode={mode}", f"--input_dir={data}", *arguments, *own) == 0
    assert (tmp_path / "model" / "point" / "ckpt-2.index").exists()
    assert trainer.global_step(str(tmp_path / "model" / "read")) == 2
    answers = read_answers(tmp_path / "model" / "dev.predictions.json")
    assert answers.keys() == {each["question_id"] for each in questions([4, 5])}
    asked = {each["question_id"]: each["table_id"] for each in questions([4, 5])}
    for name, text in answers.items():
        rows = table(int(asked[name][-1]))["data"]
        assert text in [cell for row in rows for cell, _ in row]
    metrics = json.loads((tmp_path / "model" / "metrics.json").read_text())["dev"]["total"]
    assert metrics["questions"] == 7
    assert 0 <= metrics["EM"] <= metrics["F1"] <= 1
    trained = experiments.load(str(tmp_path / "model" / "point" / "params.yaml"))
    per_layer = trained.task.model.encoder.attention_per_layer()
    assert [each.name for each in per_layer] == ["linformer", "table_etc"]


def test_the_exported_models_answer_as_predicted(finished, predictor, data):
    folder, _ = finished
    predicted = read_answers(folder / "model" / "dev.predictions.json")
    for interaction in hybridqa.read(data, "dev"):
        answer = predictor.ask_interaction(interaction)
        name = hybridqa_answers.official_id(interaction.questions[0].id)
        assert answer.text == predicted[name]
        cell = interaction.table.rows[answer.row].cells[answer.column]
        assert answer.cell == cell.text
        number = int(name[1])
        assert any(answer.text in text for text in expanded(number))
        assert any(answer.sentence in text for text in expanded(number))
        if answer.passage:
            assert answer.sentence in passages(number)[answer.passage]
        assert 0 < answer.cell_probability <= 1
        assert 0 < answer.span_probability <= 1
        assert answer.probabilities.shape == (3, 2)  # as the table
        assert answer.probabilities.sum() == pytest.approx(1, abs=1e-5)
        assert answer.probabilities[answer.row, answer.column] == answer.cell_probability
        cells = answer.best_cells()
        assert len({(row, column) for row, column, _ in cells}) == len(cells) == 5
        assert [each for *_, each in cells] == sorted(answer.probabilities.flat)[:0:-1]
        assert answer.to_json()["cells"] == cells == answer.best_cells(6)[:5]


def test_asking(finished, load, data, command, refused, monkeypatch, tmp_path):
    folder, _ = finished
    monkeypatch.setattr(asking, "PointrPredictor", load)
    export_dir = f"--export_dir={folder / 'model' / 'export'}"
    asked = "--question=Where was the winner of 2001 born ?"
    name = "Races_4.json"
    linked = (f"--table={data / 'tables_tok' / name}", f"--passages={data / 'request_tok' / name}")
    output = command("--mode=ask", export_dir, asked, *linked)
    (answer,) = (json.loads(line) for line in output.splitlines() if line.startswith("{"))
    assert f"note: read in the {'text about' if answer['passage'] else 'cell'}" in output
    assert f"{answer['sentence']}\n" in output
    assert len(answer["cells"]) == 5  # of six
    assert "probabilities" not in answer
    plain = tmp_path / "plain.csv"
    plain.write_text("year,winner\n2000,Ann\n")
    output = command("--mode=ask", export_dir, asked, f"--table={plain}", "--format=json")
    answer = json.loads(output)
    assert answer["question"] == asked.partition("=")[2]
    assert answer["passage"] is None
    assert answer["sentence"] in ("2000", "Ann")
    shutil.copytree(folder / "model" / "export", tmp_path / "half")
    shutil.rmtree(tmp_path / "half" / "read")
    message = refused("--mode=ask", f"--export_dir={tmp_path / 'half'}", asked, f"--table={plain}")
    assert message.startswith(f"{tmp_path / 'half' / 'read'}: no such folder or checkpoint")


def test_without_an_export(finished, load, data, command, monkeypatch, tmp_path):
    """The trained models, and a preset of them, answer as their exports, by either engine.

    A preset is asked in a process that cannot import TensorFlow.
    """
    folder, _ = finished
    expected = load(str(folder / "model" / "export"))
    trained = serving.PointrPredictor(folder / "model")
    trained.save_preset(tmp_path / "mini-passages")
    monkeypatch.setattr(presets, "FOLDERS", (tmp_path,))
    assert presets.names() == ["mini-passages"]
    preset = serving.PointrPredictor.from_preset()
    facts = "num_cells=2, policy=product, engine=openvino, precision=float32"
    assert repr(preset) == f"PointrPredictor({str(tmp_path / 'mini-passages')!r}, {facts})"
    by_tensorflow = [
        serving.PointrPredictor(each, engine="tensorflow")
        for each in (tmp_path / "mini-passages", folder / "model" / "export")
    ]
    assert all("engine=tensorflow" in repr(each) for each in by_tensorflow)
    given = hybridqa.read_linked_table(
        *(data / name / "Races_4.json" for name in ("tables_tok", "request_tok"))
    )
    question = "Where was the winner of 2001 born ?"
    answers = [
        each.ask(given[0], question, *given[1:])
        for each in (expected, trained, preset, *by_tensorflow)
    ]
    for answer in answers[1:]:
        assert answer == dataclasses.replace(
            answers[0],
            cell_probability=pytest.approx(answers[0].cell_probability, abs=1e-4),
            span_probability=pytest.approx(answers[0].span_probability, abs=1e-4),
            confidence=answers[0].confidence and pytest.approx(answers[0].confidence, abs=1e-4),
        )
    (tmp_path / "plain.csv").write_text("year,winner\n2000,Ann\n2001,Bob\n")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "Bob.txt").write_text("Bob was born in Basel .")
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED + ASK, str(tmp_path), question],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    output = done.stdout
    (answer,) = (json.loads(line) for line in output.splitlines() if line.startswith("{"))
    own = ["2000", "2001", "Ann", "Bob"]
    found = ["Bob was born in Basel ."] if answer["passage"] == "Bob" else own
    assert answer["sentence"] in found
    given = types.SimpleNamespace(passages=str(tmp_path / "texts"))
    monkeypatch.setattr(asking, "given_table", lambda _: Table.from_csv(tmp_path / "plain.csv"))
    linked, *_ = asking._read_given(given)
    assert linked.texts == (("Bob", "Bob was born in Basel ."),)


def test_in_the_place_of_a_predictor(finished, monkeypatch):
    """As the page and the service ask: answers as of other models, with a confidence."""
    folder, _ = finished
    fitted = calibration.read(folder / "model" / "calibration.json")
    exported = (folder / "model" / "export" / "calibration.json").read_bytes()
    assert exported == (folder / "model" / "calibration.json").read_bytes()
    flags = types.SimpleNamespace(
        init_checkpoint=str(folder / "model"), export_dir="", whole_tables=None
    )
    monkeypatch.setattr(ask, "reading", lambda flags: None)
    models = ask.load(flags)
    assert isinstance(models, adapter.TextsPredictor)
    table = Table.from_rows(["year", "winner"], [["2000", "Ann"], ["2001", "Bob"]])
    table = cell_texts.add(table, [("bob", "Bob was born in Basel .")], "texts")
    question = "Where was the winner of 2001 born ?"
    answer = models.ask(table, question)
    assert models.ask_batch([(table, question)] * 2, 16, [None, answer]) == [answer] * 2
    (cell,) = answer.cells
    assert cell.text == table.rows[cell.row][cell.column]
    assert answer.confidence == pytest.approx(fitted.confidence(answer.probability))
    (note,) = answer.notes
    if cell.text == "Bob" and "text" in note:
        assert note == "read in the text about 'Bob': Bob was born in Basel ."
    else:
        assert note == f"read in the cell: {cell.text}"
    assert answer.table is table


def test_analysis_of_both_stages(finished, command, tmp_path):
    """The reader's tokens all see each other: it has attention, but no mask."""
    folder, arguments = finished
    shutil.copytree(folder / "model", tmp_path / "model")
    command("--mode=analyze", *arguments, f"--model_dir={tmp_path / 'model'}")
    assert (tmp_path / "model" / "point" / "analysis" / "patterns_0.example.png").exists()
    assert (tmp_path / "model" / "read" / "analysis" / "heads.png").exists()
    assert not (tmp_path / "model" / "read" / "analysis" / "patterns_0.example.png").exists()


def test_rows_beyond_the_model(predictor, monkeypatch):
    """It tells seven data rows apart. Of ten, the best ones of two windows are compared."""
    table = Table.from_rows(["year"], [["2000"]] * 10)
    answer = predictor.ask(table, "who won in 2000 ?")
    assert answer.probabilities.shape == (10, 1)
    read = answer.probabilities[:, 0] > 0
    assert read.sum() < 8
    assert read[:7].any()
    assert read[7:].any()
    assert answer.cuts == ()
    monkeypatch.setattr(predictor, "_reads_whole", False)
    answer = predictor.ask(table, "who won in 2000 ?")
    assert (answer.probabilities[:7] > 0).all()
    assert not answer.probabilities[7:].any()
    assert answer.cuts == ("3 rows dropped: 8 to 10",)
    assert [row for row, *_ in answer.best_cells(10)][7:] == [7, 8, 9]


def test_a_forked_child_is_refused(finished, predictor, as_if_forked):
    export_dir = str(finished[0] / "model" / "export")
    as_if_forked()
    asked = Table.from_rows(["year"], [["2000"]]), "who won in 2000 ?"
    for use in (lambda: predictor.ask(*asked), lambda: serving.PointrPredictor(export_dir)):
        with pytest.raises(InputError, match=f"{export_dir}: was loaded before the process was f"):
            use()


def test_links_to_no_cell(predictor):
    with pytest.raises(ValueError, match="no cell in row 3, column 0"):
        predictor.ask(Table.from_rows(["a"], [["b"]]), "who?", links={(3, 0): ["x"]})


@pytest.mark.parametrize("name", ["pointr", "pointr_mini", "pointr_minilm"])
def test_configurations(project, name):
    """Each stage is as its own configuration says."""
    with flagsaver.flagsaver():
        path = project / "configs" / f"{name}.yaml"
        flags.FLAGS(["mate-tf", f"--config_file={path}", "--attention=full", "--output_dir=o"])
        pipeline = pointr.Pipeline.from_flags(flags.FLAGS)
    suffix = name.removeprefix("pointr")
    for stage, stem in (("point", "hybridqa"), ("read", "hybridqa_rc")):
        job = getattr(pipeline, stage)
        alone = experiments.load(str(project / "configs" / f"{stem}{suffix}.yaml"))
        if stage == "point":
            alone.task.model.encoder.attention = job.experiment.task.model.encoder.attention
            assert job.experiment.task.model.encoder.attention.name == "full"
        alone.task.train_data.input_path = f"o/{stage}/tf_examples/train.tfrecord"
        alone.task.validation_data.input_path = f"o/{stage}/tf_examples/dev.tfrecord"
        assert job.experiment.as_dict() == alone.as_dict()
        assert job.model_dir == f"o/model/{stage}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--num_train_steps=3"],
            "--num_train_steps: for which stage? Use --params_override=point.",
        ),
        (["--params_override=task.policy=best"], "task.policy is 'best', expected one of first,"),
        (["--params_override=task.num_cells=0"], "task.num_cells is 0, expected an integer"),
        (["--params_override=point.task.nodel.x=1"], "unknown key 'task.nodel'"),
        (["--params_override=raed.task.name=1"], "unknown key 'raed'; did you mean 'read'?"),
        (["--attention=nowhere"], "nowhere"),
    ],
)
def test_bad_flags(refused, tmp_path, arguments, message):
    config = write(tmp_path / "tiny.yaml", CONFIG)
    assert message in refused("--mode=train", f"--config_file={config}", *arguments)


def test_stages_have_files_of_their_own(refused, tmp_path):
    config = write(tmp_path / "c.yaml", "task: {name: POINTR}\npoint: {config_file: absent.yaml}")
    assert "absent.yaml: no such file" in refused("--mode=train", f"--config_file={config}")
    other = write(tmp_path / "sqa.yaml", "task: {name: SQA}")
    config = write(tmp_path / "d.yaml", f"task: {{name: POINTR}}\nread: {{config_file: {other}}}")
    message = refused("--mode=train", f"--config_file={config}")
    assert f"{other}: is an experiment for task SQA, not for HYBRIDQA_RC" in message
    message = refused("--task=POINTR", "--mode=train", f"--config_file={other}")
    assert message == f"{other}: is an experiment for task SQA, not for POINTR"


def test_nothing_trained(refused, finished, tmp_path):
    _, arguments = finished
    message = refused("--mode=predict", *arguments, f"--model_dir={tmp_path}")
    assert message == f"{tmp_path}/point: no checkpoint here; train first"
