"""Programs select rows, and those that explain what a model selected come first."""

import numpy as np
import pytest

from mate_tf.answers.meaning import Meaning
from mate_tf.answers.sheet import Sheet
from mate_tf.tables import columns

NAMES = ["Order", "City", "Price"]
WINDOW = 10


@pytest.fixture(scope="module")
def sheet():
    cities = ("Bern", "Oslo", "Rome")
    prices = np.random.default_rng(0).permutation(60) + 1
    rows = [(f"A{number}", cities[number % 3], f"{price}") for number, price in enumerate(prices)]
    texts = list(zip(*rows, strict=True))
    return Sheet(NAMES, texts, columns.read(NAMES, texts))


def program(sheet, question, text):
    (found,) = (each for each in Meaning(sheet, question).programs if str(each) == text)
    return found


def test_order_of_rows_with_a_condition(sheet):
    found = program(
        sheet, "which order from Bern has the highest price?", "largest Price where City is Bern"
    )
    prices = np.array(sheet.columns[2].values)
    (row,) = found.rows(sheet.rows).nonzero()[0]
    assert prices[row] == max(prices[::3])
    windows = np.arange(60) // WINDOW
    assert found.rows(sheet.rows, windows).sum() == 6
    windows[WINDOW:] = -1  # were not read
    assert found.rows(sheet.rows, windows).nonzero()[0].max() < WINDOW


def test_step(sheet):
    found = program(sheet, "which order comes after A7?", "the row after Order is A7")
    assert found.rows(sheet.rows).nonzero()[0].tolist() == [8]
    last = program(sheet, "which order comes after A59?", "the row after Order is A59")
    assert not last.rows(sheet.rows).any()


def explained(sheet, question, selected, windows=None, certain=None):
    from mate_tf.answers import programs

    windows = np.arange(60) // WINDOW if windows is None else windows
    certain = np.ones(6) if certain is None else certain
    found = programs.explain(
        Meaning(sheet, question).programs, sheet.rows, selected, windows, certain
    )
    return found[0]


def test_the_program_that_agrees_is_first(sheet):
    selected = np.arange(60) % 3 == 0
    best = explained(sheet, "how many orders from Bern?", selected)
    assert str(best.program) == "City is Bern"
    assert best.agreement == 1
    assert best.coverage == 1


def test_noise_in_a_window_is_outvoted(sheet):
    selected = np.arange(60) % 3 == 0
    selected[:WINDOW] = True
    best = explained(sheet, "how many orders from Bern?", selected)
    assert str(best.program) == "City is Bern"
    assert 0.8 < best.agreement < 1


def test_windows_without_an_answer_do_not_vote(sheet):
    selected = np.arange(60) == 25
    certain = np.array([0, 0, 1.0, 0, 0, 0])
    best = explained(sheet, "what is the price of A25?", selected, certain=certain)
    assert str(best.program) == "Order is A25"
    assert best.agreement == 1


def test_rows_that_were_not_read_do_not_vote(sheet):
    windows = np.arange(60) // WINDOW
    windows[windows > 1] = -1
    selected = (np.arange(60) % 3 == 0) & (windows >= 0)
    best = explained(sheet, "how many from Bern?", selected, windows, np.ones(2))
    assert best.agreement == 1
    assert best.program.rows(sheet.rows).sum() == 20
