"""The benchmark of large files, on small ones: rows, seconds and memory of each."""

import itertools

import pytest


@pytest.mark.slow
def test_small_files(load_benchmark, tmp_path):
    limits = load_benchmark("limits")
    for path in itertools.islice(limits.files(tmp_path, 200_000), 4):  # before the workbooks
        found = limits.read(path)
        assert found["file"] == path.name
        assert (found["rows"] > 1000) == (path.stem == "table"), found
        assert found["peak_mb"] >= found["before_mb"] > 0
        assert found["seconds"] < 60
