"""The other ways to compute `mate_efficient` give what it gives, and leave it as it was."""

import argparse

from mate_tf.attention import base, mate_buckets


def test_all_ways_are_equal(load_benchmark, capsys):
    benchmark = load_benchmark("mate_choices")
    benchmark.ENCODER = {"hidden_size": 16, "num_attention_heads": 4, "intermediate_size": 16}
    before = mate_buckets.BUCKETS_PER_BLOCK, base.TableAttention.project
    options = argparse.Namespace(num_hidden_layers=1, repeats=1)
    rows = benchmark.measure(options, 512, "float32")
    assert (mate_buckets.BUCKETS_PER_BLOCK, base.TableAttention.project) == before
    assert rows[0]["way"] == "mate_efficient"
    assert len(rows) == 2 + len(benchmark.BLOCKS)
    assert all(row["difference"] < 1e-5 and row["seconds"] > 0 for row in rows)
    assert rows[1]["difference"] > 0  # another order of additions: really another way
    assert "fused projections" in capsys.readouterr().out
