"""docs/tasks/custom.md: its programs for Keras and for tf-models' trainer, run on little data."""

import json
import os
import subprocess
import sys

import pytest
import yaml

from mate_tf.data import records, synthetic
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.serving.predictor import Predictor

from . import pages

pytestmark = pytest.mark.slow

PAGE = pages.PROJECT / "docs" / "tasks" / "custom.md"
STAFF = "name,age\nAnn,30\nBob,41\nCy,52\n"
LENGTH = 64


def block(first: str) -> str:
    """The only block of the page that begins with a line."""
    (found,) = (each for each in pages.blocks(PAGE, "python") if each.startswith(first))
    return found


def run(folder, *words):
    """Runs a program of Python in a folder; returns what it prints."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(pages.PROJECT)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_keras(tmp_path):
    data = tmp_path / "my_data"
    (data / "tables").mkdir(parents=True)
    (data / "tables" / "staff.csv").write_text(STAFF)
    for split, number in (("train", 8), ("dev", 2)):
        lines = [
            {"table": "tables/staff.csv", "question": f"who is {age}?", "text": [name]}
            for name, age in (("Ann", 30), ("Bob", 41))
        ]
        text = "".join(f"{json.dumps(each)}\n" for each in lines * number)
        (data / f"{split}.jsonl").write_text(text)
    (command,) = (each for each in pages.commands(PAGE) if "--mode=create_data" in each.words)
    run(tmp_path, pages.PROJECT / "run_task_main.py", *command.words[1:])
    printed = run(tmp_path, "-c", block("import mate_tf\nimport tf_keras"))
    assert "val_loss" in printed
    again = Predictor.from_pretrained(tmp_path / "out" / "mine")
    assert again.calibration is None
    assert again.ask(data / "tables" / "staff.csv", "who is 41?").text == "Bob"


def test_strings(tmp_path):
    synthetic.make_vocabulary(tmp_path / "vocab.txt")
    code = block("import tensorflow as tf\nfrom mate_tf.serving.in_graph.preprocessor")
    code += "for batch in dataset:\n    print(batch['label_ids'].numpy().sum())\n"
    assert int(run(tmp_path, "-c", code)) >= 2  # a word piece of each answer


def test_the_train_program(tmp_path):
    vocab_file = tmp_path / "vocab.txt"
    synthetic.make_vocabulary(vocab_file)
    (tmp_path / "train.py").write_text(block("# train.py"))
    generated = synthetic.generate(0, 4)
    converter = ExampleConverter(vocab_file, LENGTH, drop_rows_to_fit=True)
    examples = [
        each.example for each in converter.convert_all(*generated) if hasattr(each, "example")
    ]
    records.write_examples(examples, tmp_path / "train.tfrecord")
    data = {"input_path": str(tmp_path / "train.tfrecord"), "global_batch_size": 4}
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    sizes |= {"intermediate_size": 16, "vocab_size": len(synthetic.vocabulary())}
    settings = {
        "task": {
            "train_data": data,
            "validation_data": data,
            "conversion": {"bert_vocab_file": str(vocab_file), "max_seq_length": LENGTH},
            "model": {"encoder": sizes},
        },
        "trainer": {
            "train_steps": 2,
            "steps_per_loop": 1,
            "summary_interval": 1,
            "checkpoint_interval": 1,
            "validation_interval": 2,
            "validation_steps": 1,
            "optimizer_config": {"learning_rate": {"bert": {"decay_steps": 2}}},
        },
    }
    (tmp_path / "settings.yaml").write_text(yaml.safe_dump(settings))
    (tmp_path / "configs").symlink_to(pages.PROJECT / "configs")
    (command,) = (each for each in pages.commands(PAGE) if each.words[1] == "train.py")
    run(tmp_path, *command.words[1:])
    model_dir = tmp_path / "out" / "sqa" / "model"
    assert {path.name for path in model_dir.glob("ckpt-*.index")} >= {"ckpt-2.index"}
    table = pages.PROJECT / "mate_tf" / "data" / "synthetic" / "example.csv"
    assert Predictor.from_pretrained(model_dir).ask(table, "which city?").table is not None
