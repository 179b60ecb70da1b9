"""Shuffled tables, predictions in the coordinates of the given ones, and what changes."""

import numpy as np
import pytest

from mate_tf.data.interactions import Question, interaction_from_table, table_of
from mate_tf.evaluation import metrics, order
from mate_tf.evaluation.predictions import Prediction
from mate_tf.protos.table_selection_pb2 import TableSelection
from mate_tf.tables.table import Table

SELECTION = TableSelection.table_selection_ext


@pytest.fixture
def interactions():
    table = Table.from_rows(["name", "age", "city"], [[f"n{i}", str(i), f"c{i}"] for i in range(5)])
    questions = [
        Question("a-0_0", "who is 3?", coordinates=[(3, 0)]),
        Question("a-0_1", "which is the first city?", coordinates=[(0, 2), (4, 1)]),
    ]
    first = interaction_from_table(table, "a-0", questions)
    tokens = first.questions[0].Extensions[SELECTION].selected_tokens
    tokens.add(row_index=0, column_index=1)
    tokens.add(row_index=4, column_index=2)
    small = interaction_from_table(
        Table.from_rows(["x"], [["1"]]), "b-0", [Question("b-0_0", "what?", coordinates=[(0, 0)])]
    )
    return [first, small]


def texts(interaction, cells):
    rows = table_of(interaction).rows
    return {rows[row][column] for row, column in cells}


@pytest.mark.parametrize("kind", order.KINDS)
def test_shuffled(interactions, kind):
    before = [each.SerializeToString() for each in interactions]
    found, orders = order.shuffled(interactions, kind, seed=3)
    assert [each.SerializeToString() for each in interactions] == before
    again, _ = order.shuffled(interactions, kind, seed=3)
    assert found == again
    given, table = table_of(interactions[0]), table_of(found[0])
    places = orders["a-0_0"]
    assert sorted(places) != list(places)
    assert orders["a-0_1"] is places
    if kind == order.ROWS:
        assert table.columns == given.columns
        assert table.rows == tuple(given.rows[place] for place in places)
    else:
        assert table.columns == tuple(given.columns[place] for place in places)
        assert table.rows == tuple(tuple(row[p] for p in places) for row in given.rows)
    # the numbers of cells and the gold cells move with their texts
    for row in found[0].table.rows:
        for cell in row.cells:
            if cell.text.isdigit():
                assert cell.numeric_value.float_value == float(cell.text)
    for old, new in zip(interactions[0].questions, found[0].questions, strict=True):
        gold = [texts(interactions[0], metrics.gold_cells(old)), metrics.gold_cells(new)]
        assert gold[0] == texts(found[0], gold[1])
    header, token = found[0].questions[0].Extensions[SELECTION].selected_tokens
    assert header.row_index == 0
    assert token.row_index > 0
    assert given.columns[1] == table.columns[header.column_index]
    assert given.rows[3][2] == table.rows[token.row_index - 1][token.column_index]
    assert found[1] == interactions[1]
    assert orders["b-0_0"].tolist() == [0]


@pytest.mark.parametrize("kind", order.KINDS)
def test_as_given(interactions, kind):
    found, orders = order.shuffled(interactions, kind, seed=1)
    cells = ((0, 1), (2, 0), (2, 2))
    asked = Prediction(
        "a-0_0",
        cells,
        probabilities=(0.1, 0.2, 0.3),
        ranked=(cells[2], cells[0]),
        spans=({"row_index": 2, "column_index": 0, "score": 1.5},),
        token_probabilities=((1, 0, 0.7),),
        aggregation="SUM",
    )
    given = order.as_given(asked, kind, orders["a-0_0"])
    table, shuffled = table_of(interactions[0]), table_of(found[0])

    def pairs(prediction, rows):
        return {
            rows[row][column]: probability
            for (row, column), probability in zip(
                prediction.coordinates, prediction.probabilities, strict=True
            )
        }

    assert pairs(given, table.rows) == pairs(asked, shuffled.rows)
    assert list(given.coordinates) == sorted(given.coordinates)
    assert [table.rows[r][c] for r, c in given.ranked] == [
        shuffled.rows[r][c] for r, c in asked.ranked
    ]
    (span,) = given.spans
    assert span["score"] == 1.5
    assert table.rows[span["row_index"]][span["column_index"]] == shuffled.rows[2][0]
    ((column, row, share),) = given.token_probabilities
    assert share == 0.7
    assert table.rows[row][column] == shuffled.rows[0][1]
    assert given.aggregation == "SUM"
    assert order.as_given(Prediction("x", cells), kind, np.arange(3)) == Prediction("x", cells)


def test_changes(interactions):
    before = {
        "a-0_0": Prediction("a-0_0", ((3, 0),)),
        "a-0_1": Prediction("a-0_1", ((1, 1),)),
        "b-0_0": Prediction("b-0_0", ((0, 0),)),
    }

    def found(**after):
        predicted = before | {name.replace("_", "-", 1): each for name, each in after.items()}
        return order.changes(interactions, before, predicted, metrics.has_right_cells)

    none = found()
    assert none["answers changed"] == 0
    assert none["95 % from"] == 0 < none["95 % to"] < 1
    assert none["no word of order"] == (0, 2)
    wrong = found(a_0_0=Prediction("a-0_0", ((2, 0),)))
    assert wrong["answers changed"] == pytest.approx(1 / 3)
    assert wrong["no word of order"] == (0.5, 2)
    assert wrong["of right ones"] == (0.5, 2)
    assert wrong["of wrong ones"] == (0, 1)
    assert wrong["right, then wrong"] == pytest.approx(1 / 3)
    assert wrong["wrong, then right"] == 0
    mended = found(a_0_1=Prediction("a-0_1", ((0, 2), (4, 1))))
    assert mended["wrong, then right"] == pytest.approx(1 / 3)
    assert mended["no word of order"] == (0, 2)
    # the same cells with another operation or class, and no prediction
    for other in ({"aggregation": "COUNT"}, {"class_index": 1}):
        assert found(b_0_0=Prediction("b-0_0", ((0, 0),), **other))["answers changed"] > 0
    after = {name: each for name, each in before.items() if name != "b-0_0"}
    lost = order.changes(interactions, before, after, metrics.has_right_cells)
    assert lost["answers changed"] == pytest.approx(1 / 3) == lost["right, then wrong"]
    lost = order.changes(interactions, after, after, metrics.has_right_cells)
    assert lost["answers changed"] == 0
