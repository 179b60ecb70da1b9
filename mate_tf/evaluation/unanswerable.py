"""Questions that a table does not answer: how to make them, and a sign of them."""

import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mate_tf.errors import InputError
from mate_tf.evaluation.associations import Associations, share_of_words
from mate_tf.protos import interaction_pb2
from mate_tf.tables import pruning
from mate_tf.tables.table import Table
from mate_tf.tables.text import normalize_for_match

_TRIALS = 100


class Mismatch(NamedTuple):
    """A question and a table that does not answer it.

    Attributes:
        own: interaction with the question and the table that answers it.
        index: index of the question in `own`.
        other: interaction with the table that does not.
    """

    own: interaction_pb2.Interaction
    index: int
    other: interaction_pb2.Interaction

    @property
    def question(self) -> interaction_pb2.Question:
        """The question."""
        return self.own.questions[self.index]


def mismatches(
    interactions: Sequence[interaction_pb2.Interaction],
    count: int,
    seed: int = 0,
    first_questions: bool = False,
) -> list[Mismatch]:
    """Draws questions, and for each a table that shares no column name with the question's own.

    So "who earns the most?" is not asked of another list of salaries, which answers it.

    Args:
        interactions: tables with questions.
        count: number of questions to draw; fewer are returned if there are not as many.
        first_questions: draw first questions only, of data in which later ones refer to them.

    Raises:
        InputError: if no question can be paired, for example because there is one table only.
    """
    draw = random.Random(seed)
    candidates = [
        (interaction, index)
        for interaction in interactions
        for index in range(
            len(interaction.questions[:1] if first_questions else interaction.questions)
        )
    ]
    draw.shuffle(candidates)
    names = {id(interaction): _column_names(interaction) for interaction in interactions}
    found = []
    for own, index in candidates:
        if len(found) == count:
            break
        others = (draw.choice(interactions) for _ in range(_TRIALS))
        other = next((each for each in others if not names[id(each)] & names[id(own)]), None)
        if other is not None:
            found.append(Mismatch(own, index, other))
    if not found:
        raise InputError(
            "no unanswerable questions can be made: all tables share column names with each other"
        )
    return found


def shared_words(question: str, table: Table, associations: Associations | None = None) -> float:
    """Returns the share of a question's words that a table has, in its cells or column names.

    Stop words such as "the" and "which" do not count. It is 0 for a question without other words.

    Args:
        associations: words of column names that go with a word, see `associations.count`. A table
            with one of them has the word, too.
    """
    return share_of_words(question, table_words(table), associations)


def table_words(table: Table) -> frozenset[str]:
    """Returns the words in the cells and column names of a table, as they are compared."""
    return words_of([table.columns, *table.rows])


def words_of(rows: Iterable[Sequence[str]]) -> frozenset[str]:
    """Returns the words in rows of texts, as they are compared."""
    return frozenset(pruning.words(" ".join(text for row in rows for text in row)))


def _column_names(interaction) -> frozenset[str]:
    """Returns the names of the columns, as texts are compared."""
    return frozenset(normalize_for_match(column.text) for column in interaction.table.columns)
