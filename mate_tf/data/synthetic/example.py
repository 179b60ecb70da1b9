"""A table that no training set contains, with three questions for the quickstart.

The questions are a look-up, a superlative and a comparison, in the words of `questions`.
"""

import pathlib

EXAMPLE_TABLE = pathlib.Path(__file__).with_name("example.csv")
"""Path of a CSV file about twelve employees."""

EXAMPLE_QUESTIONS = (
    ("which city does Kenji Tanaka live in?", ((5, 1),)),
    ("who earns the most?", ((4, 0),)),
    ("who is older than 55?", ((6, 0), (7, 0))),
)
"""Questions about EXAMPLE_TABLE with the cells (row, column) that answer them."""
