"""ROUGE: equal to rouge-score's, means, intervals and differences of systems."""

import sys

import pytest

from mate_tf.data.converters import sequences
from mate_tf.errors import InputError
from mate_tf.evaluation import rouge
from mate_tf.evaluation.predictions import Prediction

GOLD = "The mice slept well.\nThe cats were running."


def interactions(*golds):
    found = [sequences.interaction(f"x{i}", ["a text"]) for i in range(len(golds))]
    for each, gold in zip(found, golds, strict=True):
        if gold is not None:
            each.questions[0].answer.answer_texts.append(gold)
    return found


def predicted(*texts):
    return {f"x{i}-0_0": Prediction(f"x{i}-0_0", (), texts=(t,)) for i, t in enumerate(texts)}


def test_scores_by_hand():
    # Words: the mouse slept / the mice slept well the cats were running; runs = running, stemmed.
    found = rouge.scores(GOLD, "the cats runs")
    assert found["ROUGE-1"] == pytest.approx(2 * 1 * (3 / 8) / (1 + 3 / 8))
    assert found["ROUGE-2"] == pytest.approx(2 * (1 / 2) * (1 / 7) / (1 / 2 + 1 / 7))
    assert found["ROUGE-L"] == pytest.approx(found["ROUGE-1"])
    assert rouge.scores(GOLD, "") == dict.fromkeys(rouge.METRICS, 0.0)
    assert set(rouge.scores(GOLD, GOLD).values()) == {1.0}


def test_sentences_count_for_lsum_only():
    """Sentences in another order: each is found by itself, the longest common sequence is not."""
    swapped = rouge.scores(GOLD, "The cats were running .\nThe mice slept well .")
    assert swapped["ROUGE-Lsum"] == 1.0
    assert swapped["ROUGE-L"] == 0.5
    # A written text has no lines, and is split.
    assert rouge.scores(GOLD, "the cats were running. the mice slept well.") == swapped


def test_means_and_intervals():
    found = rouge.evaluate(
        interactions("mice sleep", "cats run", "dogs bark", None),
        predicted("mice sleep", "birds fly", "", "never scored"),
    )
    assert found["ROUGE-1"] == pytest.approx(1 / 3)
    assert found["ROUGE-L, 95 %"] == "0.0 to 100.0 %"
    assert (found["questions"], found["unanswered"]) == (3, 1)
    assert found["length"] == {"value": pytest.approx(4 / 3), "unit": "words"}
    assert found["different texts"] == 3
    same = rouge.evaluate(interactions("mice sleep", "cats run"), predicted("mice", "mice"))
    assert same["different texts"] == 1
    assert rouge.evaluate(interactions(None, None), {}) == {"questions without gold text": 2}


def test_differences():
    golds = interactions(*["mice sleep"] * 20)
    ours, others = predicted(*["mice sleep"] * 20), predicted(*["mice run"] * 20)
    found = rouge.differences(golds, ours, others)
    assert found["ROUGE-1"] == "+50.0% [+50.0%, +50.0%]"
    assert found["ROUGE-2"] == "+100.0% [+100.0%, +100.0%]"
    assert rouge.differences(golds, others, ours)["ROUGE-1"].startswith("-50.0%")


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "rouge_score", None)
    rouge._scorer.cache_clear()
    with pytest.raises(InputError, match=r"needs the package rouge-score: pip install"):
        rouge.scores("never seen", "before")
    rouge._scorer.cache_clear()
