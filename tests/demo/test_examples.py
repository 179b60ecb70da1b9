"""The page's examples: tables with questions that the loaded model answers right."""

import pytest

from mate_tf.demo import examples, reading
from mate_tf.serving.predictor import Predictor

NATURAL, GENERATED = examples.for_task("WTQ"), examples.for_task("SYNTHETIC")


@pytest.mark.parametrize("example", NATURAL, ids=lambda example: example.question)
def test_the_preset_is_right(mini, example):
    answer = mini.ask(reading.pasted(example.text), example.question)
    assert answer.answerable
    assert answer.text == example.answer


def test_the_quickstart_is_right(quickstart_model):
    predictor = Predictor(str(quickstart_model / "export"))
    asked = [(reading.pasted(example.text), example.question) for example in GENERATED]
    answers = predictor.ask_batch(asked)
    assert [answer.text for answer in answers] == [example.answer for example in GENERATED]


@pytest.mark.parametrize("example", [*NATURAL, *GENERATED], ids=lambda example: example.question)
def test_an_answer_is_in_the_table_or_a_number(example):
    table = reading.pasted(example.text)
    texts = {text for row in table.rows for text in row}
    assert table.num_rows >= 6
    assert set(example.answer.split(", ")) <= texts or float(example.answer)


def test_a_model_of_generated_tables_has_its_own():
    names = [example.name for example in GENERATED]
    assert names.count("employees") == 3
    assert {"matches", "places", "players", "products"} < set(names)
    assert examples.for_task("SYNTHETIC") == GENERATED
    assert examples.for_task("") == NATURAL
