"""Checks the values of configurations: their types, and the ranges of all numbers.

Both are in the annotations of the fields: `radius: Tokens = 64` or, with another range,
`branching: Annotated[int, Range(2, 1_000)] = 2`. Only for the fields that tf-models declares are
the ranges in a table here.
"""

import dataclasses
import fnmatch
import functools
import math
import types
import typing
from typing import Annotated

from mate_tf.errors import InputError

MOST = 2**31 - 1  # TensorFlow's indices and seeds
_FLOAT = 3.4e38  # the largest number of float32


class ValueRefusedError(InputError):
    """Error of a value of a configuration. The message begins with the file or flag, or the key."""


class Range(typing.NamedTuple):
    """Numbers that a field may have.

    Attributes:
        low: the least one.
        high: the greatest one.
        without: "low", "high" or "low high", the ends that do not belong to the range.
        also: single numbers outside of the range that mean something else, such as -1.
    """

    low: float = -_FLOAT
    high: float = _FLOAT
    without: str = ""
    also: tuple[int, ...] = ()

    def __contains__(self, value) -> bool:
        """Returns True for a number of the range. NaN and infinity are in none."""
        if value in self.also:
            return True
        ends = {name: getattr(self, name) for name in self.without.split()}
        return self.low <= value <= self.high and value not in ends.values()

    def __str__(self) -> str:
        """Returns the range in words, such as "from 1 to 64"."""
        above, below = "low" in self.without, "high" in self.without
        least = f"above {self.low}" if above else f"of {self.low} or more"
        most = f"below {self.high}" if below else f"of {self.high} or less"
        if self.high in (MOST, _FLOAT):
            text = "" if self.low == -_FLOAT else least
        elif self.low == -_FLOAT:
            text = most
        elif above or below:
            text = f"{least} and {most}"
        else:
            text = f"from {self.low} to {self.high}"
        return " ".join([text, *(f"or {value}" for value in self.also)]).strip()


Count = Annotated[int, Range(1, MOST)]
CountOrZero = Annotated[int, Range(0, MOST)]
Size = Annotated[int, Range(1, 65_536)]  # of a layer or a table
Tokens = Annotated[int, Range(1, 1_000_000)]
TokensOrZero = Annotated[int, Range(0, 1_000_000)]
Number = Annotated[float, Range()]
Positive = Annotated[float, Range(0, without="low")]
NotNegative = Annotated[float, Range(0)]
Share = Annotated[float, Range(0, 1)]
BelowOne = Annotated[float, Range(0, 1, without="high")]


def _each(annotation, names: str) -> dict[str, Range | None]:
    return dict.fromkeys(names.split(), declared_range(annotation))


def declared_range(annotation) -> Range | None:
    """Returns the range in an annotation such as `Annotated[int, Range(1, 3)]`."""
    metadata = getattr(annotation, "__metadata__", ())
    return next((each for each in metadata if isinstance(each, Range)), None)


_OF_TF_MODELS: dict[str, Range | None] = {
    # data and trainer
    "global_batch_size": Range(1, 1_000_000),
    **_each(Count, "train_steps steps_per_loop summary_interval checkpoint_interval max_to_keep"),
    **_each(
        CountOrZero,
        "*seed shuffle_buffer_size validation_interval continuous_eval_timeout "
        "recovery_begin_steps",
    ),
    "validation_steps": Range(1, MOST, also=(-1,)),
    "loss_upper_bound": declared_range(Positive),
    "recovery_max_trials": Range(-1, MOST),
    # optimizers and learning rates
    "adafactor.decay_rate": declared_range(Share),
    **_each(
        NotNegative,
        "gradient_clip_norm weight_decay* sgd.decay initial_accumulator_value *learning_rate "
        "warmup.*.power",
    ),
    "beta_2_decay": Range(high=0),
    **_each(BelowOne, "beta* momentum rho"),
    **_each(Positive, "epsilon* clip* global_clipnorm ratio_clip_norm eeta decay_rate"),
    **_each(Count, "min_dim_size_to_factor *decay_steps warmup_steps"),
    **_each(CountOrZero, "step_offset start_step offset boundaries"),
    **_each(Share, "average_decay cosine.alpha linear_decay_fraction"),
    "power": declared_range(Number),
    "values": Range(0, 1_000_000),
    # runtime
    **_each(Annotated[int, Range(0, 1024)], "num_gpus per_gpu_thread_count"),
    **_each(Annotated[int, Range(1, 1024)], "dataset_num_private_threads num_packs"),
    "loss_scale": declared_range(Positive),
    "task_index": Range(-1, 65_536),
    "num_cores_per_replica": Range(1, 65_536),
    "default_shard_dim": Range(-1, 1024),
}
"""Pattern of the last parts of a key -> range of its number, or of each number of its list.

These are the fields that tf-models declares; ours have their ranges in their annotations. The first
pattern that matches counts. `null` is allowed where the annotation of the field has it.
"""


@functools.cache
def range_of(key: str) -> Range | None:
    """Returns the range of a key of tf-models, such as "trainer.train_steps", or None."""
    for pattern, allowed in _OF_TF_MODELS.items():
        if fnmatch.fnmatchcase(f".{key}", f"*.{pattern}"):
            return allowed
    return None


def check(key: str, value, annotation, source: str = "") -> None:
    """Raises InputError unless a value has the type and the range of its key.

    Args:
        key: path of the field, such as "task.model.encoder.hidden_size".
        value: what is given for it: null, true or false, a number, text or a list of these.
        annotation: type of the field, such as `Count | None` or `list[int]`. Numbers without a
            range in it have that of `range_of`.
        source: file or flag, for the message.
    """
    known = range_of(key)
    if not _is_allowed(value, annotation, known):
        allowed = _allowed(annotation, known)
        ends = {each.high for part in _parts(annotation) if (each := declared_range(part) or known)}
        if isinstance(value, int) and value > MOST and MOST in ends:
            allowed += f", at most {MOST}"  # which the words of the range leave out
        raise refused(key, value, allowed, source)


@functools.cache
def annotations(config_type: type) -> dict[str, typing.Any]:
    """Returns name -> type of the fields of a dataclass, with the ranges of numbers."""
    hints = typing.get_type_hints(config_type, include_extras=True)
    return {field.name: hints[field.name] for field in dataclasses.fields(config_type)}


def is_bounded(annotation) -> bool:
    """Returns False for a type with a number that has no range, such as `list[int]`."""
    if declared_range(annotation):
        return True
    return annotation not in (int, float) and all(map(is_bounded, typing.get_args(annotation)))


def check_all(config, prefix: str = "") -> None:
    """Raises InputError for the first field of a config, or of a config in it, that is refused."""
    for name, annotation in annotations(type(config)).items():
        value = getattr(config, name)
        if dataclasses.is_dataclass(value):
            check_all(value, f"{prefix}{name}.")
        elif not _holds_configs(value):
            check(f"{prefix}{name}", value, annotation)


def _holds_configs(value) -> bool:
    """Returns True for lists of configs, as `attention` may be one."""
    return isinstance(value, list | tuple) and any(map(dataclasses.is_dataclass, value))


def refused(key: str, value, allowed: str, source: str = "") -> ValueRefusedError:
    """Returns the error of a value: its file or flag, its key, itself and what is allowed."""
    try:
        shown = repr(value)
    except ValueError:  # Python does not print more digits
        shown = "a number of more than 4,300 digits"
    except RecursionError:
        shown = "a value that is nested too deeply"
    shown = shown if len(shown) <= 100 else f"{shown[:100]}..."
    return ValueRefusedError(
        f"{source}{': ' if source else ''}{key} is {shown}, expected {allowed}"
    )


def _parts(annotation) -> tuple:
    """Returns the types of a union; of another type, itself."""
    if isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union:
        return typing.get_args(annotation)
    return (annotation,)


def _is_allowed(value, annotation, known) -> bool:
    return any(_is_of(value, part, known) for part in _parts(annotation))


def _is_of(value, kind, known) -> bool:
    if kind is typing.Any:
        return True
    if kind in (None, type(None)):
        return value is None
    kind, known = _without_range(kind, known)
    origin, arguments = typing.get_origin(kind) or kind, typing.get_args(kind)
    if isinstance(origin, type) and issubclass(origin, list | tuple):
        of_element = arguments[0] if arguments else typing.Any
        return isinstance(value, list | tuple) and all(
            _is_allowed(element, of_element, known) for element in value
        )
    if origin not in (int, float):
        return isinstance(value, origin)
    numbers = (int, float) if origin is float else int
    if isinstance(value, bool) or not isinstance(value, numbers):
        return False
    if isinstance(value, float) and not math.isfinite(value):
        return False
    return value in (known or Range())


def _without_range(kind, known):
    """Returns (type, range) of `Annotated[type, range]`; of another type, itself and `known`."""
    return (kind.__origin__, declared_range(kind)) if declared_range(kind) else (kind, known)


def _allowed(annotation, known) -> str:
    return " or ".join(_words(part, known) for part in _parts(annotation))


def _words(kind, known) -> str:
    if kind in (None, type(None)):
        return "null"
    kind, known = _without_range(kind, known)
    origin, arguments = typing.get_origin(kind) or kind, typing.get_args(kind)
    if isinstance(origin, type) and issubclass(origin, list | tuple):
        element, known = _without_range(arguments[0] if arguments else None, known)
        if element in (int, float):
            noun = "integers" if element is int else "numbers"
            return f"a list of {noun} {known or ''}".strip()
        return "a list"
    if origin in (int, float):
        noun = "an integer" if origin is int else "a number"
        return f"{noun} {known or ''}".strip()
    return {bool: "true or false", str: "text"}.get(origin, "keys and values")
