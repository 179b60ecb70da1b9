"""Baselines that take sentences of the document."""

import pytest

from mate_tf.data.converters import sequences
from mate_tf.evaluation import baselines, extractive

TEXT = "The mice slept . They were tired . It was night . Cats ran ."
SENTENCES = ["The mice slept .", "They were tired .", "It was night .", "Cats ran ."]


def chosen(name, text=TEXT, example="x"):
    (found,) = baselines.predict([sequences.interaction(example, [text])], name).values()
    return found.texts[0].split("\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXT, SENTENCES),
        ("The mice\nslept . They \n\n", ["The mice", "slept . They"]),
        # a model that knows no upper case
        ("the mice slept. were they? j. bell saw it . cats ran",
         ["the mice slept.", "were they?", "j. bell saw it .", "cats ran"]),
        ("", []),
    ],
)  # fmt: skip
def test_sentences(text, expected):
    assert extractive.sentences(text) == expected


def test_lead():
    assert chosen("lead-1") == SENTENCES[:1]
    assert chosen("lead-3") == SENTENCES[:3]
    assert chosen("lead-3", "Only one .") == ["Only one ."]


def test_random_sentence():
    found = [chosen("random sentence", example=f"x{i}") for i in range(80)]
    assert {each[0] for each in found} == set(SENTENCES)
    assert found == [chosen("random sentence", example=f"x{i}") for i in range(80)]
    assert {len(each) for each in found} == {1}


def test_names():
    assert set(extractive.BASELINES) <= set(baselines.BASELINES)
