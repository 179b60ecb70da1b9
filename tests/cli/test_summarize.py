"""--task=DENOISE and SUMMARIZE: an encoder-decoder from text to written summaries and ROUGE."""

import itertools
import json
import sys

import numpy as np
import pytest

from mate_tf.evaluation import rouge, texts
from mate_tf.serving import Summarizer
from mate_tf.tasks.text_to_text import SummarizeTask
from mate_tf.training import layer_log

from .. import graphs

WORDS = [f"w{i}" for i in range(30)]
PIECES = ["[PAD]", "[UNK]", "[MASK]", "[SEP]", "[CLS]", ".", *WORDS]
CONFIG = """
task:
  name: NAME
  conversion: {max_seq_length: 24, max_target_length: 24}
  train_data: {global_batch_size: 4, seed: 0}
  validation_data: {global_batch_size: 4}
  decoding: {beam_size: 2, max_length: 6, min_length: 2}
  model:
    num_decoder_layers: 1
    max_target_positions: 24
    start_decoder_from_encoder: true
    encoder:
      vocab_size: 36
      hidden_size: 16
      num_hidden_layers: 1
      num_attention_heads: 2
      intermediate_size: 16
      attention: {name: tree_fine, tree_height: 1}
trainer: {train_steps: 2, steps_per_loop: 1, summary_interval: 1, checkpoint_interval: 1,
  validation_interval: 2}
tf_random_seed: 0
"""


@pytest.fixture
def flags(tmp_path):
    """flags(task): those of a tiny experiment on the files in <tmp_path>/<task>."""
    draw = np.random.default_rng(0)
    lines = [" ".join(draw.choice(WORDS, 6)) + " ." for _ in range(60)]
    (tmp_path / "vocab.txt").write_text("\n".join(PIECES))
    for name in ("DENOISE", "SUMMARIZE"):
        (tmp_path / name).mkdir()
        (tmp_path / f"{name}.yaml").write_text(CONFIG.replace("NAME", name))
    (tmp_path / "DENOISE" / "a.txt").write_text(
        "\n\n".join(map("\n".join, itertools.pairwise(lines)))
    )
    for split, begin, count in (("train", 0, 8), ("val", 20, 5), ("test", 40, 3)):
        articles = [
            {
                "article_id": f"PMC{i}",
                "article_text": lines[i : i + 2],
                "abstract_text": [f"<S> {lines[i]} </S>"],
                "labels": None,
                "section_names": ["results"],
                "sections": [lines[i : i + 2]],
            }
            for i in range(begin, begin + count)
        ]
        text = "".join(json.dumps(each) + "\n" for each in articles)
        (tmp_path / "SUMMARIZE" / f"{split}.txt").write_text(text)

    def make(name):
        return (
            f"--config_file={tmp_path / name}.yaml",
            f"--bert_vocab_file={tmp_path / 'vocab.txt'}",
            f"--input_dir={tmp_path / name}",
            f"--output_dir={tmp_path / 'out' / name}",
            "--num_processes=1",
        )

    return make


@pytest.mark.slow
def test_from_noise_to_summaries(command, refused, flags, tmp_path, monkeypatch):
    """The first training by graphs, whose model and trees are those of the second one."""
    output = command("--mode=run", *flags("DENOISE"))
    assert "target accuracy  " in output
    assert "step 2/2  loss " in output
    assert refused("--mode=predict", *flags("DENOISE")).startswith("task DENOISE does not answer")

    with graphs.avoided():
        summarized(command, flags, tmp_path, monkeypatch)


def summarized(command, flags, tmp_path, monkeypatch):
    pretrained = tmp_path / "out" / "DENOISE" / "model"
    arguments = (*flags("SUMMARIZE"), f"--init_checkpoint={pretrained}")
    arguments += ("--params_override=trainer.layer_log_interval=2",)
    output = command("--mode=run", *arguments)
    (line,) = (line for line in output.splitlines() if line.startswith("initialized | "))
    # All weights come from DENOISE, the decoder's too, so that none are copied from the encoder.
    assert "missing: none" in line
    assert "unused: none" in line
    model_dir = tmp_path / "out" / "SUMMARIZE" / "model"
    first, *_ = layer_log.read(str(model_dir))
    assert sum(first["layers"][0]["leaf_shares"]) == pytest.approx(1, abs=1e-3)
    assert f"predicted | 5 texts | {model_dir / 'dev.jsonl'}" in output
    of_dev = json.loads((model_dir / "metrics.json").read_text())["dev"]
    systems = of_dev["ROUGE (F1)"]
    assert list(systems) == ["model", "lead-1", "lead-3", "random sentence"]
    assert systems["lead-1"]["ROUGE-Lsum"] == 1.0  # the abstract is the first sentence
    assert 0 <= systems["model"]["ROUGE-1"] < 1
    assert "\ndev\nROUGE (F1) " in output
    assert "model minus baseline, 95 % interval" in output
    beam = texts.read(model_dir / "test.jsonl")
    assert {each.question_id for each in beam} == {f"PMC{i}-0_0" for i in (40, 41, 42)}
    assert all(2 <= len(each.texts[0].split()) <= 6 for each in beam)

    monkeypatch.setattr(SummarizeTask, "splits", ("train", "test"))
    greedy = "--params_override=task.decoding.beam_size=1"
    command("--mode=predict", *arguments, greedy)
    found = texts.read(model_dir / "test.jsonl")
    # A beam of 2 finds nothing worse than greedy search here, and scores are comparable.
    assert all(a.score >= b.score - 1e-5 for a, b in zip(beam, found, strict=True))
    assert all(each.score < 0 for each in found)

    command("--mode=export", *arguments, greedy)
    lines = (tmp_path / "SUMMARIZE" / "test.txt").read_text().splitlines()
    documents = [" ".join(json.loads(line)["article_text"]) for line in lines]
    summarize = Summarizer(str(model_dir / "export"))
    assert summarize(documents) == [each.texts[0] for each in found]


def test_the_package_for_scores_is_missed_before_the_training(
    refused, flags, tmp_path, monkeypatch
):
    rouge._scorer.cache_clear()
    monkeypatch.setitem(sys.modules, "rouge_score", None)
    message = refused("--mode=run", *flags("SUMMARIZE"))
    assert message == "ROUGE needs the package rouge-score: pip install 'mate-tf[rouge]'"
    assert not (tmp_path / "out").exists()


def test_a_bad_line(refused, flags, tmp_path):
    path = tmp_path / "SUMMARIZE" / "train.txt"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[1].replace("abstract_text", "abstract")]))
    message = refused("--mode=create_data", *flags("SUMMARIZE"))
    assert message == f"{path} line 2: has no 'abstract_text'"
    assert not list((tmp_path / "out").rglob("*.tfrecord"))
