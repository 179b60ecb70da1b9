"""Ratios, growth and plots of rows."""

import pytest

from mate_tf.analysis.cost import profile_report


def row(variant, seconds=None, length=2048, **fields):
    case = {"variant": variant, "length": length, "precision": "float32", "xla": False}
    values = {} if seconds is None else {"seconds": seconds, "processor_seconds": 2 * seconds}
    return case | {"training": False} | values | fields


def test_ratios_in_the_table():
    rows = [
        row("full", 0.3, matmul_rate=4e11, bandwidth=2e10),
        row("mate_efficient", 0.1, share_of_matmul_rate=0.85, memory_increment=2**21),
        row("mate_efficient", 0.05, precision="bfloat16", share_of_matmul_rate=1.06),
        row("hugging_face_tapas", 0.45),
        row("kernel", error="out of memory"),
    ]
    heading, names, full, mate, half, peer, failed = profile_report.table(rows).splitlines()
    assert heading == "2048 tokens, forward; float32 matmul 400 GFLOP/s; memory 20.0 GB/s"
    assert names.split() == " ".join(profile_report.HEADINGS).split()
    assert full.split()[1:5] == ["300.0", "600.0", "1.00", "3.00"]
    assert mate.split()[1:5] == ["100.0", "200.0", "3.00", "1.00"]
    assert mate.split()[7:] == ["85", "%", "-", "2", "-"]
    # full attention was not measured in bfloat16
    assert half.split()[2:6] == ["50.0", "100.0", "-", "0.50"]
    assert half.split()[8:10] == ["100", "%"]  # no more than the rate
    assert peer.split()[4] == "4.50"
    assert failed.endswith("failed: out of memory")


def test_growth_of_each_series():
    rows = [
        row(name, seconds=1e-6 * n**power, length=n, everything=n, memory_increment=n**power)
        for name, power in (("full", 2), ("mate_efficient", 1))
        for n in (128, 2048, 8192)
    ]
    full, mate = profile_report.growth(rows)
    assert (full["variant"], full["xla"]) == ("full", False)
    assert [full[cost] for cost in profile_report.COSTS] == pytest.approx([2, 1, 2])
    assert [mate[cost] for cost in profile_report.COSTS] == pytest.approx([1, 1, 1])
    (alone,) = profile_report.growth(rows[:1])
    assert alone["seconds"] is None
    last = profile_report.growth_table([full, alone]).splitlines()
    assert last[2].split() == ["full", "forward", "2.00", "1.00", "2.00"]
    assert last[3].split() == ["full", "forward", "-", "-", "-"]


def test_lines_of_a_plot():
    rows = [row(name, 0.1 * n, length=n) for name in ("full", "kernel") for n in (512, 1024)]
    rows += [row("full", 0.2, length=512, xla=True, training=True)]
    rows += [row("kernel", length=2048, error="failed")]
    figure = profile_report.plot(rows, "seconds", "seconds")
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert [line.get_label() for line in axes.lines] == ["full", "kernel", "full (XLA), training"]
    assert list(axes.lines[1].get_xdata()) == [512, 1024]
    assert axes.lines[0].get_color() == axes.lines[2].get_color()
    assert profile_report.plot(rows, "everything") is None
    # what other benchmarks measure has a length and a variant only
    assert profile_report.plot([{"variant": "x", "length": 5, "speedup": 2}], "speedup", "times")


def test_units_and_title_of_a_plot():
    """Those of the table."""
    found = {
        "settings": {
            "config": {"num_hidden_layers": 2, "hidden_size": 768, "num_attention_heads": 12},
            "threads": 1,
        },
        "machine": {"device": "Some CPU", "tensorflow": "2.20.0"},
    }
    title = profile_report.title(found)
    assert title == (
        "2 layers of width 768, 12 heads, batch 1\nSome CPU, 1 thread, TensorFlow 2.20.0"
    )
    rows = [row("full", 0.25, everything=3e9, memory_increment=5 * 2**20)]
    for cost, label, value in (
        ("seconds", "time of a call, ms", 250),
        ("everything", "GFLOP", 3),
        ("memory_increment", "memory above weights and inputs, MiB", 5),
    ):
        figure = profile_report.plot(rows, cost, title=title)
        (axes,) = figure.axes
        assert axes.get_ylabel() == label
        assert list(axes.lines[0].get_ydata()) == [value]
        assert figure.get_suptitle() == f"{profile_report.COSTS[cost].title}\n{title}"


def test_every_column_is_explained():
    lines = profile_report.explanations().splitlines()
    assert [line[2:10].strip() for line in lines] == list(profile_report.HEADINGS)
