"""--task=TEXT_PRETRAIN: a mask learned from text, and a task of GLUE under it."""

import re

import numpy as np
import pytest

from mate_tf import checkpoints
from mate_tf.attention import mask_files
from mate_tf.attention.learned_mask import LearnedMaskPattern
from mate_tf.training import experiments

from .. import graphs

WORDS = [f"w{i}" for i in range(40)]
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
SIZES = """
      vocab_size: 45
      hidden_size: 16
      num_hidden_layers: 1
      num_attention_heads: 2
      intermediate_size: 16"""
CONFIG = f"""
task:
  name: TEXT_PRETRAIN
  dev_share: 0.3
  conversion: {{max_seq_length: 16}}
  train_data: {{global_batch_size: 4, seed: 0}}
  validation_data: {{global_batch_size: 4}}
  model:
    encoder:{SIZES}
      attention:
        name: learned_mask
        objective: dam
        length: 16
        initial_alpha: 0.02
        sparsity_weight: 0.1
        temperature_steps: 4
trainer:
  train_steps: 6
  steps_per_loop: 2
  summary_interval: 2
  checkpoint_interval: 2
  validation_interval: 6
  optimizer_config:
    optimizer: {{bert_adamw: {{bias_correction: true, pattern_learning_rate_factor: 10.0}}}}
    learning_rate: {{bert: {{initial_learning_rate: 0.001, warmup_steps: 0}}}}
tf_random_seed: 0
"""
RTE = f"""
task:
  name: RTE
  conversion: {{max_seq_length: 16}}
  train_data: {{global_batch_size: 4, seed: 0}}
  validation_data: {{global_batch_size: 4}}
  model:
    encoder:{SIZES}
      attention: {{name: static_mask, mask: MASK}}
trainer: {{train_steps: 2, steps_per_loop: 1, summary_interval: 1, checkpoint_interval: 1,
  validation_interval: 2}}
"""


@pytest.fixture
def inputs(tmp_path):
    """Configurations, a vocabulary and text."""
    rng = np.random.default_rng(0)
    documents = ("\n".join(" ".join(rng.choice(WORDS, 4)) for _ in range(4)) for _ in range(40))
    for name, content in {
        "text.yaml": CONFIG,
        "vocab.txt": "\n".join(PIECES),
        "text/a.txt": "\n\n".join(documents),
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    rows = [f"{i}\tw{i} w1\tw2 w{i}\t{('not_', '')[i % 2]}entailment" for i in range(8)]
    (tmp_path / "rte").mkdir()
    for split in ("train", "dev", "test"):
        text = "\n".join(["index\tsentence1\tsentence2\tlabel", *rows]) + "\n"
        (tmp_path / "rte" / f"{split}.tsv").write_text(text)
    return tmp_path


def test_a_mask_is_learned_and_used(command, inputs):
    model_dir = inputs / "out" / "model"
    path = model_dir / "masks" / "patterns_0.npz"
    arguments = (
        f"--config_file={inputs / 'text.yaml'}",
        f"--bert_vocab_file={inputs / 'vocab.txt'}",
        f"--input_dir={inputs / 'text'}",
        f"--output_dir={inputs / 'out'}",
        "--num_processes=1",
    )
    output = command("--mode=run", *arguments)
    (last,) = (line for line in output.splitlines() if line.startswith("step 6/6  loss "))
    end = r"  sparsity [\d.]+ %  temperature [\d.]+  input wait [\d.]+ %  lr \S+  [\d.]+/s"
    end += "  ETA 0:00$"
    assert re.search(end, last), last
    (line,) = (line for line in output.splitlines() if line.startswith("mask | "))
    assert line.startswith(f"mask | {path}: sparsity ")
    # The price pushes alpha below 0, from where it began.
    mask = mask_files.load(path, num_heads=2)
    assert mask.shape == (2, 16, 16)
    assert mask.mean() < 0.5
    trained = output.partition("trained | step 6\n")[2]
    assert re.search(rf"\n  sparsity +{100 * (1 - mask.mean()):.2f} %\n", trained)
    variables = checkpoints.pattern_variables(model_dir)[0]
    assert variables["step"] == 6
    config = experiments.load(str(model_dir / "params.yaml")).task.model.encoder.attention
    pattern = LearnedMaskPattern.restored(config, variables)
    np.testing.assert_array_equal(pattern.final_mask(), mask)
    assert mask_files.made_by(path)["step"] == 6

    # Deleted or never written because of a kill, the same command writes it again.
    path.unlink()
    output = command("--mode=train", *arguments)
    assert f"mask | {path}" in output
    np.testing.assert_array_equal(mask_files.load(path), mask)

    (inputs / "rte.yaml").write_text(RTE.replace("MASK", str(path)))
    arguments = (
        f"--config_file={inputs / 'rte.yaml'}",
        f"--bert_vocab_file={inputs / 'vocab.txt'}",
        f"--input_dir={inputs / 'rte'}",
        f"--output_dir={inputs / 'out_rte'}",
        "--num_processes=1",
    )
    command("--mode=create_data", *arguments)
    with graphs.avoided():
        output = command("--mode=train", *arguments, f"--init_checkpoint={model_dir}")
    (line,) = (line for line in output.splitlines() if line.startswith("initialized | "))
    assert "encoder/" not in line.partition("missing: ")[2].partition(";")[0]
    assert "patterns/0/alpha" in line.partition("unused: ")[2]
    assert "class accuracy  " in output


def test_no_text_there(refused, inputs, tmp_path):
    (tmp_path / "empty").mkdir()
    message = refused(
        "--mode=create_data",
        f"--config_file={inputs / 'text.yaml'}",
        f"--bert_vocab_file={inputs / 'vocab.txt'}",
        f"--input_dir={tmp_path / 'empty'}",
        f"--output_dir={inputs / 'out'}",
    )
    assert message.startswith(f"{tmp_path / 'empty'}: has no document for train")
    assert not list((inputs / "out").rglob("*.tfrecord"))
