"""Answers of both models; what they compute themselves, tests/cli/test_pointr.py covers."""

import math

import numpy as np
import pytest

from mate_tf.data.converters import expansion
from mate_tf.data.converters.example_features import Conversion
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.errors import InputError
from mate_tf.pointr import predictor
from mate_tf.pointr.readings import Reading
from mate_tf.tables.linearize import Cut
from mate_tf.tables.table import Table

TEXT = "Ann : Ann was born in Basel . She won twice ."


@pytest.mark.parametrize(
    ("words", "passage", "sentence"),
    [
        ("Ann", None, "Ann"),  # the cell's own text comes first
        ("Basel", "/wiki/Ann", "Ann was born in Basel ."),
        ("won twice", "/wiki/Ann", "She won twice ."),
        ("", None, "Ann"),
    ],
)
def test_where_the_answer_stands(races, words, passage, sentence):
    begin = TEXT.index(words)
    place = begin, begin + len(words)
    best = Reading(words, 0.5, math.log(0.25), (0, 1))
    grid = np.array([[0.1, 0.5], [0.3, 0.1]], np.float32)
    answer = predictor._answer(races.interaction, best, place, grid, ("a cut",))
    assert (answer.text, answer.passage, answer.sentence) == (words, passage, sentence)
    assert (answer.row, answer.column, answer.cell) == (0, 1, "Ann")
    assert (answer.cell_probability, answer.span_probability) == (0.5, pytest.approx(0.25))


def test_answers_as_json_have_the_best_cells_only():
    grid = np.zeros([4, 3], np.float32)
    grid[2, 1], grid[0, 2], grid[3, 0] = 0.5, 0.25, 0.25
    answer = predictor.PointrAnswer("x", 2, 1, "x", None, "x", 0.5, 0.5, grid)
    assert answer.coordinates == [(2, 1)]
    assert answer.best_cells(3) == [(2, 1, 0.5), (0, 2, 0.25), (3, 0, 0.25)]
    as_json = answer.to_json()
    assert "probabilities" not in as_json
    assert as_json["cells"] == answer.best_cells()


def test_links_must_be_of_cells(races):
    with pytest.raises(InputError, match="no cell in row 2, column 0"):
        predictor.link(races.interaction, {(2, 0): ["/wiki/Cy"]}, {})
    with pytest.raises(InputError, match="no cell in row 0, column -1"):
        predictor.link(races.interaction, {(0, -1): ["/wiki/Cy"]}, {})
    cell = races.interaction.table.rows[0].cells[1]
    assert list(expansion.links(cell)) == ["/wiki/Ann"]


def test_settings_that_are_not_there(tmp_path):
    with pytest.raises(InputError, match=r"pointr.json: no such file; train or export with"):
        predictor._settings(str(tmp_path))
    predictor.write_settings(str(tmp_path), num_cells=3, policy="product")
    expected = {"num_cells": 3, "policy": "product", "sources": "all"}
    assert predictor._settings(str(tmp_path)) == expected


class Model:
    """Stands in for an exported model, whose converter gives the interaction itself."""

    def __init__(self, outputs):
        self.converter, self._outputs = self, iter(outputs)

    def conversion(self, interaction, question_index):
        rows, columns = interaction.table.rows, interaction.table.columns
        cuts = (Cut("cells", 1),) if len(rows) > 1 else ()
        return Conversion({}, cuts, tuple(range(len(rows))), tuple(range(len(columns))))

    def compute(self, parts):
        return [next(self._outputs) for _ in parts]


class Offsets:
    """Words as tokens."""

    def ranges(self, text):
        ends = np.cumsum([len(word) + 1 for word in text.split(" ")])
        return np.stack([np.append(0, ends[:-1]), ends - 1], axis=1)


def test_the_policy_chooses_among_the_cells_that_are_read():
    """The best cell is "Bob", and its span is less probable."""
    row_ids = np.array([0, 0, *[1] * 12])

    def read(token, probability):
        span = np.array([2 + token, 2 + token])
        return {"pred_span": span, "span_log_prob": np.log(probability), "row_ids": row_ids}

    table = Table.from_rows(["year", "winner"], [["2001", "Ann"], ["2002", "Bob"]])
    cells = np.array([[0.0, 0.4], [0.0, 0.6]], np.float32)
    passages = {"/wiki/Ann": "Ann was born in Basel .", "/wiki/Bob": "Bob was born in Bern ."}
    found = {}
    for policy in ("first", "product"):
        pointr = object.__new__(predictor.PointrPredictor)
        pointr._point = Model([{"cell_probabilities": cells}])
        pointr._read = Model([read(6, 0.1), read(6, 0.9)])  # in the order of the cells
        pointr._policy, pointr._num_cells, pointr._offsets = policy, 2, Offsets()
        links = {(0, 1): ["/wiki/Ann"], (1, 1): ["/wiki/Bob"]}
        found[policy] = pointr.ask(table, "where?", links, passages)
    assert (found["first"].text, found["first"].passage) == ("Bern", "/wiki/Bob")
    assert (found["product"].text, found["product"].passage) == ("Basel", "/wiki/Ann")
    assert found["product"].cuts == ("1 cells shortened",)


@pytest.mark.parametrize(
    ("sources", "token", "text", "passage", "sentence"),
    [
        ("cells", 0, "Bob", None, "Bob"),
        ("passages", 0, "Bob", "/wiki/Bob", "Bob was born in Bern ."),
        ("passages", 6, "He", "/wiki/Bob", "He won ."),
        ("all", 6, "Bern", "/wiki/Bob", "Bob was born in Bern ."),
    ],
)
def test_a_reader_of_cells_or_passages_only(sources, token, text, passage, sentence):
    """What the reader gets, and where its answer stands."""
    read = {"pred_span": np.array([2 + token] * 2), "span_log_prob": -1.0}
    read["row_ids"] = np.array([0, 0, *[1] * 12])
    table = Table.from_rows(["year", "winner"], [["2002", "Bob"]])
    pointr = object.__new__(predictor.PointrPredictor)
    pointr._point = Model([{"cell_probabilities": np.array([[0.1, 0.9]], np.float32)}])
    pointr._read = Model([read])
    pointr._policy, pointr._num_cells, pointr._offsets = "first", 1, Offsets()
    pointr._sources = sources
    links = {(0, 1): ["/wiki/Bob"]}
    found = pointr.ask(table, "where?", links, {"/wiki/Bob": "Bob was born in Bern . He won ."})
    assert (found.text, found.passage, found.sentence) == (text, passage, sentence)


class PointsAtOnes:
    """Stands in for the first stage: it looks for the cell with most words "a"."""

    def __init__(self, converter):
        self.converter, self.asked = converter, 0

    def compute(self, parts):
        self.asked += len(parts)
        return [{"cell_probabilities": self._cells(each)} for each in parts]

    def _cells(self, part):
        names = ("input_ids", "row_ids", "column_ids")
        ids, rows, columns = (part.values[name] for name in names)
        found = np.zeros((32, 2), np.float32)
        wanted = (ids == self.converter.tokenizer.ids(["a"])[0]) & (rows > 0)
        np.add.at(found, (rows[wanted] - 1, columns[wanted] - 1), 1.0)
        return np.exp(found) / np.exp(found).sum()


@pytest.mark.parametrize("words", [1, 12])
def test_rows_of_a_long_table_are_pointed_at_in_windows(vocabulary_file, words):
    """Rows with the best cells of each window are compared, also where each is a window alone."""
    pieces = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[EMPTY]", "who", "name", "b", "a")
    options = {"renumber_to_fit": True, "drop_rows_to_fit": True}
    options["expand_entity_descriptions"] = True
    converter = ExampleConverter(vocabulary_file(pieces), max_seq_length=24, **options)
    rows = [[" ".join(["b"] * words)] for _ in range(61)]
    rows[17], rows[44] = ["a b"], ["a a"]
    table = Table.from_rows(["name"], rows)
    interaction = interaction_from_table(table, "t-0", [Question("t-0_0", "who")])
    pointr = object.__new__(predictor.PointrPredictor)
    pointr._point, pointr._num_cells = PointsAtOnes(converter), 3
    found, notes = pointr._point_at(interaction, 0)
    assert np.unravel_index(found.argmax(), found.shape) == (44, 0)
    assert found.sum() <= 1.001
    assert notes == ()
    pointr._reads_whole = False
    found, notes = pointr._point_at(interaction, 0)
    assert found[44] == 0
    assert "rows dropped" in notes[0]
