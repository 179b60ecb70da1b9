"""A long table is written, pruned to the row in question, and drawn."""

import csv

import pytest

from mate_tf.data import synthetic


@pytest.fixture(scope="module")
def benchmark(load_benchmark):
    return load_benchmark("long_tables")


def test_measures(benchmark, tmp_path, capsys):
    path, vocab_file = tmp_path / "60.csv", tmp_path / "vocab.txt"
    synthetic.make_vocabulary(vocab_file)
    benchmark.write_table(path, 60)
    header, *rows = csv.reader(path.read_text().splitlines())
    assert tuple(header) == benchmark.COLUMNS
    assert [row[0] for row in rows] == [benchmark.number_of(number) for number in range(60)]
    found = benchmark.measure(str(path), 60, str(vocab_file), 96)
    assert found["row_kept"]
    assert list(found["seconds"]) == ["read", "first question", "second question"]
    benchmark.print_results([found])
    title, line = capsys.readouterr().out.strip().splitlines()
    assert "second question, s" in title
    assert line.split()[0] == "60"
    assert line.endswith("yes")


def test_plot(benchmark):
    rows = [
        {"rows": n, "seconds": {"read": n / 1e4, "first question": n / 1e3}, "bytes": n * 1e4}
        for n in (1000, 10_000)
    ]
    times, memory = benchmark.plot(rows).axes
    assert [text.get_text() for text in times.get_legend().get_texts()] == list(rows[0]["seconds"])
    assert (times.get_ylabel(), memory.get_ylabel(), memory.get_xlabel()) == (
        "seconds",
        "MiB",
        "rows",
    )
