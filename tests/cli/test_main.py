"""Exit codes and messages of what every mode has in common."""

import signal

import pytest
import tensorflow as tf

from mate_tf.cli import flags, main, modes


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--no_such_flag=1"], ["no_such_flag"]),
        (["--mode=dance"], ["mode", "dance"]),
        (["--radius=minus"], ["radius", "minus"]),
        (["stray"], ["stray"]),
        ([], ["--config_file", "--task", "STATEMENTS, STS-B, SUMMARIZE, SWAG, SYNTHETIC"]),
        (["--task=TABLES"], ["TABLES", "STATEMENTS, STS-B, SUMMARIZE, SWAG, SYNTHETIC"]),
        (["--config_file=absent.yaml"], ["--config_file=absent.yaml", "no such file"]),
        (["--task=SQA", "--attention=ful"], ["--attention", "'ful'; did you mean 'full'?"]),
        (
            ["--task=SQA", "--params_override=trainer.steps=3"],
            ["--params_override", "trainer.steps"],
        ),
        (["--task=SQA", "--params_override=absent.yaml"], ["absent.yaml", "no such file"]),
    ],
)
def test_wrong_flags(refused, arguments, words):
    message = refused(*arguments)
    for word in words:
        assert word in message


def test_unknown_key_in_the_configuration(refused, tmp_path):
    path = tmp_path / "wrong.yaml"
    path.write_text("task: {name: SQA, modle: {temperature: 1.0}}")
    message = refused("--mode=train", f"--config_file={path}")
    assert message == f"{path}: unknown key 'task.modle'; did you mean 'model'?"


def test_every_mode_has_a_function():
    assert list(modes.MODES) == list(flags.MODES)


def test_interrupted(monkeypatch, capsys):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setitem(modes.MODES, "train", interrupted)
    with pytest.raises(SystemExit) as stop:
        main.run(["mate-tf", "--mode=train"])
    assert stop.value.code == main.INTERRUPTED
    assert "interrupted" in capsys.readouterr().err


def test_no_space_for_a_file(monkeypatch, capsys):
    """TensorFlow has errors of its own for what is an OSError elsewhere."""

    def full(_):
        raise tf.errors.ResourceExhaustedError(None, None, "out/x;\nNo space left on device")

    monkeypatch.setitem(modes.MODES, "train", full)
    with pytest.raises(SystemExit) as stop:
        main.run(["mate-tf", "--mode=train"])
    assert stop.value.code == main.BAD_INPUT
    assert capsys.readouterr().err == "mate-tf: out/x; No space left on device\n"

    def wrong_shapes(_):
        raise tf.errors.InvalidArgumentError(None, None, "shapes")

    monkeypatch.setitem(modes.MODES, "train", wrong_shapes)
    with pytest.raises(tf.errors.InvalidArgumentError):
        main.run(["mate-tf", "--mode=train"])


def test_packages_that_are_not_installed(monkeypatch, capsys):
    """As TensorFlow where only what answers was installed."""

    def importing(name):
        def run(_):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

        return run

    monkeypatch.setitem(modes.MODES, "train", importing("tensorflow.python"))
    with pytest.raises(SystemExit) as stop:
        main.run(["mate-tf", "--mode=train"])
    assert stop.value.code == main.BAD_INPUT
    needed = "mate-tf: needs tensorflow, which is not installed: pip install mate-tf\n"
    assert capsys.readouterr().err == needed
    monkeypatch.setitem(modes.MODES, "train", importing("mate_tf.absent"))
    with pytest.raises(ModuleNotFoundError):
        main.run(["mate-tf", "--mode=train"])


def test_mistakes_of_the_program_are_not_hidden(monkeypatch):
    """Only what the user got wrong becomes a line."""

    def broken(_):
        raise ValueError("a bug")

    monkeypatch.setitem(modes.MODES, "train", broken)
    with pytest.raises(ValueError, match="a bug"):
        main.run(["mate-tf", "--mode=train"])


def test_a_call_remembers_no_flags_of_the_one_before(monkeypatch, tmp_path):
    """As in a notebook, where all calls are made in one process."""
    seen = []

    def look(given):
        seen.append((given.task, given.init_checkpoint, given.params_override))

    monkeypatch.setitem(modes.MODES, "train", look)
    first = ["--task=SQA", f"--init_checkpoint={tmp_path}", "--params_override=a=1"]
    main.run(["mate-tf", "--mode=train", *first])
    main.run(["mate-tf", "--mode=train", "--params_override=b=2"])
    assert seen == [("SQA", str(tmp_path), ["a=1"]), (None, None, ["b=2"])]


def test_signals_end_the_program_and_no_notebook(monkeypatch):
    """A process that calls `run` with arguments of its own handles its signals itself."""
    before, seen = signal.getsignal(signal.SIGTERM), []
    monkeypatch.setitem(
        modes.MODES, "train", lambda _: seen.append(signal.getsignal(signal.SIGTERM))
    )
    main.run(["mate-tf", "--mode=train"])
    monkeypatch.setattr("sys.argv", ["mate-tf", "--mode=train"])
    main.run()
    assert seen[0] is before
    assert seen[1] is not before
    assert signal.getsignal(signal.SIGTERM) is before
