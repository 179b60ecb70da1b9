"""Which tables are read as a whole, and what is said of parts."""

import pytest

from mate_tf.errors import InputError
from mate_tf.serving import asking
from mate_tf.serving.predictor import Predictor
from mate_tf.tables.table import Table


@pytest.mark.parametrize(
    ("reading", "options"),
    [("whole", None), (None, None), ({}, {}), ({"prune_rows": False}, {"prune_rows": False})],
)
def test_options(reading, options):
    assert asking.options_of(reading) == options


def test_unknown_reading():
    with pytest.raises(InputError, match="'part' is neither 'whole' nor a dict of options"):
        asking.options_of("part")


@pytest.fixture(scope="module")
def mini():
    return Predictor.from_preset("mini")


def asked(predictor, rows, question):
    table = Table.from_rows(["Name", "City"], [[f"name {n}", "Bern"] for n in range(rows)])
    return predictor.ask(table, question).notes


def test_models_without_a_calibration_that_says_so_answer_short_tables_themselves(mini):
    plain = mini.with_calibration(None)
    assert asked(plain, 5, "who is in Bern?") == ()
    assert any("computed over all rows" in note for note in asked(plain, 500, "who is in Bern?"))
    assert any("computed over all rows" in note for note in asked(mini, 5, "who is in Bern?"))
