"""benchmarks/attention_flow.py on two examples."""

import json

import pytest
import tensorflow as tf

from mate_tf.data import records


def ids(values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def test_uniform_shares(load_benchmark, tmp_path, monkeypatch, capsys):
    """[CLS] and a question of one token; a header and two rows of one column."""
    example = tf.train.Example()
    for name, values in {
        "segment_ids": [0, 0, 1, 1, 1, 0],
        "row_ids": [0, 0, 0, 1, 2, 0],
        "column_ids": [0, 0, 1, 1, 1, 0],
        "input_mask": [1, 1, 1, 1, 1, 0],
    }.items():
        example.features.feature[name].CopyFrom(ids(values))
    path = tmp_path / "dev.tfrecord"
    records.write_examples([example, example], path)
    benchmark = load_benchmark("attention_flow")
    monkeypatch.setattr(
        "sys.argv", ["attention_flow.py", f"--examples={path}", f"--output={tmp_path}"]
    )
    benchmark.main()
    found = json.loads((tmp_path / "attention_flow.json").read_text())
    assert found["examples"] == 2
    shares = [row["uniform"] for row in found["rows"]]
    assert shares == pytest.approx([20, 20, 0, 20, 0, 0, 20, 20])
    assert [row["paper"] for row in found["rows"]][4] == 68.18
    worst = max(abs(row["uniform"] - row["paper"]) for row in found["rows"])
    assert f"largest difference {worst:.2f} points" in capsys.readouterr().out
