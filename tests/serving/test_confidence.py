"""Confidence of answers: what it is fitted to, where it is kept, and which answers it refuses."""

import dataclasses
import shutil

import numpy as np
import pytest

from mate_tf.data import interactions as data
from mate_tf.data import synthetic
from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.errors import InputError
from mate_tf.evaluation import calibration, unanswerable
from mate_tf.evaluation.calibration import Calibration
from mate_tf.evaluation.metrics import has_right_cells
from mate_tf.serving import confidence, export, model_folder
from mate_tf.serving.answer import Answer, AnswerCell
from mate_tf.serving.confidence import Group, ScoredAnswers
from mate_tf.serving.predictor import Predictor
from mate_tf.tables.table import Table

FITTED = Calibration(temperature=2.0, bias=-1.0, overlap=1.5, threshold=0.4, weights="ckpt-0")
ALL, NONE = (dataclasses.replace(FITTED, threshold=each) for each in (1.0, 0.0))


@pytest.fixture(scope="module")
def questions():
    options = {"split": "dev", "rows": (5, 8), "questions_per_table": 2}
    return list(synthetic.generate(0, 10, **options))


def test_confidence_of_an_answer(predictor, table):
    plain = predictor.ask(table, "who is 41?")
    assert plain.confidence is None
    assert plain.answerable
    for fitted in (ALL, NONE):
        answer = predictor.with_calibration(fitted).ask(table, "who is 41?")
        assert answer.confidence == pytest.approx(float(FITTED.confidence(plain.probability, 1.0)))
        assert answer.answerable == (fitted is NONE)
        unchanged = dataclasses.replace(answer, confidence=None, answerable=True)
        assert unchanged == plain
    assert predictor.calibration is None
    # The confidence is one thing, whether the table has an answer another.
    for bias in (-30.0, 30.0):
        apart = FITTED.with_table(Calibration(bias=bias), threshold=0.5)
        answer = predictor.with_calibration(apart).ask(table, "who is 41?")
        assert answer.answerable == (bias > 0)
        assert answer.confidence == pytest.approx(float(FITTED.confidence(plain.probability, 1.0)))
    # No word of the question is in the table: the same cells, less confidence.
    fitted = predictor.with_calibration(FITTED)
    answer = fitted.ask(table, "capital of Mongolia?")
    assert answer.confidence == pytest.approx(float(FITTED.confidence(answer.probability, 0.0)))


def test_an_operation_is_a_factor():
    operations = {"aggregation_probabilities": np.array([0.2, 0.5, 0.2, 0.1])}
    assert confidence.score(0.8, operations) == pytest.approx(0.4)
    assert confidence.score(0.8, {}) == 0.8


def test_what_it_is_fitted_to(predictor, questions):
    """The probability of each answer, about its own table and about another one."""
    found = confidence.scored(predictor, questions, has_right_cells, count=6, seed=3)
    asked = {}
    for position in (0, 1):
        for each in questions:
            question = each.questions[position]
            asked[question.id] = each, predictor.ask(data.table_of(each), question.original_text)
    probabilities = [answer.probability for _, answer in asked.values()]
    assert found.asked.probabilities == pytest.approx(probabilities, abs=1e-5)
    golds = [
        {(cell.row_index, cell.column_index) for cell in question.answer.answer_coordinates}
        for position in (0, 1)
        for question in [each.questions[position] for each in questions]
    ]
    right = [
        set(answer.coordinates) == gold
        for (_, answer), gold in zip(asked.values(), golds, strict=True)
    ]
    assert found.right.tolist() == right
    pairs = unanswerable.mismatches(questions, 6, seed=3)
    own = [asked[pair.question.id][1].probability for pair in pairs]
    other = [
        predictor.ask(data.table_of(pair.other), pair.question.original_text).probability
        for pair in pairs
    ]
    assert found.own.probabilities == pytest.approx(own, abs=1e-5)
    assert found.other.probabilities == pytest.approx(other, abs=1e-5)
    assert found.own.shared.tolist() == [
        unanswerable.shared_words(pair.question.original_text, data.table_of(pair.own))
        for pair in pairs
    ]
    assert found.own.shared.mean() > 0.3
    assert found.other.shared.max() < 0.3
    assert confidence.fit(found).associations == {}


def test_words_that_go_with_a_column(predictor, table):
    """They count as shared: for the fit, which keeps them, and for a predictor that has it."""
    talks = [talk(0, "lives alone"), talk(1, "other words"), talk(2, "more words")]
    words = {"live": ["a0"], "alone": ["a1"]}
    found = confidence.scored(Guesser(), talks, has_right_cells, associations=words)
    assert found.asked.shared.tolist() == [0.5, 0.0, 0.0]
    assert sorted(found.own.shared) == [0.0, 0.0, 0.5]
    assert found.part(0).associations == words
    assert confidence.fit(found).associations == words

    name = unanswerable.pruning.words(table.columns[0])[0]
    fitted = dataclasses.replace(FITTED, associations={"capital": [name]})
    answer = predictor.with_calibration(fitted).ask(table, "capital of Mongolia?")
    assert answer.confidence == pytest.approx(float(FITTED.confidence(answer.probability, 0.5)))


class Guesser:
    """Answers with the first cell. It refuses questions with "bad" in them, as a `Predictor` does
    if nothing of the table fits."""

    class_names = ("refuted", "entailed")

    def __init__(self, says=None):
        self.heard, self.says = [], says

    def with_calibration(self, calibration, reading):
        assert (calibration, reading) == (Calibration(), {})
        return self

    def ask_batch(self, pairs, previous):
        if any("bad" in question for _, question in pairs):
            raise InputError("cannot be brought into the model's length")
        answers = []
        for (_, question), before in zip(pairs, previous, strict=True):
            self.heard.append((question, before and before.text))
            cells = () if self.says else (AnswerCell(0, 0, "x", 0.5),)
            text = self.says or f"to {question}"
            answers.append(Answer(cells, "NONE", None, 0.5, text, confidence=0.5))
        return answers


def talk(number, *texts, class_index=None):
    table = Table.from_rows([f"a{number}"], [["x"], ["y"]])
    asked = [
        Question(f"t{number}-0_{index}", text, coordinates=[(0, 0)], class_index=class_index)
        for index, text in enumerate(texts)
    ]
    return interaction_from_table(table, f"t{number}-0", asked)


def test_conversations():
    """A question hears the answer before it, and only first questions stand alone."""
    talks = [talk(0, "a", "b"), talk(1, "c")]
    guesser = Guesser()
    found = confidence.scored(guesser, talks, has_right_cells, sequential=True)
    assert guesser.heard[:3] == [("a", None), ("c", None), ("b", "to a")]
    assert sorted(guesser.heard[3:]) == [("a", None), ("c", None)]  # about other tables
    assert found.right.tolist() == [True] * 3
    guesser = Guesser()
    confidence.scored(guesser, talks, has_right_cells)
    assert ("b", None) in guesser.heard
    assert ("b", "to a") not in guesser.heard


def test_questions_that_cannot_be_asked():
    talks = [talk(0, "a"), talk(1, "bad"), talk(2, "c"), talk(3, "d")]
    found = confidence.scored(Guesser(), talks, has_right_cells)
    assert len(found.right) == 3
    assert len(found.own.shared) == len(found.other.shared) == 3


def test_classes_are_judged():
    judged = []

    def is_right(interaction, question, prediction):
        judged.append(prediction.class_index)
        return True

    talks = [talk(0, "a", class_index=1), talk(1, "b", class_index=0)]
    confidence.scored(Guesser("entailed"), talks, is_right)
    assert judged == [1, 1]


def test_questions_at_equal_distances(monkeypatch):
    monkeypatch.setattr(confidence, "MOST_QUESTIONS", 4)
    talks = [talk(number, f"q{number}") for number in range(9)]
    guesser = Guesser()
    found = confidence.scored(guesser, talks, has_right_cells, count=1)
    assert len(found.right) == 3
    assert [text for text, _ in guesser.heard[:3]] == ["q0", "q3", "q6"]


def too_sure(count=1000):
    """A model that is right half of the time and says 0.97 or 0.93, of other tables too."""
    random = np.random.default_rng(0)
    right = random.random(count) < 0.5
    probabilities = np.where(random.random(count) < 0.5, 0.97, 0.93)
    asked = Group(probabilities, np.where(random.random(count) < 0.9, 1.0, 0.0))
    own = Group(*(values[:200] for values in asked))
    return ScoredAnswers(asked, right, own, Group(own.probabilities, np.repeat([0.0, 1.0], 100)))


def test_fit_and_report():
    """Words tell the tables apart where the model does not."""
    found = too_sure()
    fitted = confidence.fit(found, "ckpt-7")
    assert fitted.weights == "ckpt-7"
    assert fitted.overlap == pytest.approx(0.9, abs=0.3)
    related, unrelated = (float(fitted.has_answer(0.95, shared)) for shared in (1.0, 0.0))
    assert unrelated < fitted.threshold < related
    rows = confidence.report(found, fitted)
    assert rows["questions"] == 1000
    assert rows["right"] == found.right.mean()
    assert rows["own table only, before"] == pytest.approx(0.95 - 0.5, abs=0.03)
    assert rows["own table only, after"] < 0.1
    assert rows["calibration error before"] == pytest.approx((0.45 * 5 + 0.95) / 6, abs=0.03)
    assert rows["calibration error after"] < 0.1
    own = found.own.shared.mean()
    # By words alone: pairs of the two tables in order, equal pairs by half.
    assert rows["AUROC of the confidence"] == pytest.approx(own / 2 + 0.25, abs=0.05)
    assert rows['AUROC of "has an answer"'] == pytest.approx(own / 2 + 0.25, abs=0.05)
    assert (rows["own table, answered"], rows["other table, refused"]) == (own, 0.5)
    assert rows["all questions, answered"] == found.asked.shared.mean()


def test_a_model_that_is_never_right_still_knows_its_tables():
    """Right answers say nothing about the words then; the tables do."""
    found = too_sure()
    found = found._replace(right=np.zeros(len(found.right), bool))
    fitted = confidence.fit(found)
    assert fitted.confidence(0.95, 1.0) < 0.05
    assert found.own.has_answer(fitted).mean() > found.other.has_answer(fitted).mean() + 0.1
    rows = confidence.report(found, fitted)
    assert (rows["own table, answered"], rows["other table, refused"]) == (0.9, 0.5)


def test_the_error_is_that_of_questions_that_were_not_fitted():
    """With the answers of one half turned round, the other half's confidences are wrong."""
    found = too_sure()
    right = np.arange(1000) % 2 == 0
    rows = confidence.report(found._replace(right=right), confidence.fit(found))
    assert rows["own table only, after"] > 0.8


@pytest.fixture
def folder(trained_model, tmp_path):
    """A copy of the trained model, with a calibration."""
    copy = tmp_path / "model"
    shutil.copytree(trained_model, copy)
    confidence.write(copy, FITTED, {"AUROC": 0.7})
    return copy


def test_kept_beside_the_weights(folder, table, vocab_file):
    shutil.copy(vocab_file, folder)
    predictor = Predictor.from_pretrained(folder)
    assert predictor.calibration == FITTED
    answer = predictor.ask(table, "who is 41?")
    assert answer.confidence == pytest.approx(float(FITTED.confidence(answer.probability, 1.0)))
    # It was not fitted for another variant.
    assert Predictor.from_pretrained(folder, attention="mate_exact").calibration is None
    (folder / calibration.FILE).write_text("{")
    with pytest.raises(InputError, match=r"calibration\.json: not valid JSON"):
        Predictor.from_pretrained(folder)


@pytest.mark.usefixtures("loaded_once")
def test_kept_in_an_export(folder):
    path = str(folder / "export")
    assert Predictor(path).calibration is None
    confidence.write(export.extras_dir(path), FITTED)
    assert Predictor(path).calibration == FITTED
    assert Predictor.from_pretrained(path).calibration == FITTED


def test_of_other_weights(folder, caplog):
    """After more training it says so and is not used."""
    (folder / "checkpoint").write_text('model_checkpoint_path: "ckpt-9"\n')
    for suffix in ("index", "data-00000-of-00001"):
        shutil.copy(folder / f"ckpt-0.{suffix}", folder / f"ckpt-9.{suffix}")
    for path, expected in ((folder, None), (folder / "ckpt-0", FITTED), (folder / "ckpt-9", None)):
        caplog.clear()
        assert confidence.read(model_folder.find(path)) == expected
        assert ("is of ckpt-0, not of ckpt-9" in caplog.text) == (expected is None)
    assert confidence.find(folder, confidence.latest_weights(folder)) is None
    assert confidence.find(folder / "absent", "ckpt-0") is None
