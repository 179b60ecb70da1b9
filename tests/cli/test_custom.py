"""One's own tables through every mode: the command line finds out what the answers are."""

import dataclasses
import json
import re

import pytest

from mate_tf.serving import export
from mate_tf.serving.answer import Answer

TABLE = "city,country,people\nrome,italy,28\nbari,italy,3\nbern,switzerland,1\n"
SETTINGS = """
task:
  name: CUSTOM
  conversion: {max_seq_length: 64}
  train_data: {global_batch_size: 2}
  validation_data: {global_batch_size: 2}
  model:
    max_num_rows: 16
    max_num_columns: 8
    encoder:
      vocab_size: 300
      hidden_size: 16
      num_hidden_layers: 1
      num_attention_heads: 2
      intermediate_size: 16
      attention: {name: full}
trainer: {train_steps: 2, steps_per_loop: 1, summary_interval: 1, checkpoint_interval: 1,
          validation_interval: 2}
"""
CLASSES = [{"class": "false"}, {"class": "true"}]
TEXTS_AND_NUMBERS = [{"text": "rome"}, {"number": 31}]


@pytest.fixture
def folder(tmp_path, without_graphs):
    """A configuration and a table; `ask` writes the questions."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "cities.csv").write_text(TABLE)
    (tmp_path / "custom.yaml").write_text(SETTINGS)
    return tmp_path


def results_of(model_dir):
    return json.loads((model_dir / "metrics.json").read_text())


def ask(folder, answers):
    """Questions with these answers in every split."""
    asked = [{"table": "cities.csv", "question": "which city?", **answer} for answer in answers]
    for split in ("train", "dev", "test"):
        path = folder / "data" / f"{split}.jsonl"
        path.write_text("\n".join(map(json.dumps, asked)))


def test_from_questions_to_answers_of_one_kind_and_another(folder, command, refused, monkeypatch):
    without_data = (f"--config_file={folder / 'custom.yaml'}", f"--output_dir={folder / 'out'}")
    with_data = (
        *without_data,
        "--num_processes=1",
        f"--input_dir={folder / 'data'}",
    )

    def answer(*arguments):
        """Modes that do not see the data know what they decided."""
        asked = (f"--table={folder / 'data' / 'cities.csv'}", "--question=which city?")
        output = command(*without_data, *arguments, "--mode=ask", *asked)
        found = json.loads(next(line for line in output.splitlines() if line.startswith("{")))
        assert set(found) == {field.name for field in dataclasses.fields(Answer)} - {"table"}
        return found

    ask(folder, TEXTS_AND_NUMBERS)
    output = command(*with_data)
    assert "created | train: 2 examples of 2 questions" in output
    # Evaluations and scores print the same number.
    right, _ = results_of(folder / "out" / "model")["dev"]["answers"]["model"]["all"]
    assert re.findall(r"answer accuracy +([\d.]+) %", output) == [f"{100 * right:.2f}"]
    assert "evaluation  loss" in output
    results = results_of(folder / "out" / "model")
    assert results["test"]["answers"].keys() >= {"model", "commonest answer", "random cell"}
    for scores in results["test"]["answers"].values():
        assert 0 <= scores.pop("95 % from") <= scores.pop("95 % to") <= 1
        assert {kind: of_kind[1] for kind, of_kind in scores.items()} == {
            "all": 2, "number": 1, "text": 1
        }  # fmt: skip
    assert results["test"]["answers"]["commonest answer"]["all"][0] == 1
    # Nobody gave a vocabulary.
    assert f"vocabulary | {folder / 'out' / 'vocab.txt'}: " in output
    assert answer()["text"] not in ("false", "true")

    # What was trained on texts does not go on with classes.
    ask(folder, CLASSES)
    command(*with_data, "--mode=create_data")
    assert "give another --model_dir" in refused(*with_data, "--mode=train")
    another = f"--model_dir={folder / 'classes'}"
    monkeypatch.setattr(export, "_reader", lambda *_: None)  # --mode=ask has another signature
    command(*with_data, another)
    results = json.loads((folder / "classes" / "metrics.json").read_text())
    assert results["test"]["answers"]["model"]["class"][1] == 2
    assert results["test"]["answers"]["commonest answer"]["class"][0] == 0.5
    assert "class accuracy  " in command(*without_data, another, "--mode=eval")
    assert answer(another)["text"] in ("false", "true")


@pytest.mark.parametrize(
    ("answers", "missing"),
    [
        pytest.param(TEXTS_AND_NUMBERS, "missing: none; unused: none", marks=pytest.mark.slow),
        pytest.param(
            [{"cells": [[0, 0]]}],
            "missing: none; unused: column_output_bias",
            marks=pytest.mark.slow,
        ),
        (CLASSES, "missing: output_bias_cls, output_weights_cls"),
    ],
)
def test_from_the_preset(folder, command, refused, answers, missing):
    """The documented command, with a step of few tokens; another width says what to set."""
    ask(folder, answers)
    flags = (
        "--config_file=configs/custom_mini.yaml",
        "--init_checkpoint=mini",
        f"--input_dir={folder / 'data'}",
        f"--output_dir={folder / 'out'}",
        "--num_processes=1",
    )
    small = "trainer.train_steps=1,trainer.steps_per_loop=1,trainer.validation_interval=1"
    small += ",trainer.summary_interval=1,trainer.checkpoint_interval=1"
    small += ",task.train_data.global_batch_size=2,task.validation_data.global_batch_size=2"
    command("--mode=create_data", *flags)
    output = command("--mode=train", *flags, f"--params_override={small}")
    assert missing in output
    if answers is not TEXTS_AND_NUMBERS:
        return
    other = ("--params_override=task.model.encoder.hidden_size=120", f"--model_dir={folder / 'x'}")
    message = refused("--mode=train", *flags, *other)
    assert "hidden_size is 384 in the checkpoint, 120 in the configuration" in message
    assert "set task.model.encoder.hidden_size=384" in message


def test_all_tables_share_their_columns(folder, command):
    """The confidence is fitted to questions in which a word is exchanged."""
    ask(folder, [{"question": "where is rome?", "text": "italy"}, {"number": 31}])
    flags = (
        f"--config_file={folder / 'custom.yaml'}",
        f"--output_dir={folder / 'out'}",
        f"--input_dir={folder / 'data'}",
        "--num_processes=1",
    )
    for mode in ("create_data", "train"):
        command(*flags, f"--mode={mode}")
    output = command(*flags, "--mode=predict_and_evaluate", "--calibrate")
    assert "questions with an exchanged word  " in output
    results = results_of(folder / "out" / "model")["dev"]
    assert results["confidence"]["model"]["right"] == results["answers"]["model"]["all"][0]
