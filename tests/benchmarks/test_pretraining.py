"""The comparison of starting points runs each training once and reports all seeds."""

import json
import subprocess
import sys

import pytest

ROWS = [("ann", "bern"), ("bob", "basel"), ("cy", "chur"), ("dee", "genf")]


@pytest.fixture
def benchmark(load_benchmark):
    return load_benchmark("pretraining")


def test_each_training_runs_once(benchmark, tmp_path, monkeypatch, capsys):
    runs = []

    def train(options, log, *flags):
        runs.append(dict(flag.lstrip("-").split("=", 1) for flag in flags))
        log.parent.mkdir(parents=True, exist_ok=True)
        table = f"  loss             0.5\n  answer accuracy {len(runs)}1.00 %\n"
        return f"step 4/4  loss 0.5  acc 3.0 %\ntrained | step 4\n{table}"

    monkeypatch.setattr(benchmark, "train", train)
    arguments = [
        "pretraining.py",
        f"--fine_tuning_data={tmp_path / 'sqa'}",
        f"--pretraining_data={tmp_path / 'pre'}",
        f"--output={tmp_path / 'out'}",
        "--pretraining_steps=6",
        "--steps=4",
        "--seeds",
        "0",
        "1",
    ]
    (tmp_path / "pre" / "full").mkdir(parents=True)
    (tmp_path / "pre" / "full" / "ckpt-6.index").touch()
    monkeypatch.setattr(sys, "argv", arguments)
    benchmark.main()
    pretrained = [run for run in runs if "init_checkpoint" not in run and "attention" in run]
    assert {run["attention"] for run in pretrained} == {"mate_efficient"}  # full was there
    starts = [run.get("init_checkpoint") for run in runs if "attention" not in run]
    mate, full = (str(tmp_path / "pre" / name / "ckpt-6") for name in ("mate_efficient", "full"))
    assert starts == [None, None, mate, mate, full, full]
    found = json.loads((tmp_path / "out" / "pretraining.json").read_text())["accuracy"]
    assert found["nothing"] == [0.11, 0.21]
    assert "nothing              16.0  11.0  21.0" in capsys.readouterr().out
    assert (tmp_path / "out" / "pretraining.png").stat().st_size > 1000
    # Again: all results are there.
    done = len(runs)
    (tmp_path / "pre" / "mate_efficient").mkdir(exist_ok=True)
    (tmp_path / "pre" / "mate_efficient" / "ckpt-6.index").touch()
    benchmark.main()
    assert len(runs) == done


def write_sqa(folder):
    """SQA's official files: one table, a question about each of its cells."""
    lines = ["id\tannotator\tposition\tquestion\ttable_file\tanswer_coordinates\tanswer_text"]
    for row, (name, town) in enumerate(ROWS):
        where = f"nt-{row}\t0\t0\twhere is {name} ?\ttable_csv/a.csv"
        lines.append(f"{where}\t\"['({row}, 1)']\"\t\"['{town}']\"")
    (folder / "table_csv").mkdir(parents=True)
    for split in ("random-split-1-train", "random-split-1-dev", "train", "test"):
        (folder / f"{split}.tsv").write_text("\n".join(lines) + "\n")
    rows = [("name", "town"), *ROWS]
    (folder / "table_csv" / "a.csv").write_text("".join(f"{a},{b}\n" for a, b in rows))


@pytest.mark.slow
def test_two_steps_for_real(jobs_in_this_process, benchmark, tmp_path, monkeypatch, capsys):
    write_sqa(tmp_path / "sqa")
    words = {"where", "is", "?", "name", "town", "[EMPTY]", *(word for row in ROWS for word in row)}
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(words)]
    (tmp_path / "vocab.txt").write_text("\n".join(pieces))
    for config, source, name in (
        ("sqa_small", tmp_path / "sqa", "fine"),
        ("pretrain_small", tmp_path / "fine", "pre"),
    ):
        subprocess.run(
            [
                *(sys.executable, str(benchmark.ROOT / "run_task_main.py"), "--mode=create_data"),
                *(f"--config_file={benchmark.ROOT / 'configs' / config}.yaml", "--num_processes=1"),
                *(f"--input_dir={source}", f"--bert_vocab_file={tmp_path / 'vocab.txt'}"),
                f"--output_dir={tmp_path / name}",
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    arguments = ["x", f"--fine_tuning_data={tmp_path / 'fine'}", "--seeds", "0", "--steps=2"]
    arguments += [f"--pretraining_data={tmp_path / 'pre'}", "--pretraining_steps=2"]
    monkeypatch.setattr(sys, "argv", [*arguments, f"--output={tmp_path / 'out'}"])
    benchmark.main()
    found = json.loads((tmp_path / "out" / "pretraining.json").read_text())["accuracy"]
    assert found.keys() == {"nothing", "MATE", "full attention"}
    assert all(round(len(ROWS) * share, 3) in range(5) for (share,) in found.values())
    for name in ("mate_efficient", "full"):
        assert (tmp_path / "pre" / name / "ckpt-2.index").exists()
    log = (tmp_path / "fine" / "pretraining" / "from_MATE_2_0" / "log.txt").read_text()
    assert "initialized | " in log
    assert "pre-trained with" in capsys.readouterr().out
