"""Lines that a training run prints: for each loop of steps, each evaluation, and in the end.

step 100/1600  loss 3.24  acc 0.2 %  input wait 0.3 %  lr 9.4e-4  7.1/s  ETA 3:30
"""

import collections
import contextlib
import math
import time
from collections.abc import Mapping

import tensorflow as tf
from absl import logging
from orbit import controller

_LABELS = {
    "training_loss": "loss",
    "validation_loss": "loss",
    "answer_accuracy": "acc",
    "class_accuracy": "acc",
    "span_accuracy": "acc",
    "learning_rate": "lr",
}
_SHARES = ("accuracy", "sparsity", "input_wait")  # ends of the names of metrics between 0 and 1
_STEP = "global_step"


class Progress:
    """Orbit action that prints the progress, the speed and the remaining time of a training run.

    Args:
        train_steps: step at which the training ends.
    """

    def __init__(self, train_steps: int):
        self._train_steps = train_steps

    def start(self, global_step):
        """Starts the clock. Each later call reads the variable `global_step`."""
        self._step = global_step
        self.begin(int(global_step.numpy()))
        print(f"step {self._last}/{self._train_steps}  compiling the first step", flush=True)

    def begin(self, step: int):
        """Starts the clock at a step, for callers without a variable of the step."""
        self._last, self._time = step, time.monotonic()

    def __call__(self, output):
        self.show(int(self._step.numpy()), output)

    def evaluated(self, output):
        """Orbit action after an evaluation. Its time is not part of the speed."""
        step = int(self._step.numpy())
        print(f"step {step}/{self._train_steps}  evaluation  {in_words(output)}", flush=True)
        self._time = time.monotonic()

    def show(self, step: int, metrics: Mapping | None = None):
        """Prints the progress at `step`, with the speed since the line before."""
        now = time.monotonic()
        rate = (step - self._last) / max(now - self._time, 1e-9)
        self._last, self._time = step, now
        speed = f"{rate:.1f}/s" if rate >= 1 else f"{rate:.2g}/s"
        left = duration((self._train_steps - step) / rate) if rate else "?"
        parts = [f"step {step}/{self._train_steps}", in_words(metrics or {}), speed, f"ETA {left}"]
        print("  ".join(filter(None, parts)), flush=True)


def in_words(metrics: Mapping) -> str:
    """Returns metrics on one line, with short names if these are distinct.

    Args:
        metrics: name -> number, or tensor[]. The number of steps is left out.
    """
    labels = {name: _LABELS.get(name, _words(name)) for name in metrics if name != _STEP}
    used = collections.Counter(labels.values())
    labels = {name: _words(name) if used[label] > 1 else label for name, label in labels.items()}
    order = sorted(labels, key=lambda name: (labels[name] == "lr", labels[name] != "loss"))
    return "  ".join(f"{labels[name]} {_value(name, metrics[name])}" for name in order)


def report(title: str, metrics: Mapping) -> str:
    """Returns metrics as a table with a line each, below the title and the step.

    Args:
        title: first word of the first line.
        metrics: name -> number, with the step as "global_step".
    """
    rows = {_words(name).removeprefix("validation "): name for name in metrics if name != _STEP}
    rows = {label: _value(name, metrics[name], digits=4) for label, name in rows.items()}
    names = max(map(len, rows), default=0)
    values = max((len(value.partition(" ")[0]) for value in rows.values()), default=0)
    lines = [f"{title} | step {int(metrics[_STEP])}"]
    for label, value in rows.items():
        number, _, unit = value.partition(" ")
        lines.append(f"  {label:{names}}  {number:>{values}} {unit}".rstrip())
    return "\n".join(lines)


def duration(seconds: float) -> str:
    """Returns a duration as minutes:seconds or hours:minutes:seconds."""
    if not math.isfinite(seconds):
        return "?"
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


@contextlib.contextmanager
def orbit_is_quiet():
    """Keeps Orbit from printing metrics as dicts; its messages still go to absl's log."""
    before = controller._log
    controller._log = logging.info
    try:
        yield
    finally:
        controller._log = before


def number(value) -> float:
    """Returns a metric as a float.

    Args:
        value: number, tensor[] or variable[], such as an optimizer's constant learning rate.
    """
    # Variables of a distribution strategy have no conversion of their own.
    return float(tf.convert_to_tensor(value) if hasattr(value, "read_value") else value)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _value(name: str, value, digits: int = 3) -> str:
    """Returns a number with its unit; shares in per cent."""
    value = number(value)
    if name.endswith(_SHARES):
        return f"{100 * value:.{digits - 2}f} %"
    if name == "learning_rate":
        return f"{value:.1e}".replace("e-0", "e-") if value else "0"
    return f"{value:.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"
