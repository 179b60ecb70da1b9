"""The signature on strings: the predictor's answers, and what becomes of odd requests."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import checkpoints
from mate_tf.answers import execution
from mate_tf.answers.execution import AGGREGATIONS
from mate_tf.data import interactions
from mate_tf.evaluation import denotation
from mate_tf.serving.in_graph import answers, numeric
from mate_tf.serving.in_graph.table_reader import TableReader
from mate_tf.serving.predictor import Predictor
from mate_tf.serving.signatures import ServingModule
from mate_tf.tables.conversion import ConversionConfig
from mate_tf.tables.table import Table

from .. import graphs
from ..tiny_model import MAX_COLUMNS, MAX_ROWS

HEADER = ["name", "city", "age"]
ROWS = [["Ann", "Rome", "30"], ["Bob", "Oslo", "41"], ["Cy", "Bern", "52"]]
OUTPUTS = {"cells", "probabilities", "probability", "aggregation", "value", "text"}


@pytest.fixture(scope="module")
def serve(saved_model):
    """serve(question=, header=, cells=): outputs as arrays."""
    loaded = Predictor(saved_model, engine="tensorflow")._model._model  # to be kept
    signature = loaded.signatures["serving_default"]

    def call(**request):
        given = {name: tf.constant(values, tf.string) for name, values in request.items()}
        return {name: value.numpy() for name, value in signature(**given).items()}

    return call


def request(table, question):
    cells = tf.reshape(tf.constant(table.rows, tf.string), [1, table.num_rows, table.num_columns])
    return {"question": [question], "header": [table.columns], "cells": cells}


TABLES = {
    "small": (HEADER, ROWS),
    "missing": (["a", "b"], [["", "x"], ["", ""], ["?", "y"]]),
    "long cell": (["a", "b"], [["word " * 2000, 1], ["x" * 10_000, 2]]),
    "many columns": ([f"c{n}" for n in range(300)], [list(range(300))] * 2),
    "many rows": (["a", "b"], [[n, 10**9 - n] for n in range(5000)]),
    "long": (["who", "b c", "d"], [[f"x {n}", "d e f", n * n] for n in range(300)]),
}


QUESTIONS = ("who is 41?", "?!", "who is older " * 500)


@pytest.fixture(scope="module")
def asked(serve, reads_part):
    """Table, the predictor's answer and the outputs, by name of the table and question."""
    tables = {name: Table.from_rows(*texts) for name, texts in TABLES.items()}
    return {
        (name, question): (
            table,
            reads_part.ask(table, question),
            serve(**request(table, question)),
        )
        for name, table in tables.items()
        for question in QUESTIONS
    }


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_of_the_predictor(asked, name, question):
    table, expected, found = asked[name, question]
    assert set(found) == OUTPUTS
    assert found["cells"].shape == (1, table.num_rows, table.num_columns)
    assert [tuple(cell) for cell in np.argwhere(found["cells"][0])] == expected.coordinates
    assert found["text"][0].decode() == expected.text
    assert found["probability"][0] == pytest.approx(expected.probability, abs=1e-5)
    for cell in expected.cells:
        at = found["probabilities"][0, cell.row, cell.column]
        assert at == pytest.approx(cell.probability, abs=1e-5)
    assert found["aggregation"][0] == b"NONE"
    assert np.isnan(found["value"][0])
    read = found["probabilities"][0] > 0
    assert read.any(axis=1).sum() < MAX_ROWS
    assert read.any(axis=0).sum() < MAX_COLUMNS
    if name == "long" and question == "who is 41?":
        assert read[41, 0]


def test_padded_tables(serve):
    """In a batch, a table answers as it does alone."""
    alone = serve(
        question=["who is 41?"], header=[HEADER[:2]], cells=[[row[:2] for row in ROWS[:2]]]
    )
    pad = "[PAD]"
    small = [[*row[:2], pad] for row in ROWS[:2]] + [[pad] * 3]
    found = serve(
        question=["who?", "who is 41?"],
        header=[HEADER, [*HEADER[:2], pad]],
        cells=[ROWS, small],
    )
    np.testing.assert_array_equal(found["cells"][1, :2, :2], alone["cells"][0])
    np.testing.assert_allclose(
        found["probabilities"][1, :2, :2], alone["probabilities"][0], atol=1e-5
    )
    assert not found["probabilities"][1, 2].any()
    assert not found["probabilities"][1, :, 2].any()
    assert found["text"][1] == alone["text"][0]


def well_formed(found, shape):
    assert found["cells"].shape == found["probabilities"].shape == shape
    for name in ("probability", "aggregation", "value", "text"):
        assert found[name].shape == shape[:1]
    for text in found["text"]:
        text.decode("utf-8")
    assert np.isfinite(found["probabilities"]).all()
    assert np.isfinite(found["probability"]).all()
    return True


ODD = {
    "question not UTF-8": {"question": [b"\xff\xfe who \xc3"]},
    "cells not UTF-8": {
        "cells": [
            [[b"\xff", b"Ro\xc3me", b"\xed\xa0\x80"], [b"", b"", b""], [b"\x00", b"\n", b"\t"]]
        ]
    },
    "empty names": {"header": [["", "", ""]]},
    "all empty": {"header": [[b"\xff", b"", b"name"]], "question": [""]},
    "huge word": {"question": ["x" * 1_000_000]},
    "huge question": {"question": ["x y? " * 200_000]},
    "huge numbers": {
        "cells": [[["1" * 100_000, "[PAD]", "1e999"], ["-" * 1000, "9,9", "[CLS] [SEP]"]]]
    },
    "5,000 rows": {"cells": np.full((1, 5000, 3), "a long name 7")},
    "no rows": {"cells": np.zeros((1, 0, 3), str)},
    "no columns": {"cells": np.zeros((1, 4, 0), str), "header": np.zeros((1, 0), str)},
    "no tables": {
        "question": np.zeros(0, str),
        "header": np.zeros((0, 3), str),
        "cells": np.zeros((0, 4, 3), str),
    },
}


def test_odd_requests_are_answered(serve):
    for name, changed in ODD.items():
        given = {"question": ["who?"], "header": [HEADER], "cells": [ROWS]} | changed
        assert well_formed(serve(**given), np.shape(given["cells"])), name


def test_requests_that_do_not_fit_together(serve):
    for changed, message in (
        ({"question": "who?"}, r"given_question .* not compatible with expected shape \[\?\]"),
        ({"question": [["who?"]]}, r"given_question .* not compatible with expected shape \[\?\]"),
        ({"cells": ROWS}, r"given_cells .* not compatible with expected shape \[\?,\?,\?\]"),
        ({"header": HEADER}, r"given_header .* not compatible with expected shape \[\?,\?\]"),
        ({"header": [HEADER[:2]]}, "header: the number of names differs from that of columns"),
        (
            {"question": ["who?", "what?"]},
            "cells: the number of tables differs from that of questions",
        ),
        ({"header": [HEADER, HEADER]}, "header: the number of headers differs from that of tables"),
    ):
        given = {"question": ["who?"], "header": [HEADER], "cells": [ROWS]} | changed
        with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError), match=message):
            serve(**given)
    assert well_formed(serve(question=["who?"], header=[HEADER], cells=[ROWS]), (1, 3, 3))


# fmt: off
CELLS = (
    "1", "2.5", "1,000", "1,5", "1,000.5", "1.000.000", "12,34,56", "-7", "+3", ".5", "5.", "1e3",
    "0.1", "0.2", "abc", "5km", "3rd", "1999", "1,23", "1,2345",
)
# fmt: on


@pytest.mark.parametrize("operation", AGGREGATIONS)
def test_values(operation):
    """Of a column of each cell alone, of some together, and of none."""
    chosen = [(text,) for text in CELLS] + [("0.1", "0.2"), ("5 km", "7", "x"), ("a", "b"), ()]
    for texts in chosen:
        cells = tf.reshape(tf.constant(texts, tf.string), [1, len(texts), 1])
        present = tf.ones_like(cells, tf.bool)
        values = numeric.ColumnValues(cells, present)
        index = tf.constant([AGGREGATIONS.index(operation)])
        value, text = (out.numpy()[0] for out in answers.result(cells, present, index, values))
        table = interactions.interaction_from_table(
            Table.from_rows(["a"], [[text] for text in texts]), "ask-0", []
        ).table
        known = denotation.numbers_at(table, [(row, 0) for row in range(len(texts))])
        expected = execution.result(operation, texts, known)
        assert text.decode() == expected.text, texts
        assert (
            value == pytest.approx(expected.value)
            if expected.value is not None
            else np.isnan(value)
        )


@pytest.fixture
def without_graphs():
    """The graph that these tests would trace is the same as in the export but for its end."""
    with graphs.avoided():
        yield


@pytest.mark.usefixtures("without_graphs")
def test_operations(make_model, vocab_file, options):
    model = make_model(select_one_column=True, num_aggregation_labels=4)
    variables = checkpoints.checkpoint_variables(model)
    variables["output_bias_agg"].assign([0.0, 50.0, 0.0, 0.0])  # always SUM
    variables["output_bias"].assign(50.0)  # of all cells
    module = ServingModule(model, TableReader(vocab_file, ConversionConfig(**options)))
    found = module.serving_default(
        tf.constant(["how old?"]), tf.constant([["age"]]), tf.constant([[["30"], ["41"], ["52 y"]]])
    )
    assert (found["aggregation"][0], found["value"][0], found["text"][0]) == (b"SUM", 123.0, b"123")


@pytest.mark.usefixtures("without_graphs")
@pytest.mark.parametrize("names", [("refuted", "entailed"), ()])
def test_classes(make_model, vocab_file, options, names):
    model = make_model(num_classification_labels=2, disable_per_token_loss=True)
    module = ServingModule(model, TableReader(vocab_file, ConversionConfig(**options)), names)
    found = module.serving_default(
        tf.constant(["Ann is 30."]), tf.constant([HEADER]), tf.constant([ROWS])
    )
    best = int(tf.argmax(found["class_probabilities"][0]))
    assert found["text"][0].numpy().decode() == (names or ("0", "1"))[best]
    assert found["probability"][0] == tf.reduce_max(found["class_probabilities"])
    assert not found["cells"].numpy().any()
