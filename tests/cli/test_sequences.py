"""Pairs of sequences through the command line: a number of a pair, and two towers."""

import json

import pytest

from mate_tf.evaluation import predictions

CONFIG = """
task:
  name: NAME
  conversion: {max_seq_length: 32, tokens: bytes}
  train_data: {global_batch_size: 4, seed: 0}
  validation_data: {global_batch_size: 4}
  model:
    encoder:
      hidden_size: 16
      num_hidden_layers: 1
      num_attention_heads: 2
      intermediate_size: 16
trainer: {train_steps: 2, steps_per_loop: 1, summary_interval: 1, checkpoint_interval: 1,
  validation_interval: 2}
tf_random_seed: 0
"""


@pytest.fixture
def flags(tmp_path, without_graphs):
    """flags(task): those of a tiny experiment with files in <tmp_path>/official."""

    def make(name):
        config = tmp_path / "tiny.yaml"
        config.write_text(CONFIG.replace("NAME", name))
        return (
            f"--config_file={config}",
            f"--input_dir={tmp_path / 'official'}",
            f"--output_dir={tmp_path / 'out'}",
            "--num_processes=1",
        )

    (tmp_path / "official").mkdir()
    return make


def test_a_number_of_a_pair(command, flags, tmp_path):
    rows = [f"a {i}\tb {i % 3}\t{i % 6}" for i in range(9)]
    for split in ("train", "dev"):
        text = "\n".join(["sentence1\tsentence2\tscore", *rows]) + "\n"
        (tmp_path / "official" / f"{split}.tsv").write_text(text)
    (tmp_path / "official" / "test.tsv").write_text("sentence1\tsentence2\na\tb\n")
    output = command("--mode=run", *flags("STS-B"))
    assert "squared error  " in output
    model_dir = tmp_path / "out" / "model"
    results = json.loads((model_dir / "metrics.json").read_text())
    of_model = results["dev"]["STS-B"]["model"]
    assert set(of_model) > {"Pearson correlation", "Spearman correlation"}
    assert (of_model["questions"], of_model["unanswered"]) == (9, 0)
    assert results["test"]["STS-B"]["model"] == {"questions without gold answer": 1}
    # Both files have the number, which is no class.
    by_name = {each.question_id: each for each in predictions.read_json(model_dir / "dev.json")}
    for each in predictions.read_tsv(model_dir / "dev.tsv"):
        assert each.value == pytest.approx(by_name[each.question_id].value)
        assert each.class_index is None
        assert each.class_probabilities == ()


def test_two_towers(command, refused, flags, tmp_path):
    rows = [f"{i % 2}\tP{i}\tQ{i}\tpaper {i}\tanother paper, {i}" for i in range(6)]
    for split in ("train", "eval", "test"):
        path = tmp_path / "official" / f"new_aan_pairs.{split}.tsv"
        path.write_text("\n".join(rows) + "\n")
    arguments = flags("LRA_RETRIEVAL")
    output = command("--mode=create_data", *arguments)
    # 16 bytes for each paper, [CLS] among them.
    assert "sequence tokens dropped in 6 examples" in output
    command("--mode=train", *arguments)
    command("--mode=predict_and_evaluate", *arguments)
    results = json.loads((tmp_path / "out" / "model" / "metrics.json").read_text())
    assert results["dev"]["LRA_RETRIEVAL"]["model"]["questions"] == 6
    longer = refused("--mode=train", *arguments, "--max_seq_length=9000")
    assert longer.startswith("task.conversion.max_seq_length=9000 is more than task.model.encoder.")
