"""Words of questions that go with words of column names, counted in training questions.

"Who earns the most?" shares no word with its table, but nearly all tables of which such questions
are asked have a column "Salary". These counts need no gold cells.
"""

import collections
from collections.abc import Iterable, Mapping, Set

from mate_tf.protos.interaction_pb2 import Interaction
from mate_tf.tables import pruning
from mate_tf.tables.pruning import STOP_WORDS
from mate_tf.tables.text import WORD

MIN_COUNT = 10
"""Fewest questions with the word about tables with the column name; fewer may be chance."""

MIN_SHARE = 0.5
"""Smallest share of a word's questions whose tables have the column."""

MIN_LIFT = 5.0
"""Smallest ratio of that share to the share of all questions whose tables have the column."""

Associations = Mapping[str, Iterable[str]]
"""Words of column names by the word of a question, all as `pruning.words` writes them."""


def content_words(question: str) -> set[str]:
    """Returns the words of a question without stop words such as "the" and "which"."""
    content = (word for word in WORD.findall(question.lower()) if word not in STOP_WORDS)
    return set(pruning.words(" ".join(content)))


def count(interactions: Iterable[Interaction]) -> dict[str, list[str]]:
    """Finds the words of column names that go with a word of questions.

    Args:
        interactions: tables with questions. Each is read once, and only counts are kept.

    Returns:
        `Associations` in alphabetical order.
    """
    total, said, named, together = 0, *(collections.Counter() for _ in range(3))
    for interaction in interactions:
        columns = interaction.table.columns
        names = set(pruning.words(" ".join(column.text for column in columns)))
        for question in interaction.questions:
            words = content_words(question.original_text)
            total += 1
            said.update(words)
            named.update(names)
            together.update((word, name) for word in words for name in names)
    result = collections.defaultdict(list)
    for (word, name), number in sorted(together.items()):
        share, usual = number / said[word], named[name] / total
        if number >= MIN_COUNT and share >= max(MIN_SHARE, MIN_LIFT * usual):
            result[word].append(name)
    return dict(result)


def share_of_words(
    question: str,
    table: Set[str],
    associations: Associations | None = None,
    ignored: Set[str] = frozenset(),
) -> float:
    """Computes the share of a question's words that a table has or that go with one of its words.

    Args:
        question: text; stop words do not count.
        table: words of the cells and column names, as `pruning.words` writes them.
        associations: see `count`; None: without any.
        ignored: words that do not count unless the table has them.

    Returns:
        from 0 to 1. For a question without words that count 1 if some are ignored, 0 if not.
    """
    said, associations = content_words(question) - (ignored - table), associations or {}
    shared = [
        word
        for word in said
        if word in table or any(name in table for name in associations.get(word, ()))
    ]
    return len(shared) / len(said) if said else float(bool(ignored))
