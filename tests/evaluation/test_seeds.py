"""Statistics over seeds against values computed by hand."""

import pytest

from mate_tf.evaluation import seeds


def test_spread():
    found = seeds.spread([0.1, 0.5, 0.2, 0.4, 0.3])
    assert found.median == found.mean == pytest.approx(0.3)
    assert found.half_iqr == pytest.approx((0.4 - 0.2) / 2)
    # Standard deviation 0.1581, t with 4 degrees of freedom 2.7764.
    assert found.high - found.mean == pytest.approx(2.7764 * 0.158114 / 5**0.5, rel=1e-4)
    assert found.low == pytest.approx(2 * found.mean - found.high)
    assert found.values == (0.1, 0.5, 0.2, 0.4, 0.3)
    found = seeds.spread([1.0, 2.0, 3.0, 10.0])
    assert (found.median, found.mean) == (2.5, 4.0)
    assert found.half_iqr == pytest.approx((4.75 - 1.75) / 2)


def test_one_seed():
    assert seeds.spread([0.5]) == (0.5, 0, 0.5, None, None, (0.5,), "")
    assert seeds.table({"a": seeds.spread([0.5], unit="%")}).splitlines()[1].split() == [
        *("a", "50.00", "%", "±", "0.00", "%", "-")
    ]


def test_metrics_of_the_model():
    results = {
        "dev": {
            "RTE": {
                "model": {
                    "accuracy": 0.6,
                    "95 % from": 0.5,
                    "95 % to": 0.7,
                    "entailment": [0.4, 10],
                    "questions": 20,
                    "error": {"value": 1.5, "unit": "points"},
                    "threshold": "0.123",
                },
                "majority class": {"accuracy": 0.5},
            },
            "differences": {"TF-IDF": {"Hits@1": "+1 %"}},
        },
        "test": {"RTE": {"model": {"questions without gold answer": 3}}},
    }
    assert seeds.read_metrics(results) == {
        "dev | RTE | accuracy": 0.6,
        "dev | RTE | entailment": 0.4,
        "dev | RTE | error": {"value": 1.5, "unit": "points"},
    }


def test_metrics_that_all_seeds_have():
    found = seeds.over_seeds([{"a": 1.0, "b": 2.0}, {"a": 3.0}], shares=False)
    assert list(found) == ["a"]
    assert found["a"].median == 2


def test_intervals_stay_in_the_range_of_the_metric():
    runs = [dict.fromkeys(("F1", "Matthews correlation"), value) for value in (0.0, 1.0, 0.9)]
    found = seeds.over_seeds(runs, shares=True)
    assert (found["F1"].low, found["F1"].high) == (0, 1)
    assert -1 < found["Matthews correlation"].low < 0
    unlimited = seeds.over_seeds(runs, shares=False)["F1"]
    assert unlimited.low < 0
    assert unlimited.high > 1


def test_table():
    spreads = {
        "accuracy": seeds.spread([0.5, 0.6, 0.7], unit="%"),
        "F1": seeds.spread([0.1, 0.1, 0.1], unit="%"),
    }
    header, first, second = seeds.table(spreads).splitlines()
    assert len(header) == len(first) == len(second)
    assert first.split("  ")[0] == "accuracy"
    assert "60.00 %" in first
    assert "± 5.00 %" in first
    assert first.endswith("35.16 % to 84.84 %")
    assert second.endswith("10.00 % to 10.00 %")
    assert "2.5" in seeds.table({"loss": seeds.spread([2.5, 2.5])})


def test_quantities_keep_their_unit():
    """They are not shares: neither limited to 1 nor printed in per cent."""
    runs = [{"error": {"value": value, "unit": "points"}} for value in (1.5, 2.5)]
    found = seeds.over_seeds(runs, shares=True)["error"]
    assert (found.median, found.unit, found.values) == (2, "points", (1.5, 2.5))
    assert found.high > 1
    assert "2 points" in seeds.table({"error": found})
