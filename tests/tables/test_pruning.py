"""Which columns and rows stay for a question."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from mate_tf.tables import pruning

WORDS = ["red", "green", "city", "cities", "river", "1995", "of", "the"]
text = st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)
questions = st.lists(st.sampled_from([*WORDS, "unknown"]), max_size=6).map(" ".join)


@st.composite
def tables(draw):
    num_columns = draw(st.integers(1, 5))
    row = st.lists(text, min_size=num_columns, max_size=num_columns)
    return draw(st.lists(row, min_size=1, max_size=6))


def rank(rows, question):
    texts = [cell for row in rows for cell in row]
    return pruning.Ranking(pruning.TableWords(texts, len(rows[0])), question)


def shared(texts, question):
    """Words of the question in any of the texts."""
    return set(pruning.words(question)) & {word for cell in texts for word in pruning.words(cell)}


def column(rows, index):
    return [row[index] for row in rows]


def test_words_compare_without_case_punctuation_and_plural():
    assert pruning.words("Which CITIES' mayors, in 1990s?") == [
        "which", "city", "mayor", "in", "1990",
    ]  # fmt: skip
    # Not plurals, or too short to tell.
    assert pruning.words("boss gas as ties") == ["boss", "gas", "as", "tie"]
    assert pruning.words("boxes birches tomatoes") == ["box", "birch", "tomato"]


CITIES = [
    ["Rank", "City", "Country", "Mayor"],
    ["1", "Bern", "Switzerland", "Tom Green"],
    ["2", "Zürich", "Switzerland", "Ann Red"],
    ["3", "Green Bay", "USA", "Tom Miller"],
]


def test_readable_columns():
    ranking = rank(CITIES, "Which cities are in Switzerland?")
    # In both "City" and "Country" one column only has the word; the name decides.
    assert ranking.columns.tolist() == [1, 2, 0, 3]
    assert ranking.matching_columns.tolist() == [1, 2]
    # "Green" is in two columns. After "City", "Mayor" has nothing new, but still goes before
    # those that have nothing at all.
    ranking = rank(CITIES, "City Green")
    assert ranking.columns.tolist() == [1, 3, 0, 2]
    assert ranking.matching_columns.tolist() == [1]


def test_readable_rows():
    # Two rows have "Switzerland", one has "Miller".
    assert rank(CITIES, "Miller or Switzerland").rows.tolist() == [2, 0, 1]
    assert rank(CITIES, "Tom Red").rows.tolist() == [1, 0, 2]
    assert rank(CITIES, "rank").rows.tolist() == [0, 1, 2]


def test_rows_that_a_question_names():
    """With a word that few rows have, columns are worth more than rows without one."""
    rows = [["City", "Country"], *([f"c{number}", "Chile"] for number in range(40))]
    assert rank(rows, "which country has c7").wanted_rows == pruning.FEWEST_ROWS
    assert rank(rows, "which city is in Chile").wanted_rows == pruning.MOST_ROWS
    assert rank(rows, "which city").wanted_rows == pruning.MOST_ROWS
    costs = np.ones([41, 2], int)
    for question, kept in (("c7 Chile", (2, 19)), ("c7?", (2, 19)), ("city?", (1, 39))):
        ranking = rank(rows, question)
        matching = len(ranking.matching_columns)
        columns, found = pruning.select(
            costs, 40, ranking.columns, ranking.rows, matching, ranking.wanted_rows
        )
        assert (columns.sum(), found[1:].sum()) == kept
        assert found[1 + 7]


def test_no_rows_and_no_words():
    ranking = rank([["a", "b"]], "b")
    assert (ranking.columns.tolist(), ranking.rows.tolist()) == ([1, 0], [])
    ranking = rank([["", "?"], ["-", ""]], "nothing")
    assert (ranking.columns.tolist(), ranking.rows.tolist()) == ([0, 1], [0])
    assert ranking.matching_columns.tolist() == []


@given(tables(), questions)
def test_columns_are_ordered_by_what_they_add(rows, question):
    ranking = rank(rows, question)
    order = ranking.columns.tolist()
    assert sorted(order) == list(range(len(rows[0])))
    seen = set()
    for place, index in enumerate(order):
        added = shared(column(rows, index), question) - seen
        # Columns with words of their own are all before those without.
        assert bool(added) == (place < len(ranking.matching_columns))
        for later in order[place + 1 :]:
            others = shared(column(rows, later), question) - seen
            # None that comes later has those words and more.
            assert not others > added
        seen |= added


@given(tables(), questions)
def test_rows_are_ordered_by_what_they_share(rows, question):
    order = rank(rows, question).rows.tolist()
    assert sorted(order) == list(range(len(rows) - 1))
    found = [shared(row, question) for row in rows[1:]]
    for place, index in enumerate(order):
        for later in order[place + 1 :]:
            assert not found[later] > found[index]
            assert found[later] != found[index] or index < later


@given(tables(), questions, st.data())
def test_what_has_all_words_is_first(rows, question, data):
    assume(pruning.words(question))
    chosen_row = data.draw(st.integers(0, len(rows) - 1))
    chosen_column = data.draw(st.integers(0, len(rows[0]) - 1))
    rows[chosen_row][chosen_column] = question
    ranking = rank(rows, question)
    asked = set(pruning.words(question))
    assert shared(column(rows, ranking.columns[0]), question) == asked
    if chosen_row > 0:
        assert shared(rows[1 + ranking.rows[0]], question) == asked


@st.composite
def problems(draw):
    num_rows, num_columns = draw(st.integers(0, 6)), draw(st.integers(1, 5))
    costs = draw(
        st.lists(st.integers(0, 9), min_size=(num_rows + 1) * num_columns).map(
            lambda found: np.resize(found, (num_rows + 1, num_columns))
        )
    )
    orders = [
        draw(st.none() | st.permutations(range(count)).map(lambda order: np.array(order, int)))
        for count in (num_columns, num_rows)
    ]
    return costs, draw(st.integers(0, costs.sum() + 2)), *orders, draw(st.integers(0, 7))


@given(problems())
def test_selection(problem):
    costs, budget, columns, rows, num_matching = problem
    num_rows, num_columns = costs.shape[0] - 1, costs.shape[1]
    keep_columns, keep_rows = pruning.select(costs, budget, columns, rows, num_matching)

    def cost(in_columns, in_rows):
        return costs[np.ix_(in_rows, in_columns)].sum()

    assert keep_rows[0]
    assert keep_columns.any()
    assert columns is not None or keep_columns.all()
    assert rows is not None or keep_rows.all()
    count_columns, count_rows = keep_columns.sum(), keep_rows[1:].sum()
    # The best ones stay.
    if columns is not None:
        assert keep_columns[columns[:count_columns]].all()
    if rows is not None:
        assert keep_rows[1:][rows[:count_rows]].all()
    # It fits, or no less is possible.
    least = (columns is None or count_columns == 1) and (rows is None or count_rows == 0)
    assert cost(keep_columns, keep_rows) <= budget or least
    # A table that fits is not touched, and what was taken out last had to go.
    if costs.sum() <= budget:
        assert keep_columns.all()
        assert keep_rows.all()
    if count_rows < num_rows:
        more = keep_rows.copy()
        more[1 + rows[count_rows]] = True
        assert cost(keep_columns, more) > budget
    elif count_columns < num_columns:
        more = keep_columns.copy()
        more[columns[count_columns]] = True
        assert cost(more, keep_rows) > budget
    # Where both may go, rows go before matching columns, and after the others.
    if columns is not None and rows is not None:
        if count_columns < min(num_matching, num_columns):
            more = keep_columns.copy()
            more[columns[count_columns]] = True
            assert cost(more, [True] + [False] * num_rows) > budget
        assert count_rows == num_rows or count_columns <= max(num_matching, 1)
