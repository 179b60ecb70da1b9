"""Answers to SQuAD: the best span over windows, scores by hand, thresholds by trying all."""

import json
import pathlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.data.converters.offsets import Offsets
from mate_tf.data.converters.tokenizer import Tokenizer
from mate_tf.data.interactions import create_question_id
from mate_tf.evaluation import squad
from mate_tf.evaluation.predictions import Prediction
from mate_tf.protos import interaction_pb2

PIECES = "[PAD] [UNK] [CLS] [SEP] [EMPTY] the cafe , on aar ##e"
TEXT = "The  Café, on the Aare"


def paragraph(**answers):
    """Questions by name with their gold texts."""
    made = interaction_pb2.Interaction(id="p-0")
    made.table.rows.add().cells.add(text=TEXT)
    for name, texts in answers.items():
        question = made.questions.add(id=create_question_id(f"{name}-0", 0), original_text="?")
        question.answer.answer_texts.extend(texts)
    return made


@pytest.fixture(scope="module")
def offsets(vocabulary_file):
    return Offsets(Tokenizer(vocabulary_file(PIECES.split())))


def prediction(name, begin, end, score, empty):
    span = {"begin_token_index": begin, "end_token_index": end, "score": score}
    return Prediction(name, (), spans=(span,), empty_span_log_prob=empty)


def test_the_best_span_over_windows(offsets):
    """Tokens: The Café , on the Aar ##e"""
    predicted = {
        each.question_id: each
        for each in (
            prediction("a/0-0_0", 0, 2, -3.0, -0.5),
            prediction("a/2-0_0", 2, 5, -1.0, -4.0),  # the, Aar, ##e
            prediction("b/0-0_0", 0, 2, -2.0, -1.0),
        )
    }
    found = squad.read_answers([paragraph(a=["x"], b=[], c=[])], predicted, offsets)
    assert found == {"a": ("the Aare", -4.0 + 1.0), "b": ("The  Café", 1.0)}
    answer = found["b"]
    assert answer.given(0.0) == ""
    assert answer.given(1.0) == "The  Café"
    assert answer.empty_probability == pytest.approx(np.e / (1 + np.e))
    assert squad.Answer("x", np.inf).empty_probability == pytest.approx(1)
    assert squad.Answer("x", -np.inf).empty_probability == pytest.approx(0)


@pytest.mark.parametrize(
    ("gold", "text", "exact", "f1"),
    [
        (["the Aare", "Bern"], "An aare!", 1, 1),
        (["river Aare", "Aare valley east"], "the Aare valley", 0, 4 / 5),
        (["Aare"], "", 0, 0),
        (["Aare"], "Bern", 0, 0),
    ],
)
@pytest.mark.parametrize("may_be_empty", [False, True])
def test_scores_by_hand(gold, text, exact, f1, may_be_empty):
    (question,) = paragraph(a=gold).questions
    found = squad.scores(question, text, may_be_empty=may_be_empty)
    assert found == (exact, pytest.approx(f1))


def test_where_the_scripts_differ():
    """Answers without words: in 1.1 they have no word in common, in 2.0 they are not answers."""
    (question,) = paragraph(a=["the"]).questions
    assert squad.scores(question, "a", may_be_empty=False) == (1, 0)
    assert squad.scores(question, "a", may_be_empty=True) == (1, 1)
    assert squad.scores(question, "", may_be_empty=True) == (1, 1)
    (question,) = paragraph(a=["the", "Aare"]).questions
    assert squad.scores(question, "", may_be_empty=True) == (0, 0)
    (question,) = paragraph(a=[]).questions
    assert squad.scores(question, "", may_be_empty=True) == (1, 1)
    assert squad.scores(question, "Aare", may_be_empty=True) == (0, 0)


ANSWERS = {
    "right": squad.Answer("Aare", -2.0),
    "near": squad.Answer("Aare valley", 0.5),
    "none": squad.Answer("Bern", 3.0),
    "wrongly": squad.Answer("Bern", -1.0),
}
GOLD = {"right": ["the Aare"], "near": ["Aare"], "none": [], "wrongly": [], "missing": []}


def test_version_1():
    gold = {name: texts for name, texts in GOLD.items() if name in ("right", "near")}
    interactions = [paragraph(**gold, missing=["Bern"])]
    assert squad.evaluate(interactions, ANSWERS) == {
        "exact match": pytest.approx(1 / 3),
        "F1": pytest.approx((1 + 2 / 3) / 3),
        "questions": 3,
        "unanswered": 1,
    }
    assert squad.evaluate([], {})["exact match"] == 0


def test_version_2():
    found = squad.evaluate([paragraph(**GOLD)], ANSWERS, threshold=0.0)
    assert found == {
        "exact match": pytest.approx(2 / 5),  # right, none
        "F1": pytest.approx(2 / 5),  # to "near" no answer is given
        "exact match, answerable": (pytest.approx(1 / 2), 2),
        "F1, answerable": (pytest.approx(1 / 2), 2),
        "unanswerable": (pytest.approx(1 / 3), 3),
        # Only "right" is answered; two questions without an answer are right then.
        "best exact match": pytest.approx(3 / 5),
        "threshold of the best exact match": "-2.0000",
        # "near" gives 2/3 and costs 1 for "wrongly".
        "best F1": pytest.approx(3 / 5),
        "threshold of the best F1": "-2.0000",
        "questions": 5,
        "unanswered": 1,
    }
    generous = squad.evaluate([paragraph(**GOLD)], ANSWERS, threshold=1.0)
    assert generous["F1"] == pytest.approx((1 + 2 / 3 + 1) / 5)


def test_texts_without_words_in_the_search_for_thresholds():
    """The script takes "the" for no answer when it scores it, and for one in this search."""
    answers = {"a": squad.Answer("the", -2.0), "b": squad.Answer("Aare", -1.0)}
    found = squad.evaluate([paragraph(a=[], b=["Aare"])], answers, threshold=0.0)
    assert (found["exact match"], found["best exact match"]) == (1, 0.5)


@given(
    st.lists(
        st.tuples(st.integers(-3, 3), st.sampled_from([0, 0.5, 1]), st.sampled_from([0, 1])),
        min_size=1,
        max_size=8,
    )
)
def test_best_threshold_by_trying_all(questions):
    """Never answering is among what is tried."""
    empty, always, never = np.transpose(questions)

    def share(threshold):
        return np.mean(np.where(empty > threshold, never, always))

    found = squad.best_threshold(empty, always, never)
    assert found.share == pytest.approx(max(map(share, [-4, *range(-3, 4)])))
    assert share(found.value) == pytest.approx(found.share)


def test_official_files(tmp_path):
    paths = squad.write_predictions(ANSWERS, tmp_path / "dev", 0.0)
    assert [path.rpartition("/")[2] for path in paths] == [
        "dev.predictions.json",
        "dev.na_probs.json",
    ]
    answers, probabilities = (json.loads(pathlib.Path(path).read_text()) for path in paths)
    assert answers == {"right": "Aare", "near": "", "none": "", "wrongly": "Bern"}
    assert probabilities["near"] == pytest.approx(1 / (1 + np.exp(-0.5)))
    (path,) = squad.write_predictions(ANSWERS, tmp_path / "v1", None)
    assert json.loads(pathlib.Path(path).read_text())["none"] == "Bern"
