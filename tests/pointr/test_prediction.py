"""Cells of the first stage and spans of the second, joined to answers."""

import math

import numpy as np
import pytest

from mate_tf.data.converters.tokenizer import Tokenizer
from mate_tf.pointr import prediction

CELLS = {"q-0_0": [((0, 1), 0.6), ((1, 1), 0.3), ((0, 0), 0.1)]}
WORDS = "ann bob was born in basel bern she won twice . : 2001"


@pytest.fixture
def tokenizer(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[EMPTY]", *WORDS.split()]) + "\n"
    )
    return Tokenizer(path)


def output(first, last, question=3, length=20):
    """Of a model that chose these tokens of the cell."""
    return {
        "pred_span": np.array([question + first, question + last]),
        "span_log_prob": math.log(0.5),
        "row_ids": (np.arange(length) >= question).astype(int),
    }


def test_selected_cells_have_their_probability_and_text(races):
    ann, bob = prediction.select_cells([races.interaction], CELLS, 2)
    assert (ann.question_id, bob.question_id) == ("q/0-0_0", "q/1-0_0")
    assert (ann.cell, ann.probability) == ((0, 1), 0.6)
    assert (bob.cell, bob.probability) == ((1, 1), 0.3)
    assert bob.text == "Bob : Bob was born in Bern ."
    assert not prediction.select_cells([races.interaction], {}, 2)
    (own,) = prediction.select_cells([races.interaction], CELLS, 1, "cells")
    assert own.text == "Ann"


def test_readings_are_words_of_the_cells_text(races, tokenizer):
    selected = prediction.select_cells([races.interaction], CELLS, 3)
    # ann : ann was born in basel; the third cell could not be converted
    outputs = {"q/0-0_0": output(6, 6), "q/1-0_0": output(4, 6)}
    found = prediction.readings(selected, outputs, tokenizer)
    assert [reading.text for reading in found["q"]] == ["Basel", "born in Bern"]
    assert [reading.cell for reading in found["q"]] == [(0, 1), (1, 1)]
    assert found["q"][0].log_probability == pytest.approx(math.log(0.3))


def test_every_question_has_an_answer(races, tokenizer):
    selected = prediction.select_cells([races.interaction], CELLS, 1)
    found = prediction.readings(selected, {"q/0-0_0": output(3, 6)}, tokenizer)
    answers = prediction.answers(["q-0_0", "r-0_0"], found, "first")
    texts = {name: reading.text for name, reading in answers.items()}
    assert texts == {"q": "was born in Basel", "r": ""}
    assert answers["r"].cell_probability == 0
