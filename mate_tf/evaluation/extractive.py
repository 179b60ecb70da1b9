"""Baselines of summarization: sentences of the document itself."""

import functools
import random
from collections.abc import Callable, Iterable

from mate_tf.evaluation.predictions import Prediction
from mate_tf.protos import interaction_pb2
from mate_tf.tables.passages import split_sentences

Interactions = Iterable[interaction_pb2.Interaction]


def lead(number: int, interactions: Interactions) -> dict[str, Prediction]:
    """Takes the first `number` sentences of each document; returns predictions by question id."""
    return _predicted(interactions, lambda sentences, _: sentences[:number])


def random_sentence(interactions: Interactions) -> dict[str, Prediction]:
    """Takes a random sentence of each document, the same in every run."""
    return _predicted(interactions, lambda sentences, draw: [draw.choice(sentences)])


def _predicted(interactions, choose: Callable) -> dict[str, Prediction]:
    """Predicts the lines that `choose` takes of (sentences, source of random numbers)."""
    found = {}
    for interaction in interactions:
        for question in interaction.questions:
            sentences = split_sentences(question.original_text) or [""]
            chosen = choose(sentences, random.Random(question.id))
            found[question.id] = Prediction(question.id, (), texts=("\n".join(chosen),))
    return found


BASELINES = {
    "lead-1": functools.partial(lead, 1),
    "lead-3": functools.partial(lead, 3),
    "random sentence": random_sentence,
}
"""Baselines by the name that is printed."""
