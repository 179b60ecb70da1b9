"""Rows and columns ranked in the graph as in Python."""

import random

import numpy as np
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.serving.in_graph import ranking
from mate_tf.tables import pruning

WORDS = ("red", "reds", "City", "cities", "ties", "gas", "boss", "1995", "of", "Zürich's", "x_y")


@given(st.lists(st.text(alphabet="aesiy 7_-É漢'\n", max_size=12), max_size=6))
def test_words(texts):
    found = ranking.words(tf.constant(texts, tf.string))
    assert [[word.decode() for word in text.tolist()] for text in found.numpy()] == [
        pruning.words(text) for text in texts
    ]


def graph_ranking(texts, num_columns, question):
    words = ranking.words(tf.constant([question, *texts]))
    distinct, numbers = tf.unique(words.flat_values)
    words = words.with_flat_values(numbers)
    cell = tf.cast(words[1:].value_rowids(), tf.int32)
    shape = len(texts) // num_columns, num_columns
    return ranking.Ranking(
        words[0],
        words[1:].flat_values,
        cell // num_columns,
        cell % num_columns,
        tf.constant(shape),
        tf.size(distinct),
    )


def test_order():
    draw = random.Random(3)
    for _ in range(12):
        num_columns, num_rows = draw.randint(1, 5), draw.randint(1, 7)
        texts = [" ".join(draw.choices(WORDS, k=draw.randint(0, 3))) for _ in range(99)]
        texts = texts[: num_rows * num_columns]
        question = " ".join(draw.choices([*WORDS, "unknown"], k=draw.randint(0, 6)))
        found = graph_ranking(texts, num_columns, question)
        expected = pruning.Ranking(pruning.TableWords(texts, num_columns), question)
        assert found.rows.numpy().tolist() == expected.rows.tolist()
        assert found.columns.numpy().tolist() == expected.columns.tolist()
        assert found.wanted_rows == expected.wanted_rows
        assert found.num_matching_rows == len(expected.matching_rows)
        assert found.num_matching_columns == len(expected.matching_columns)


def test_selection():
    """Of tables below and above the number of rows that columns give way to."""
    draw = np.random.default_rng(5)
    for num_rows in (0, 1, 5, pruning.MOST_ROWS + 9):
        for columns, rows in ((True, True), (True, False), (False, True)):
            costs = draw.integers(1, 4, [num_rows + 1, 4])
            matching, budget = int(draw.integers(0, 5)), int(draw.integers(4, costs.sum() + 1))
            wanted = draw.choice([pruning.FEWEST_ROWS, pruning.MOST_ROWS])
            kept = ranking.select(
                tf.constant(costs, tf.int32), budget, columns, rows, matching, wanted
            )
            expected = pruning.select(
                costs,
                budget,
                np.arange(4) if columns else None,
                np.arange(num_rows) if rows else None,
                matching,
                wanted,
            )
            assert [int(count) for count in kept] == [expected[0].sum(), expected[1].sum() - 1]


def test_a_table_that_just_fits():
    costs = tf.ones([4, 3], tf.int32)
    for budget, rows in ((12, 3), (11, 2)):
        kept = ranking.select(costs, budget, False, True, 3, pruning.FEWEST_ROWS)
        assert [int(count) for count in kept] == [3, rows]


def test_rows_that_a_question_names():
    """By a word that at most `NAMED_ROWS` rows have."""
    for count, wanted in ((0, pruning.FEWEST_ROWS), (1, pruning.MOST_ROWS)):
        texts = ["name", *["red"] * (pruning.NAMED_ROWS + count), *["blue"] * 9]
        assert graph_ranking(texts, 1, "red?").wanted_rows == wanted
        expected = pruning.Ranking(pruning.TableWords(texts, 1), "red?")
        assert expected.wanted_rows == wanted
