"""Every mode ends by a signal with one line, the shell's exit code and no child process."""

import pytest


@pytest.mark.slow
def test_every_mode(load_benchmark, trained_model, project, tmp_path):
    signals = load_benchmark("signals")
    config = project / "configs" / "quickstart.yaml"
    trained = tmp_path / "trained"
    trained.mkdir()
    (trained / "model").symlink_to(trained_model)
    names = list(signals.EXIT_CODES)
    for index, mode in enumerate(("create_data", "profile", "ask", "demo")):
        # The longest time is after TensorFlow's import, on most machines.
        (found,) = signals.measure(
            [mode], [names[index % 3]], config, trained, 20, index, tmp_path / "work"
        )
        assert found["children"] == 0, found
        if found["seconds"]:
            assert found["exit_code"] == signals.EXIT_CODES[found["signal"]], found
            assert [line for line in found["lines"] if "interrupted" in line] == found["lines"]
            # The others may be done already, and say nothing then.
            assert len(found["lines"]) == 1 or mode not in ("create_data", "demo"), found
        else:
            assert found["exit_code"] == 0, found
