"""Spans read in cells, and which cell wins."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.errors import InputError
from mate_tf.evaluation.hybridqa_answers import official_id
from mate_tf.pointr import readings
from mate_tf.pointr.readings import Reading

READINGS = [Reading("one", 0.5, math.log(0.4)), Reading("two", 0.4, math.log(0.6))]


def test_policies():
    assert readings.choose(READINGS).text == "one"
    assert readings.choose(READINGS, "first").text == "one"
    assert readings.choose(READINGS, "product").text == "two"  # of 0.2 and 0.24
    assert READINGS[0].log_probability == pytest.approx(math.log(0.2))
    assert readings.choose(READINGS * 2, "product") is READINGS[1]  # the first of equal ones
    for policy in readings.POLICIES:
        assert readings.choose([], policy) is None
    with pytest.raises(InputError, match="'last' is not one of first, product"):
        readings.choose(READINGS, "last")


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(1e-6, 1)), min_size=1, max_size=6))
def test_product_is_the_largest_product(pairs):
    made = [Reading(str(i), cell, math.log(span)) for i, (cell, span) in enumerate(pairs)]
    best = readings.choose(made, "product")
    assert best.log_probability == max(each.log_probability for each in made)
    cell, span = pairs[int(best.text)]
    assert cell * span == pytest.approx(max(c * s for c, s in pairs), rel=1e-9)


def test_readings_by_question():
    one, two = READINGS
    found = readings.by_question([("a/10-0_0", two), ("a/2-0_0", one), ("b-c/0-0_0", two)])
    assert found == {"a": [one, two], "b-c": [two]}
    assert official_id("a/2-0_0") == official_id("a-0_0") == "a"
    with pytest.raises(InputError, match="'a-0_0' is not"):
        readings.rank("a-0_0")


def test_span_in_text():
    output = {"pred_span": np.array([4, 5]), "row_ids": np.array([0, 0, 0, 1, 1, 1])}
    ranges = np.array([[0, 3], [4, 7], [8, 12], [13, 14]])  # the last token was cut off
    assert readings.span_in_text(output, ranges) == (4, 12)
    assert readings.span_in_text({**output, "pred_span": np.array([0, 0])}, ranges) == (0, 0)
