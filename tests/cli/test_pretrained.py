"""--init_checkpoint of a model that is used without a training, the short form, and wrong paths."""

import json
import pathlib
import shutil
import subprocess
import sys

import pytest
from huggingface_hub import constants

from mate_tf import checkpoints
from mate_tf.attention import AttentionConfig
from mate_tf.cli import ask, checks, flags, main
from mate_tf.data import synthetic
from mate_tf.demo import session
from mate_tf.layers.framework import keras
from mate_tf.models.classifier import ClassifierConfig, TableClassifier
from mate_tf.models.encoder import EncoderConfig
from mate_tf.serving import hub
from mate_tf.serving.predictor import Predictor
from mate_tf.tables.any_table import read_table

QUESTION = "who is 41?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model as Hugging Face has it, with the vocabulary of `created`; not to be changed."""
    folder = tmp_path_factory.mktemp("huggingface") / "tapas-tiny"
    vocab_file = folder.with_name("vocab.txt")
    synthetic.make_vocabulary(vocab_file)
    keras.utils.set_random_seed(1)
    encoder = EncoderConfig(
        vocab_size=len(synthetic.vocabulary()),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        initializer_range=0.5,
        reset_position_index_per_cell=True,
        attention=AttentionConfig(name="full"),
    )
    model = TableClassifier(ClassifierConfig(encoder=encoder, select_one_column=True))
    checkpoints.save_huggingface(model, folder, vocab_file)
    return folder


@pytest.fixture(scope="module")
def expected(folder):
    """Of the model, by attention."""
    return {
        name: Predictor.from_pretrained(folder, attention=name) for name in ("full", "mate_exact")
    }


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("name,age\nAnn,30\nBob,41\nCy,52\n")
    return path


def test_ask(command, folder, expected, table):
    flags = ("ask", table, QUESTION, f"--init_checkpoint={folder}", "--format=json")
    output = json.loads(command(*flags))
    answer = expected["full"].ask(table, QUESTION)
    assert output == {"question": QUESTION} | json.loads(json.dumps(answer.to_json()))
    rounded = json.loads(command(*flags, "--precision=int8"))
    assert rounded["probability"] == pytest.approx(answer.probability, abs=0.05)
    several = json.loads(command(*flags, "--attention=mate_exact", "--question=where?"))
    assert [each["question"] for each in several] == [QUESTION, "where?"]
    first = expected["mate_exact"].ask(table, QUESTION)
    second = expected["mate_exact"].ask(table, "where?", previous=first)
    assert [each["probability"] for each in several] == [first.probability, second.probability]


def test_ask_a_revision_from_the_hub(folder, table, tmp_path, monkeypatch, capsys):
    """The line `model |` and `repr` have the commit, which a later commit does not change."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    commit, model = "0123456789abcdef0123456789abcdef01234567", tmp_path / "models--nobody--tapas"
    shutil.copytree(folder, model / "snapshots" / commit)
    (model / "refs").mkdir()
    (model / "refs" / "v1").write_text(commit)
    given = flags.FLAGS
    given(["mate-tf", "--mode=ask", f"--table={table}", "--init_checkpoint=nobody/tapas@v1"])
    checks.check(given)
    assert capsys.readouterr().err == f"model | nobody/tapas@{commit}\n"
    (model / "refs" / "v1").write_text(commit[::-1])
    assert repr(ask.load(given)).startswith(f"Predictor('nobody/tapas@{commit}', attention=full, ")


def test_as_a_table(command, folder, expected, table):
    output = command("ask", table, QUESTION, f"--init_checkpoint={folder}", "--format=table")
    answer = expected["full"].ask(table, QUESTION)
    assert output.splitlines()[1:3] == [QUESTION, answer.text]
    assert "{" not in output
    for cell in answer.cells:
        assert f"**{cell.text}**" in output


def test_options_of_an_attention(refused, folder, table):
    asked = ("ask", table, QUESTION, f"--init_checkpoint={folder}")
    assert refused(*asked, "--radius=3") == "--radius needs --attention, whose option it is"
    message = refused(*asked, "--attention=full", "--row_heads_ratio=.5")
    assert "'row_heads_ratio'" in message


def test_export(command, refused, folder, tmp_path, monkeypatch):
    """The model of --init_checkpoint, with the flags, is what is exported."""
    exported = []
    monkeypatch.setattr(Predictor, "export", lambda self, path: exported.append((self, path)))
    flags = ("export", f"--init_checkpoint={folder}")
    assert "needs --export_dir=FOLDER" in refused(*flags)
    command(*flags, f"--export_dir={tmp_path}", "--attention=mate_exact", "--max_seq_length=99")
    ((predictor, path),) = exported
    assert path == str(tmp_path)
    assert repr(predictor).endswith(
        "attention=mate_exact, layers=1, hidden_size=16, max_seq_length=99, engine=openvino, "
        "precision=float32)"
    )


def test_predict(command, refused, folder, expected, created, tmp_path):
    """Its model is the folder's, not the task's; what a training has left is not overwritten."""
    flags = (
        f"--init_checkpoint={folder}",
        "--task=SYNTHETIC",
        f"--output_dir={created}",
        "--max_seq_length=128",
        f"--model_dir={tmp_path / 'model'}",
    )
    command("predict", *flags)
    found = json.loads((tmp_path / "model" / "dev.json").read_text())
    assert (
        len(found)
        == json.loads((created / "tf_examples" / "dev.report.json").read_text())["examples"]
    )
    # A model of the task would have had other sizes: its weights would not have fitted.
    message = refused("predict", *flags, "--params_override=task.model.encoder.hidden_size=32")
    assert "has the shape" in message


def test_predict_own_data(command, folder, expected, table, tmp_path):
    """The heads are the folder's, whatever the data would need in a training."""
    line = {"table": table.name, "question": QUESTION, "cells": [[1, 0]]}
    for split in ("train", "dev"):
        (tmp_path / f"{split}.jsonl").write_text(json.dumps(line))
    output_dir = tmp_path / "out"
    flags = (
        *("--task=CUSTOM", f"--init_checkpoint={folder}", f"--input_dir={tmp_path}"),
        *(f"--output_dir={output_dir}", "--max_seq_length=64"),
    )
    command("create_data", *flags)
    command("predict", *flags)
    (found,) = json.loads((output_dir / "model" / "dev.json").read_text())
    answer = expected["full"].ask(table, QUESTION)
    assert found["cells"] == [list(each) for each in answer.coordinates]
    assert found["probabilities"] == pytest.approx([each.probability for each in answer.cells])


def test_a_training_is_in_the_folder(refused, folder, created, trained):
    message = refused("predict", "--task=SYNTHETIC", f"--init_checkpoint={folder}", *trained[1:])
    assert "has a checkpoint already, which would be used in place of --init_checkpoint=" in message


def test_analyze(command, folder, created, tmp_path):
    command(
        "analyze",
        "--task=SYNTHETIC",
        f"--init_checkpoint={folder}",
        f"--output_dir={created}",
        f"--model_dir={tmp_path}",
        "--max_seq_length=128",
        "--attention=mate_exact",
    )
    found = json.loads((tmp_path / "analysis" / "analysis.json").read_text())
    (mask,) = found["masks of an example"].values()
    assert mask["attention"] == "mate_exact"


def test_demo(folder, table):
    """The page has the model itself: attention can be shown."""
    given = flags.FLAGS
    given(["mate-tf", "--mode=demo", f"--init_checkpoint={folder}"])
    shown = ask._pretrained(given)
    assert shown.has_model
    talk = session.Conversation(table=read_table(str(table)))
    turn = shown.attend(shown.ask(talk, QUESTION)).turns[0]
    assert turn.flow[session.QUESTION].cells.shape[-2:] == (4, 2)  # the header too


@pytest.fixture
def no_tensorflow(monkeypatch):
    """Modes are not run, so that what is refused was refused before them."""

    def unreached(_):
        raise AssertionError("the mode would have been run")

    monkeypatch.setattr(main, "_mode", unreached)


TABLE = pathlib.Path(synthetic.__file__).with_name("example.csv")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("ask absent.csv who? --init_checkpoint=/absent", "/absent: no such folder or checkpoint"),
        ("ask t.csv who? --init_checkpoint={tmp}", "{tmp}: no trained model here"),
        ("demo --init_checkpoint={tmp}", "{tmp}: no trained model here"),
        ("predict --task=SQA --model_dir=absent", "absent: no checkpoint here; train first"),
        ("export --task=SQA --output_dir=absent", "absent/model: no checkpoint here; train first"),
        (
            "train --task=SQA --init_checkpoint=no/model.ckpt",
            "no/model.ckpt: no such",
        ),
        ("create_data --task=SQA --input_dir=absent", "--input_dir=absent: no such folder"),
        ("train --task=SQA --bert_config_file=absent", "--bert_config_file=absent: no such file"),
        ("train --config_file=absent.yaml", "--config_file=absent.yaml: no such file"),
        ("dance", "unknown mode 'dance'; known: run, create_data, "),
        ("aks t.csv who?", "unknown mode 'aks'; did you mean 'ask'?"),
        ("train more", "arguments without a flag: more"),
        ("ask --mode=train", "the mode is given twice: ask and --mode=train"),
        ("train --task=SQA --precision=int8", "--precision=int8: only for ask, demo,"),
        ("ask t.csv who? --export_dir=e --precision=int8", "--precision=int8: only for ask, demo,"),
    ],
)
def test_refused_before_the_mode_is_run(refused, no_tensorflow, tmp_path, words, message):
    assert refused(*words.format(tmp=tmp_path).split()).startswith(message.format(tmp=tmp_path))


def test_paths_of_buckets_are_left_to_tensorflow(tmp_path):
    given = flags.FLAGS
    words = "--mode=train --task=SQA --input_dir=gs://a/b --init_checkpoint=gs://a/model.ckpt"
    given(["mate-tf", *words.split(), "--model_dir=gs://a/c"])
    checks.check(given)


def test_names_on_the_hub_are_fetched_for_a_training(monkeypatch, capsys):
    monkeypatch.setattr(hub, "fetch", lambda name: f"/cache/{name}/snapshots/0123")
    given = flags.FLAGS
    given(["mate-tf", "--mode=train", "--task=SQA", "--init_checkpoint=google/tapas-base@main"])
    checks.check(given)
    assert given.init_checkpoint == "/cache/google/tapas-base@main/snapshots/0123"
    assert capsys.readouterr().err == "model | google/tapas-base@0123\n"


@pytest.mark.parametrize(
    ("words", "table", "questions"),
    [
        (["ask", "t.csv", "a?"], "t.csv", ["a?"]),
        (["ask", "t.csv", "a?", "b c?"], "t.csv", ["a?", "b c?"]),
        (["ask", "--table=t.csv", "a?"], "t.csv", ["a?"]),
        (["ask", "t.csv", "a?", "--question=b?", "--question=c?"], "t.csv", ["a?", "b?", "c?"]),
        (["ask", "t.csv", "--question=b?", "a?"], "t.csv", ["a?", "b?"]),
        (["--mode=ask", "--table=t.csv", "--question=a?"], "t.csv", ["a?"]),
    ],
)
def test_short_form(monkeypatch, words, table, questions):
    seen = []
    monkeypatch.setattr(main, "_mode", lambda _: seen.append)
    main.run(["mate-tf", *words, "--format=json"])
    (given,) = seen
    assert (given.mode, given.table, given.question) == ("ask", table, questions)
    assert given.format == "json"


def imported(project, *words, code):
    """Runs the program in a process of its own; returns the names of the modules it imports."""
    command = [sys.executable, "-X", "importtime", project / "run_task_main.py", *words]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}


def test_help_and_a_wrong_path_need_no_tensorflow(project, tmp_path):
    """So they take a fraction of a second."""
    large = {"tensorflow", "pandas", "numpy"}
    assert imported(project, "--help", code=0) & large == set()
    wrong = ("ask", str(TABLE), "who?", f"--init_checkpoint={tmp_path}")
    assert imported(project, *wrong, code=2) & large <= {"numpy"}


def test_a_program_imports_one_keras_and_no_statistics(project):
    """Keras 3, scikit-learn and SciPy's statistics would take seconds more."""
    found = imported(project, "--task=TABLES", code=2)
    assert {"tensorflow", "tf_keras.src", "mate_tf.tasks.registry"} <= found
    assert found & {"keras.src", "sklearn", "scipy.stats"} == set()
