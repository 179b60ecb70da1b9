"""Which answers small precision could change, and that those alone are computed in float32."""

import numpy as np
import pytest

from mate_tf.errors import InputError
from mate_tf.serving.close_decisions import WithFloat32, margin
from mate_tf.serving.predictor import Predictor


def outputs(cells, selected, **others):
    return {
        "cell_probabilities": np.array([cells]),
        "selected": np.array([selected]),
        **{name: np.array(values) for name, values in others.items()},
    }


@pytest.mark.parametrize(
    ("cells", "selected", "others", "expected"),
    [
        ([0.9, 0.1], [1, 0], {}, 0.4),
        ([0.9, 0.48], [1, 0], {}, 0.02),  # the second is nearly selected
        ([0.45, 0.42], [1, 0], {}, 0.03),  # the most probable one is selected
        ([0.9, 0.8], [1, 1], {}, 0.3),
        ([0.0, 0.0], [0, 0], {}, 1.0),
        ([1.0, 0.0], [1, 0], {"aggregation_probabilities": [0.5, 0.1, 0.4]}, 0.1),
        ([0.5, 0.5], [0, 0], {"class_probabilities": [0.3, 0.7]}, 0.4),
        ([1.0, 0.0], [1, 0], {"aggregation_probabilities": [1.0]}, 0.5),
    ],
)
def test_margin(cells, selected, others, expected):
    assert margin(outputs(cells, selected, **others)) == pytest.approx(expected)


class Model:
    converter, class_names, keras_model = "converter", ["a"], "model"
    engine, precision, config = "openvino", "bfloat16", {}

    def __init__(self, cells):
        self._cells, self.asked = cells, []

    def __call__(self, *examples):
        self.asked.append(examples)
        return [outputs(self._cells[each], [1, 0]) for each in examples]


def test_only_close_decisions_are_computed_again():
    fast = Model({"sure": [0.9, 0.1], "close": [0.52, 0.1], "another": [0.6, 0.5]})
    exact = Model({"close": [0.49, 0.1], "another": [0.6, 0.51]})
    model = WithFloat32(fast, exact, 0.03)
    found = model("close", "sure", "another")
    assert [each["cell_probabilities"].tolist() for each in found] == [
        *([[0.49, 0.1]], [[0.9, 0.1]], [[0.6, 0.51]])
    ]
    assert exact.asked == [("close", "another")]
    model("sure")
    assert len(exact.asked) == 1
    assert (model.converter, model.class_names, model.keras_model) == ("converter", ["a"], "model")
    assert (model.engine, model.precision, model.config) == ("openvino", "bfloat16", {})


@pytest.mark.parametrize("least", [-0.1, 1.5, float("nan")])
def test_a_margin_is_a_probability(least):
    with pytest.raises(InputError, match=r"float32_margin=.* is not between 0 and 1"):
        Predictor.from_preset(precision="float32", float32_margin=least)


@pytest.fixture(scope="module")
def asked(project):
    return project / "tests" / "handmade" / "tables" / "staff.csv", "Who earns the most?"


@pytest.fixture(scope="module")
def exact(asked):
    return Predictor.from_preset(precision="float32", float32_margin=0.1).ask(*asked)


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_answers_within_a_margin_of_1_are_those_of_float32(precision, asked, exact):
    """By the same weights; without a margin the probabilities are others."""
    rough, careful = (
        Predictor.from_preset(precision=precision, float32_margin=least).ask(*asked)
        for least in (0.0, 1.0)
    )
    assert careful == exact
    assert rough.probability != exact.probability
