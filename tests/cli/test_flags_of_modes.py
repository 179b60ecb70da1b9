"""Flags that only some modes read."""

import pytest

from mate_tf.cli import ask, checks, main
from mate_tf.cli import flags as flag_definitions
from mate_tf.errors import InputError


@pytest.mark.parametrize("name", checks.MODES_OF)
def test_a_flag_of_other_modes_is_refused(name):
    values = {"format": "json", "compile": "xla", "memory": "true"}
    modes = checks.MODES_OF[name]
    for mode in flag_definitions.MODES:
        given = main.parse(["mate-tf", mode, f"--{name}={values.get(name, '1')}"])
        if mode in modes:
            checks.check_modes(given)
        else:
            with pytest.raises(InputError, match=rf"^--{name} is for --mode={modes[0]}"):
                checks.check_modes(given)


def test_what_is_not_given_is_not_refused():
    for mode in flag_definitions.MODES:
        checks.check_modes(main.parse(["mate-tf", mode, "--num_train_steps=1", "--task=SQA"]))


def test_passages_of_a_task_that_reads_none(tmp_path):
    for name in ("table.csv", "passages.json"):
        (tmp_path / name).write_text("a\n1\n")
    flags = [f"--passages={tmp_path / 'passages.json'}", "--task=WTQ"]
    given = main.parse(["mate-tf", "ask", str(tmp_path / "table.csv"), "who?", *flags])
    with pytest.raises(InputError, match="--passages: only POINTR reads them; give --init"):
        ask.ask(given)
