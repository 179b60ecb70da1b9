"""One's own tables through every mode: the command line finds out what the answers are."""

import json

import pytest

from mate_tf.data import synthetic

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
      vocab_size: VOCABULARY
      hidden_size: 16
      num_hidden_layers: 1
      num_attention_heads: 2
      intermediate_size: 16
      attention: {name: mate_efficient, global_length: 16, radius: 16}
trainer: {train_steps: 2, steps_per_loop: 1, summary_interval: 1, checkpoint_interval: 1,
          validation_interval: 2}
"""
ANSWERS = {
    "classes": [{"class": "false"}, {"class": "true"}],
    "cells": [{"cells": [[0, "city"]]}, {"cells": [[1, 0], [2, 0]]}],
    "texts and numbers": [{"text": "rome"}, {"number": 31}],
}
RESULT = {"classes": "classes", "texts and numbers": "answers"}


@pytest.fixture
def folder(tmp_path):
    """A data set with answers of one kind, a configuration and a vocabulary."""

    def write(answers):
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "cities.csv").write_text(TABLE)
        asked = [{"table": "cities.csv", "question": "which city?", **one} for one in answers]
        for split in ("train", "dev", "test"):
            path = tmp_path / "data" / f"{split}.jsonl"
            path.write_text("\n".join(map(json.dumps, asked)))
        size = len(synthetic.vocabulary())
        (tmp_path / "custom.yaml").write_text(SETTINGS.replace("VOCABULARY", str(size)))
        synthetic.make_vocabulary(tmp_path / "vocab.txt")
        return tmp_path

    return write


@pytest.mark.parametrize("kind", ["classes", "texts and numbers"])
def test_from_questions_to_answers(kind, folder, command):
    path = folder(ANSWERS[kind])
    common = (f"--config_file={path / 'custom.yaml'}", f"--output_dir={path / 'out'}")
    output = command(
        *common,
        "--num_processes=1",
        f"--input_dir={path / 'data'}",
        f"--bert_vocab_file={path / 'vocab.txt'}",
    )
    assert "created | train: 2 examples of 2 questions" in output
    results = json.loads((path / "out" / "model" / "metrics.json").read_text())
    assert results["test"][RESULT[kind]]["model"]["questions"] == 2
    # Modes that do not see the data know what they decided.
    output = command(*common, "--mode=eval")
    name = {"classes": "class_accuracy"}.get(kind, "answer_accuracy")
    assert f"{name}: " in output
    output = command(
        *common, "--mode=ask", f"--table={path / 'data' / 'cities.csv'}", "--question=which city?"
    )
    answer = json.loads(next(line for line in output.splitlines() if line.startswith("{")))
    assert set(answer) == {"cells", "aggregation", "value", "probability", "text", "cuts"}
    assert (answer["text"] in ("false", "true")) == (kind == "classes")


def test_another_kind_of_answers_is_another_model(folder, command, refused):
    """What was trained on cells does not go on with classes."""
    path = folder(ANSWERS["cells"])
    arguments = (
        f"--config_file={path / 'custom.yaml'}",
        f"--output_dir={path / 'out'}",
        "--num_processes=1",
        f"--input_dir={path / 'data'}",
        f"--bert_vocab_file={path / 'vocab.txt'}",
    )
    command(*arguments, "--mode=create_data")
    command(*arguments, "--mode=train")
    for split in ("train", "dev", "test"):
        lines = [{"table": "cities.csv", "question": "so?", "class": index} for index in (0, 1)]
        (path / "data" / f"{split}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    command(*arguments, "--mode=create_data")
    assert "give another --model_dir" in refused(*arguments, "--mode=train")
