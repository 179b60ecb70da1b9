"""--task=LISTOPS through its modes: sequences without tables, from nothing to metrics."""

import json
import re

import pytest

from mate_tf.data.datasets import listops
from mate_tf.training import trainer

CONFIG = """
task:
  name: LISTOPS
  generation: {num_train: 24, num_dev: 6, num_test: 5, min_length: 3, max_length: 20}
  conversion: {max_seq_length: 24}
  train_data: {global_batch_size: 4, buckets: [12], seed: 0}
  validation_data: {global_batch_size: 4}
  model:
    classification_hidden_sizes: [8]
    encoder:
      hidden_size: 16
      num_hidden_layers: 1
      num_attention_heads: 2
      intermediate_size: 16
trainer: {train_steps: 2, steps_per_loop: 1, summary_interval: 1, checkpoint_interval: 1,
  validation_interval: 2}
tf_random_seed: 0
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("listops")


@pytest.fixture(scope="module")
def arguments(folder):
    config = folder / "tiny.yaml"
    config.write_text(CONFIG)
    return f"--config_file={config}", f"--output_dir={folder / 'out'}", "--num_processes=1"


def test_all_modes(command, arguments, folder, files):
    output = command("--mode=run", *arguments)
    assert "created | train: 24 examples of 24 questions (100.0%)" in output
    out = folder / "out"
    assert {
        "listops/basic_train.tsv",
        "listops/basic_val.tsv",
        "listops/basic_test.tsv",
        "vocab.txt",
        "tf_examples/train.tfrecord",
        "model/dev.tsv",
        "model/metrics.json",
    } <= set(files(out))
    vocabulary = (out / "vocab.txt").read_text().split()
    assert vocabulary == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *listops.SYMBOLS]
    results = json.loads((out / "model" / "metrics.json").read_text())
    of_model = results["dev"]["LISTOPS"]["model"]
    assert (of_model["questions"], of_model["unanswered"]) == (6, 0)
    assert 0 <= of_model["accuracy"] <= 1
    assert set(results["test"]["LISTOPS"]) == {"model", "majority class"}

    # It goes on where it stopped.
    output = command("--mode=train", *arguments, "--num_train_steps=3")
    assert "step 3/3  loss " in output
    assert "step 1/3" not in output
    assert trainer.global_step(str(out / "model")) == 3

    # Accuracy of the training loop is that of the predictions: padding does not count.
    evaluated = command("--mode=eval", *arguments)
    command("--mode=predict_and_evaluate", *arguments)
    results = json.loads((out / "model" / "metrics.json").read_text())
    accuracy = results["dev"]["LISTOPS"]["model"]["accuracy"]
    assert re.search(rf"\n  class accuracy +{100 * accuracy:.2f} %", evaluated)


def test_official_files_again(command, arguments, folder):
    """Reading what was generated gives the same examples as generating it."""
    source, other = folder / "out", folder / "other"
    command("--mode=create_data", *arguments)
    arguments = arguments[0], f"--output_dir={other}", arguments[2]
    command("--mode=create_data", *arguments, f"--input_dir={source / 'listops'}")
    for name in ("train", "dev", "test"):
        path = f"tf_examples/{name}.tfrecord"
        assert (source / path).read_bytes() == (other / path).read_bytes()
    assert not (other / "listops").exists()


def test_bad_files(refused, arguments, tmp_path):
    create = ("--mode=create_data", *arguments)
    assert refused(*create, "--input_dir=absent") == "--input_dir=absent: no such folder"
    path = tmp_path / "basic_train.tsv"
    assert refused(*create, f"--input_dir={tmp_path}") == f"{path}: no such file"
    path.write_text("Source\tTarget\n( ( ( [MAX 2 ) 9 ) ] )\t9\n( ( ( [MOX 2 ) 9 ) ] )\t9\n")
    message = refused(*create, f"--input_dir={tmp_path}")
    assert message == f"{path} line 3: '[MOX' is not a symbol of ListOps"


def test_modes_it_does_not_have(refused, arguments, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1,2\n")
    (tmp_path / "saved_model.pb").touch()
    ask = ("--mode=ask", f"--table={table}", "--question=?", f"--export_dir={tmp_path}")
    assert refused(*ask, *arguments) == "task LISTOPS does not read tables, so it has no --mode=ask"


def test_options_that_make_no_sense(refused, arguments):
    create = ("--mode=create_data", *arguments)
    message = refused(*create, "--params_override=task.conversion.tokens=letters")
    assert message == "conversion.tokens: 'letters' is not one of word_pieces, bytes, symbols"
    message = refused(*create, "--params_override=task.generation.max_length=4")
    assert message.startswith("no ListOps expression follows these rules")
    assert "drop_rows_to_fit" in refused(*create, "--drop_rows_to_fit")
