"""Questions that a table does not answer: how to make them, and a sign of them."""

import itertools
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from mate_tf.data.interactions import table_of
from mate_tf.errors import InputError
from mate_tf.evaluation.associations import Associations, share_of_words
from mate_tf.protos import interaction_pb2
from mate_tf.tables import pruning
from mate_tf.tables.pruning import STOP_WORDS
from mate_tf.tables.table import Table
from mate_tf.tables.text import normalize_for_match

_TRIALS = 100
_STRANGE = frozenset(("accordion", "cactus", "glacier", "hamster", "kayak", "penguin", "umbrella"))
"""Words to exchange others for, where all tables have the same words."""

KINDS = ("questions about other tables", "questions with an exchanged word")

Exchange = Callable[[str, Set[str], Sequence[str], random.Random], str | None]
"""Function such as `serving.names.exchanged`: question, words of its table, other words, draw."""


class Mismatch(NamedTuple):
    """A question and a table that does not answer it.

    Attributes:
        own: interaction with the question and the table that answers it.
        index: index of the question in `own`.
        other: interaction with the table that does not.
        exchanged: what is asked of `other` instead of the question, with a word that the table
            lacks; None: the question itself.
    """

    own: interaction_pb2.Interaction
    index: int
    other: interaction_pb2.Interaction
    exchanged: str | None = None

    @property
    def question(self) -> interaction_pb2.Question:
        """The question."""
        return self.own.questions[self.index]

    @property
    def asked(self) -> str:
        """The text that is asked of the table that does not answer it."""
        return self.question.original_text if self.exchanged is None else self.exchanged


def mismatches(
    interactions: Sequence[interaction_pb2.Interaction],
    count: int,
    seed: int = 0,
    first_questions: bool = False,
    exchange: Exchange | None = None,
) -> list[Mismatch]:
    """Draws questions, and for each a table that shares no column name with the question's own.

    So "who earns the most?" is not asked of another list of salaries, which answers it. If all
    tables share column names, the tables are the questions' own, and a word in each question is
    exchanged for one that the table does not have.

    Args:
        interactions: tables with questions.
        count: number of questions to draw; fewer are returned if there are not as many.
        first_questions: draw first questions only, of data in which later ones refer to them.
        exchange: exchanges a name; where it finds none, another word of the table is exchanged.
            None: no word is exchanged.

    Raises:
        InputError: if no question can be paired, nor any word be exchanged.
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
    mismatches = []
    for own, index in candidates:
        if len(mismatches) == count:
            break
        others = (draw.choice(interactions) for _ in range(_TRIALS))
        other = next((each for each in others if not names[id(each)] & names[id(own)]), None)
        if other is not None:
            mismatches.append(Mismatch(own, index, other))
    if not mismatches and exchange is not None:
        mismatches = list(
            itertools.islice(_exchanges(candidates, interactions, exchange, draw), count)
        )
    if not mismatches:
        lacking = "" if exchange is None else ", and no question has a word of its table"
        raise InputError(
            "no unanswerable questions can be made: all tables share column names with each other"
            + lacking
        )
    return mismatches


def _exchanges(candidates, interactions, exchange, draw) -> Iterator[Mismatch]:
    """Yields questions about their own table, with a word exchanged for one that it lacks."""
    words = {id(each): table_words(table_of(each)) for each in interactions}
    known = _STRANGE.union(*words.values())
    for own, index in candidates:
        text, table = own.questions[index].original_text, words[id(own)]
        others = sorted(known - table)
        asked = exchange(text, table, others, draw) or _without_a_word(text, table, others, draw)
        if asked is not None:
            yield Mismatch(own, index, own, asked)


def _without_a_word(question, table, others, draw) -> str | None:
    """Returns a question with a word of its table exchanged; None if it has no such word."""
    choices = [
        match
        for match in re.finditer(r"[^\W\d_]+", question)
        if (text := match.group().lower()) not in STOP_WORDS
        and table.issuperset(pruning.words(text))
    ]
    if not choices:
        return None
    match = draw.choice(choices)
    return f"{question[: match.start()]}{draw.choice(others)}{question[match.end() :]}"


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
