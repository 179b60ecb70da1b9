"""Questions about tables of other data: none with a column of the question's own table."""

import pytest

from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.errors import InputError
from mate_tf.evaluation import unanswerable
from mate_tf.tables.table import Table


def interaction(number, columns):
    table = Table.from_rows(columns, [[f"{number} {name}" for name in columns]])
    questions = [Question(f"t{number}-0_{index}", f"which {number} {index}?") for index in (0, 1)]
    return interaction_from_table(table, f"t{number}-0", questions)


@pytest.fixture(scope="module")
def interactions():
    """Three tables of people, three of rivers, three of both."""
    kinds = [("Name", "Age"), ("River", "Length"), ("name", "River")]
    return [interaction(number, kinds[number % 3]) for number in range(9)]


def columns(interaction):
    return {cell.text.lower() for cell in interaction.table.columns}


def test_tables_share_no_column_name(interactions):
    found = unanswerable.mismatches(interactions, 100)
    assert len(found) == 12  # both questions of the tables that are not of both kinds
    assert len({pair.question.id for pair in found}) == 12
    for pair in found:
        assert not columns(pair.own) & columns(pair.other)
        assert pair.question in pair.own.questions


def test_draws_are_of_the_seed(interactions):
    def ids(**options):
        found = unanswerable.mismatches(interactions, 5, **options)
        return [(pair.question.id, pair.other.id) for pair in found]

    assert len(ids()) == 5
    assert ids(seed=1) == ids(seed=1)
    assert ids(seed=1) != ids(seed=2)


def test_first_questions(interactions):
    found = unanswerable.mismatches(interactions, 100, first_questions=True)
    assert len(found) == 6
    assert {pair.index for pair in found} == {0}


def test_tables_that_are_all_alike():
    alike = [interaction(number, ("name", str(number))) for number in range(4)]
    with pytest.raises(InputError, match=r"^no unanswerable questions can be made: all tables"):
        unanswerable.mismatches(alike, 10)


@pytest.mark.parametrize(
    ("question", "share"),
    [
        ("What is the salary of Ann?", 1.0),
        ("which SALARIES are in Oslo", 0.5),
        ("capital of Mongolia", 0.0),
        ("was this the one?", 0.0),
        ("who is it?", 0.0),
        ("Ann Ann Bob Carl", 2 / 3),
        ("Ann-Marie", 0.5),
    ],
)
def test_shared_words(question, share):
    table = Table.from_rows(["Name", "Salary"], [["Ann", "100"], ["Bob", "90"]])
    assert unanswerable.shared_words(question, table) == pytest.approx(share)


def test_shared_words_with_associations():
    table = Table.from_rows(["Name", "Salary"], [["Ann", "100"]])
    assert unanswerable.shared_words("who earns most", table, {"earn": ["salary"]}) == 0.5


def test_a_word_is_exchanged_where_all_tables_are_alike():
    def exchange(question, table, others, draw):
        return question.replace("of Ann", f"of {others[0]}") if "of Ann" in question else None

    table = Table.from_rows(["Name", "Salary"], [["Ann", "100"]])

    def sheet(*questions):
        asked = [Question(f"t{len(q)}-0_{i}", q) for i, q in enumerate(questions)]
        return interaction_from_table(table, "t-0", asked)

    alike = [sheet("what is the salary of Ann?", "which name?"), sheet("and then?")]
    found = unanswerable.mismatches(alike, 10, exchange=exchange)
    assert len(found) == 2  # the last question has no word of the table
    for pair in found:
        assert pair.other is pair.own
        assert pair.exchanged == pair.asked != pair.question.original_text
        assert unanswerable.shared_words(pair.asked, table) < 1
    assert len(unanswerable.mismatches(alike, 1, exchange=exchange)) == 1
    with pytest.raises(InputError, match="and no question has a word of its table"):
        unanswerable.mismatches(alike[1:], 10, exchange=exchange)
