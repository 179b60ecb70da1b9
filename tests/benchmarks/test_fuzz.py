"""The benchmark of damaged bytes: what it counts, and what it keeps."""


def test_what_is_unexpected_is_kept(load_benchmark, tmp_path, capsys):
    from ..faults import fuzz

    benchmark = load_benchmark("fuzz")
    path, failures = tmp_path / "text", tmp_path / "failures"

    def read():
        if b"a" not in path.read_bytes():
            raise KeyError("a")

    form = fuzz.Format(b"abcdefgh", path, read)
    found = benchmark.fuzz_format("text", form, 60, 0, failures)
    wrong = found["unexpected"]["KeyError"]
    assert found["accepted"] + wrong == 60
    assert wrong > 3
    kept = list(failures.iterdir())
    assert 1 <= len(kept) <= 3
    assert all(file.name.startswith("text KeyError ") for file in kept)
    assert all(b"a" not in file.read_bytes() for file in kept)
    assert path.read_bytes() == form.sample
    benchmark.show(found)
    assert capsys.readouterr().out.split()[:4] == ["text", "60", str(60 - wrong), str(wrong)]


def test_tables(load_benchmark, tmp_path):
    found = load_benchmark("fuzz").fuzz_tables(5, 0, tmp_path)
    assert (found["strings"], found["unexpected"]) == (5, {})
    assert 0 < found["accepted"] <= 5
    assert found["slowest"] > 0
    assert found["peak_mib"] > 100
