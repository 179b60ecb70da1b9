"""Types and ranges of values, and the message of one that is refused. Needs no TensorFlow."""

import math

import pytest

from mate_tf import field_types
from mate_tf.errors import InputError


@pytest.mark.parametrize(
    ("allowed", "inside", "outside", "text"),
    [
        (field_types.Range(1, 64), (1, 64), (0, 65, 10**400), "from 1 to 64"),
        (field_types.Range(0), (0, 3e38), (-1e-9, math.inf, math.nan), "of 0 or more"),
        (field_types.Range(high=0), (0, -5), (1,), "of 0 or less"),
        (field_types.Range(0, without="low"), (1e-9,), (0, 0.0), "above 0"),
        (field_types.Range(0, 1, "high"), (0, 0.99), (1, 1.0), "of 0 or more and below 1"),
        (field_types.Range(0, 1, "low high"), (0.5,), (0, 1), "above 0 and below 1"),
        (field_types.Range(1, 2**31 - 1, also=(-1,)), (1, -1), (0, -2), "of 1 or more or -1"),
        (field_types.Range(), (0, -3e38, 3e38), (math.nan, -math.inf), ""),
    ],
)
def test_range(allowed, inside, outside, text):
    assert all(value in allowed for value in inside)
    assert not any(value in allowed for value in outside)
    assert str(allowed) == text


def test_the_longest_part_of_a_key_decides():
    assert field_types.range_of("a.adafactor.decay_rate").high == 1
    assert field_types.range_of("a.exponential.decay_rate").high > 1
    assert field_types.range_of("train_steps") == field_types.range_of("trainer.train_steps")
    assert field_types.range_of("my_train_steps") is None
    assert field_types.range_of("own.number") is None


def test_values_that_python_does_not_print():
    itself = []
    itself.append(itself)
    for value in (10**5000, [10**5000]):
        with pytest.raises(InputError, match="radius is a number of more than 4,300 digits, exp"):
            field_types.check("radius", value, int)
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InputError, match="radius is a value that is nested too deeply, expected"):
        field_types.check("radius", deep, int)
    with pytest.raises(InputError, match=r"radius is \[\[\.\.\.\]\], expected"):
        field_types.check("radius", itself, int)


@pytest.mark.parametrize(
    ("annotation", "right", "wrong", "allowed"),
    [
        (int, (1, -(2**40)), (1.0, True, None, "1", [1]), "an integer"),
        (float, (1, 0.5), (math.nan, math.inf, True, None, "1", 10**400), "a number"),
        (float | None, (None, 0.5), ("x", False), "a number or null"),
        (bool, (True, False), (1, 0, None, "true"), "true or false"),
        (str, ("", "x"), (1, None, ["x"]), "text"),
        (list[int], ([], [1], (1, 2)), (1, None, [1.5], [None], [True]), "a list of integers"),
        (list[str], ([], ["x"]), ("x", [1]), "a list"),
        (field_types.Size, (1, 65_536), (0, 65_537, 1.0, None), "an integer from 1 to 65536"),
        (field_types.Share | None, (None, 0, 0.5), (2, math.nan), "a number from 0 to 1 or null"),
        (list[field_types.Size], ([], [3]), ([0], 3), "a list of integers from 1 to 65536"),
        (dict[str, str], ({}, {"a": "b"}), ("x", None, []), "keys and values"),
    ],
)
def test_types(annotation, right, wrong, allowed):
    for value in right:
        field_types.check("own.key", value, annotation)
    for value in wrong:
        with pytest.raises(InputError) as error:
            field_types.check("own.key", value, annotation, "a.yaml")
        shown = repr(value)
        shown = shown if len(shown) <= 100 else f"{shown[:100]}..."
        assert str(error.value) == f"a.yaml: own.key is {shown}, expected {allowed}"


def test_without_a_source():
    with pytest.raises(
        InputError, match=r"^hidden_size is 0, expected an integer from 1 to 65536$"
    ):
        field_types.check("hidden_size", 0, field_types.Size)


@pytest.mark.parametrize("kind", [int, float | None, list[int], tuple[int, ...]])
def test_a_number_without_a_range_is_not_bounded(kind):
    assert not field_types.is_bounded(kind)


@pytest.mark.parametrize(
    "kind", [bool, str | None, field_types.Size, list[field_types.Share] | None]
)
def test_bounded(kind):
    assert field_types.is_bounded(kind)
