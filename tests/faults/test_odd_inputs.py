"""Odd inputs to the command line and to Predictor: refused in one line, or accepted, in time.

    pytest -s -m faults tests/faults/test_odd_inputs.py       # all of them

What is refused leaves the folder as it was. The default run takes a part.
"""

import collections
import contextlib
import decimal
import itertools
import os
import shutil
import signal
import time

import pytest

from mate_tf import checkpoints
from mate_tf.data import synthetic
from mate_tf.errors import InputError
from mate_tf.layers.framework import keras
from mate_tf.models.classifier import ClassifierConfig, TableClassifier
from mate_tf.models.encoder import EncoderConfig
from mate_tf.serving.answer import Answer
from mate_tf.serving.predictor import Predictor

from . import odd_inputs

SECONDS = 20
PART = 32
"""Every such case is in the default run."""


@pytest.fixture(scope="module")
def models(config_file, created, trained_model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd")
    synthetic.make_vocabulary(folder / "vocab.txt")
    keras.utils.set_random_seed(1)
    sizes = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 16}
    encoder = EncoderConfig(
        vocab_size=len(synthetic.vocabulary()),
        num_hidden_layers=1,
        attention={"name": "full"},
        **sizes,
    )
    model = TableClassifier(ClassifierConfig(encoder=encoder, select_one_column=True))
    checkpoints.save_huggingface(model, folder / "model", str(folder / "vocab.txt"))
    return odd_inputs.Models(config_file, created, trained_model / "export", folder / "model")


class Late(BaseException):
    """A case takes too long. What handles errors of files does not catch it."""


@contextlib.contextmanager
def in_time():
    """Raises Late in this block when it takes too long, also while it waits for a file."""

    def late(number, frame):
        raise Late(f"not done in {SECONDS} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


WHOLE = {"out", "out/interactions", "out/vocab.txt"}
"""What create_data has finished when it comes to the data."""


def files_of(folder):
    """Relative path -> size and time of all files, without following links."""
    found = {}
    for path in folder.rglob("*"):
        status = os.lstat(path)
        size = 0 if path.is_dir() else status.st_size, status.st_mtime_ns
        found[str(path.relative_to(folder))] = "folder" if path.is_dir() else size
    return found


class Trials:
    """Runs cases; keeps how each kind ended, and descriptions of wrong ones."""

    def __init__(self, models, folder, invoke, capsys):
        self.ended, self.wrong, self.slowest = collections.Counter(), [], (0.0, "")
        self.accepted = []
        self._models, self._folder, self._invoke = models, folder, invoke
        self._capsys = capsys

    def run(self, case) -> None:
        folder = self._folder / "case"
        folder.mkdir()
        arguments = case.arguments(folder, self._models)
        before = files_of(folder)
        self._capsys.readouterr()
        start = time.perf_counter()
        try:
            with in_time():
                code = self._invoke(*arguments)
        except BaseException as error:
            self.wrong.append(f"{case.name}: {type(error).__name__}: {str(error)[:200]}")
            code = None
        self.slowest = max(self.slowest, (time.perf_counter() - start, case.name))
        said = self._capsys.readouterr().err
        self.ended[code] += 1
        lines = [line for line in said.splitlines() if line.startswith("mate-tf: ")]
        if "Traceback" in said or code not in (0, 2, None) or (code == 2 and len(lines) != 1):
            self.wrong.append(f"{case.name}: exit code {code}: {said[-300:]!r}")
        new = files_of(folder)
        names = {name for name in new | before if new.get(name) != before.get(name)} - WHOLE
        if code == 2 and names:
            self.wrong.append(f"{case.name}: {sorted(names)[:5]} changed; {lines}")
        elif code == 0:
            self.accepted.append(case.name)
        shutil.rmtree(folder)

    def end(self) -> None:
        with self._capsys.disabled():
            seconds, name = self.slowest
            print(
                f" {self.ended.total()} inputs: {self.ended[2]} refused, {self.ended[0]} accepted, "
                f"{len(self.wrong)} wrong; the slowest in {seconds:.1f} s: {name}"
                f"; accepted: {'; '.join(self.accepted)}"
            )
        assert not self.wrong, "\n".join(self.wrong)


@pytest.fixture
def trials(models, tmp_path, invoked, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = Trials(models, tmp_path, invoked, capsys)
    yield found
    found.end()


KINDS = {
    "files": odd_inputs.not_regular,
    "YAML": odd_inputs.hostile_yaml,
    "headers": odd_inputs.headers,
    "tables": odd_inputs.tables,
    "flags": odd_inputs.flags,
}


def test_there_are_enough():
    names = [case.name for case in odd_inputs.all_cases()]
    assert len(names) == len(set(names)) >= 500


@pytest.mark.parametrize("kind", KINDS)
def test_some(trials, kind):
    for case in itertools.islice(KINDS[kind](), 3, None, PART):
        trials.run(case)


@pytest.mark.faults
@pytest.mark.parametrize("kind", KINDS)
def test_all(trials, kind):
    for case in KINDS[kind]():
        trials.run(case)


TABLE = {"name": ["Ann", "Bob"], "age": ["30", "45"]}
QUESTIONS = (
    "",
    " ",
    "\0",
    "\ud800",
    "a\ud800b",
    "?" * 100_000,
    None,
    3,
    b"who?",
    ["a", None],
    [],
    {},
)
TABLES = (
    *(None, 3, b"", "", "\ud800", "a\0b", [], [[]], [["a"], []], [["a"], ["b", "c"]], {}, {"a": 3}),
    *({"a": [1], "b": []}, {3: ["x"]}, {"a": [object()]}, {"a": [decimal.Decimal("sNaN")]}),
    *({"a": [decimal.Decimal("1e999999")]}, {"a": ["\ud800"]}, {"\ud800": ["x"]}, {"a": [9**9999]}),
    *({"a": [float("nan"), float("-inf")]}, {"a": [b"\xff"]}, {"a": "text"}, {"a": {"b": 1}}),
    *([["a"], [complex(1, 2)]], [["a"], [None]], (x for x in "ab"), {"a": [[1, [2]]]}, object()),
)
PREVIOUS = ("x", 3, [], {}, object(), b"", True, ("a",), Answer)
PAIRS = (
    *(None, 3, "ab", [3], [()], [("a",)], [(TABLE, "who?", 3)], [(TABLE, None)], [(None, "who?")]),
    *([[TABLE, "who?"], None], {"a": "b"}, [(TABLE, ["who?"])], [(TABLE, "")], [TABLE]),
)
SIZES = (0, -1, 1.5, "2", None, True, float("nan"), float("inf"), 2**70, [], decimal.Decimal("NaN"))


CALLS = {
    "question": (QUESTIONS, lambda of, value: of.ask(TABLE, value)),
    "question that is read": (QUESTIONS, lambda of, value: of.read(TABLE, value)),
    "table": (TABLES, lambda of, value: of.ask(value, "who is 30?")),
    "prepared table": (TABLES, lambda of, value: of.prepare(value)),
    "previous": (PREVIOUS, lambda of, value: of.ask(TABLE, "who is 30?", previous=value)),
    "previous answers": (PREVIOUS, lambda of, value: of.ask_batch([(TABLE, "a?")], value)),
    "pairs": (PAIRS, lambda of, value: of.ask_batch(value)),
    "batch size": (SIZES, lambda of, value: of.ask_batch([(TABLE, "a?")], batch_size=value)),
}
"""Argument -> odd values of it, and a call of a predictor with one."""


def test_arguments_of_a_predictor(trained_model, capsys):
    predictor, ended, wrong = Predictor(str(trained_model / "export")), collections.Counter(), []
    for argument, (values, call) in CALLS.items():
        for number, value in enumerate(values):
            name = f"{argument} {number}, a {type(value).__name__}"
            try:
                with in_time():
                    call(predictor, value)
            except InputError as error:
                ended["refused"] += 1
                if "\n" in str(error):
                    wrong.append(f"{name}: several lines: {error}")
            except (Exception, Late) as error:
                wrong.append(f"{name}: {type(error).__name__}: {str(error)[:200]}")
            else:
                ended["accepted"] += 1
    with capsys.disabled():
        print(f" {ended.total() + len(wrong)} arguments: {dict(ended)}, {len(wrong)} wrong")
    assert not wrong, "\n".join(wrong)
