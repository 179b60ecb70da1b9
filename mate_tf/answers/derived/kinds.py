"""The kinds of derived answers, and which of them a question asks for."""

from mate_tf.answers import beyond
from mate_tf.answers.derived import differences, distinct, existence, groups, places, shares
from mate_tf.answers.derived.reading import Derived, Reading, certain
from mate_tf.answers.meaning import Meaning
from mate_tf.answers.sheet import Sheet

_KINDS = (shares.find, differences.find, places.find, distinct.find, groups.find, existence.find)
"""The first one that a question is of is taken."""

CONFIDENCE = 0.9
"""Share of right answers, rounded down: of 36 about five unseen sets of benchmarks/office.py 35."""


def find(sheet: Sheet, meaning: Meaning) -> Derived | None:
    """Returns the answer of the kind that a question asks for; None if it asks for no such kind.

    None too if a word of the question has no part in it, since it may change what is asked for.

    Args:
        sheet: the table.
        meaning: what the question may mean.
    """
    plain = (each for each in meaning.programs if each.order is None and not each.step)
    program = certain(sheet, meaning, plain)
    if program is None:
        return None
    reading = Reading(sheet, meaning, program)
    if beyond.unknowable(reading.text):
        return None
    for kind in _KINDS:
        found = kind(reading)
        if found is not None:
            return None if reading.left_over(found) else found
    return None
