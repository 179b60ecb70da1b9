"""Baselines of summarization: sentences of the document itself."""

import functools
import random
import re
from collections.abc import Callable, Iterable

from mate_tf.evaluation.predictions import Prediction
from mate_tf.protos.interaction_pb2 import Interaction
from mate_tf.tables.passages import split_sentences

Interactions = Iterable[Interaction]

# Without upper case the beginning of a sentence says nothing, only the mark before it does.
_END_IN_LOWER_CASE = re.compile(r"(?:(?<=\w\w[.!?])|(?<=\s[.!?]))\s+")


def sentences(text: str) -> list[str]:
    """Returns the sentences of a text: its lines, or for a text of one line, what is found in it.

    A text without upper case, as uncased models write it, is split after each point, exclamation
    and question mark that no single letter precedes.
    """
    if "\n" in text:
        parts = text.split("\n")
    elif text == text.lower():
        parts = _END_IN_LOWER_CASE.split(text)
    else:
        parts = split_sentences(text)
    return [each.strip() for each in parts if each.strip()]


def lead(number: int, interactions: Interactions) -> dict[str, Prediction]:
    """Takes the first `number` sentences of each document; returns predictions by question id."""
    return _predicted(interactions, lambda there, _: there[:number])


def random_sentence(interactions: Interactions) -> dict[str, Prediction]:
    """Takes a random sentence of each document, the same in every run."""
    return _predicted(interactions, lambda there, draw: [draw.choice(there)])


def _predicted(interactions, choose: Callable) -> dict[str, Prediction]:
    """Predicts the lines that `choose` takes of (sentences, source of random numbers)."""
    predicted = {}
    for interaction in interactions:
        for question in interaction.questions:
            there = sentences(question.original_text) or [""]
            chosen = choose(there, random.Random(question.id))
            predicted[question.id] = Prediction(question.id, (), texts=("\n".join(chosen),))
    return predicted


BASELINES = {
    "lead-1": functools.partial(lead, 1),
    "lead-3": functools.partial(lead, 3),
    "random sentence": random_sentence,
}
"""Baselines by the name that is printed."""
