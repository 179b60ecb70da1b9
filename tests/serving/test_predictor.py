"""Questions to an exported model: answers, conversations, tables that are too large."""

import dataclasses
import json
import math
import pathlib

import numpy as np
import pandas
import pytest

from mate_tf import checkpoints
from mate_tf.data import interactions
from mate_tf.errors import InputError
from mate_tf.serving import export
from mate_tf.serving.answer import Answer, AnswerCell
from mate_tf.serving.predictor import Predictor
from mate_tf.tables.table import Table

from ..tiny_model import LENGTH, MAX_COLUMNS, MAX_ROWS


def well_formed(answer, table):
    assert answer.cells
    for cell in answer.cells:
        assert table.rows[cell.row][cell.column] == cell.text
        assert 0 < cell.probability <= 1
    assert answer.coordinates == sorted(set(answer.coordinates))
    assert answer.text == ", ".join(cell.text for cell in answer.cells)
    assert (answer.aggregation, answer.value) == ("NONE", None)
    if not any("computed over all rows" in note for note in answer.notes):
        assert answer.probability == pytest.approx(sum(cell.probability for cell in answer.cells))
    assert json.loads(json.dumps(answer.to_json()))["text"] == answer.text
    return True


def test_answer(predictor, table):
    answer = predictor.ask(table, "who is 41?")
    assert well_formed(answer, table)
    assert answer.cuts == ()
    assert predictor.ask(table, "who is 41?") == answer


def answer_of(*coordinates):
    cells = tuple(AnswerCell(row, column, "", 1.0) for row, column in coordinates)
    return Answer(cells, "NONE", None, 1.0, "")


def test_conversation_gives_what_examples_hold(predictor, table, monkeypatch):
    """The previous answer reaches the model as it does in the data sets."""
    seen = []
    kind = type(predictor._model)
    compute = kind.compute

    def watched(model, parts):
        seen.extend(part.values for part in parts)
        return compute(model, parts)

    monkeypatch.setattr(kind, "compute", watched)
    first = answer_of((1, 0), (2, 2))
    with_previous = predictor.ask(table, "who is 41?", previous=first)
    without = predictor.ask(table, "who is 41?")
    assert with_previous.cuts == ()
    assert with_previous.probability != without.probability
    proto = interactions.interaction_from_table(
        table,
        "ask-0",
        [
            interactions.Question("ask-0_0", "before", coordinates=first.coordinates),
            interactions.Question("ask-0_1", "who is 41?"),
        ],
    )
    expected = predictor._model.converter.convert(proto, 1).features.feature
    for name in ("input_ids", "prev_label_ids", "label_ids"):
        assert seen[0][name].tolist() == expected[name].int64_list.value
    assert any(seen[0]["prev_label_ids"])
    assert not any(seen[1]["prev_label_ids"])


def test_previous_cells_that_are_not_read(predictor, reads_part, table):
    large = Table.from_rows(["a"], [[number] for number in range(100)])
    answer = reads_part.ask(large, "which?", previous=answer_of((1, 0), (90, 0), (99, 0)))
    assert well_formed(answer, large)
    assert answer.cuts[-1] == "2 cells of the previous answer forgotten"
    # An answer about another table: none of its cells is meant.
    assert predictor.ask(table, "who?", previous=answer_of((50, 0))).cuts == (
        "1 cells of the previous answer forgotten",
    )


def test_missing_values(predictor):
    table = Table.from_rows(["a", "b"], [[math.nan, "x"], [None, np.nan], ["", "y"]])
    assert well_formed(predictor.ask(table, "which?"), table)
    everywhere = Table.from_rows(["a"], [[math.nan]])
    assert well_formed(predictor.ask(everywhere, "which?"), everywhere)


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("word " * 2000, "1 cells shortened"),
        ("x" * 10_000, "1 cells with a word of more than 400 characters, not read"),
    ],
)
def test_very_long_cell(predictor, text, cut):
    table = Table.from_rows(["a", "b"], [[text, 1], ["short", 2]])
    answer = predictor.ask(table, "which?")
    assert well_formed(answer, table)
    assert answer.cuts == (cut,)


def test_many_columns(predictor):
    table = Table.from_rows([f"c{n}" for n in range(300)], [[str(n) for n in range(300)]] * 2)
    answer = predictor.ask(table, "which?")
    assert well_formed(answer, table)
    assert answer.cuts == (f"{300 - MAX_COLUMNS + 1} columns dropped: {MAX_COLUMNS} to 300",)


def test_many_rows(predictor, reads_part):
    table = Table.from_rows(["a"], [[number] for number in range(5000)])
    answer = predictor.ask(table, "which?")
    assert well_formed(answer, table)
    assert answer.cuts == ()
    answer = reads_part.ask(table, "which?")
    assert well_formed(answer, table)
    assert answer.cuts == (f"{5000 - MAX_ROWS + 1} rows dropped: {MAX_ROWS} to 5000",)
    assert all(cell.row < MAX_ROWS - 1 for cell in answer.cells)


SALES = Table.from_rows(
    ["order", "customer", "city", "total"],
    [[f"so {10_000 + n}", f"c {n % 7}", "x y", n * 3] for n in range(300)],
)


def test_the_row_that_is_asked_for_is_read(predictor, reads_part):
    """Row 250 of 300, with a model of 15 rows and 128 tokens."""
    question = "total of so 10249?"
    part = predictor.read(SALES, question)
    assert 249 in part.rows
    assert 3 in part.columns
    assert list(part.rows) == sorted(part.rows)
    ids = [
        part.example.features.feature[f"{name}_ids"].int64_list.value for name in ("row", "column")
    ]
    rows, columns = part.cells(*ids)
    assert max(ids[0]) == len(part.rows)
    # All of it: the ranks of row 250, and the whole text of its order.
    asked = (rows == 249) & (columns == 0)
    ranks = part.example.features.feature["column_ranks"].int64_list.value
    pieces = predictor._model.converter.tokenizer.tokenize(["so 10249"])[0]
    assert asked.sum() == len(pieces)
    assert set(np.array(ranks)[(rows == 249) & (columns == 3)]) == {250}
    assert predictor.ask(SALES, question).cuts == ()
    answer = reads_part.ask(SALES, question)
    assert well_formed(answer, SALES)
    assert all(cell.row in part.rows and cell.column in part.columns for cell in answer.cells)
    assert answer.cuts[0].startswith(f"{300 - len(part.rows)} rows dropped: ")
    # Cells of rows with other numbers in the example than in the table are referred to.
    follow_up = predictor.read(SALES, question, previous=answer_of((249, 3)))
    marked = np.array(follow_up.example.features.feature["prev_label_ids"].int64_list.value) > 0
    np.testing.assert_array_equal(marked, (rows == 249) & (columns == 3))


def test_very_long_question(predictor, table):
    answer = predictor.ask(table, "who is older " * 500)
    assert well_formed(answer, table)
    assert any(cut.endswith("question tokens dropped") for cut in answer.cuts)


def test_question_without_words(predictor, table):
    assert well_formed(predictor.ask(table, "?"), table)


@pytest.mark.parametrize("ask", ["ask", "__call__", "example", "ask_batch"])
def test_no_question(predictor, table, ask):
    for nothing in ("", "  \n", None, 3, ["who?", ""]):
        arguments = [[(table, nothing)]] if ask == "ask_batch" else [table, nothing]
        with pytest.raises(ValueError, match=r"^(the question is empty|a question must be text, )"):
            getattr(predictor, ask)(*arguments)


def test_what_is_no_text(predictor, table):
    with pytest.raises(InputError, match=r"the question is not valid Unicode: 'who\\ud800'"):
        predictor.ask(table, "who\ud800")


@pytest.mark.parametrize("size", [0, -1, "x", 1.5, None])
def test_sizes_of_batches(predictor, table, size):
    with pytest.raises(InputError, match=rf"batch_size is {size!r}, expected an integer of 1 or"):
        predictor.ask_batch([(table, "who?")], batch_size=size)


@pytest.mark.parametrize("pairs", [[("x", "who?", 1)], [("x",)], [3], None, "ab", ["ab"]])
def test_what_is_no_pair(predictor, pairs):
    with pytest.raises(InputError, match=r"expected (a table and a question|\(table, question\))"):
        predictor.ask_batch(pairs)


@pytest.mark.parametrize("previous", ["x", {}, 3, [1]])
def test_what_is_no_previous_answer(predictor, table, previous):
    with pytest.raises(InputError, match="previous: expected an Answer or None, not "):
        predictor.ask(table, "who?", previous)
    with pytest.raises(InputError, match="previous: expected an Answer or None, not "):
        predictor.ask_batch([(table, "who?")], previous=[previous])
    with pytest.raises(InputError, match="previous: expected an Answer or None, not "):
        predictor.example(table, "who?", previous)
    for wrong in ("x", 3, [], [None, None]):
        with pytest.raises(InputError, match="previous: expected an answer or None for each"):
            predictor.ask_batch([(table, "who?")], previous=wrong)


def test_forms_of_a_table(predictor, table, tmp_path):
    """All of them are the same table."""
    expected = predictor.ask(table, "who is 41?")
    table.to_csv(tmp_path / "table.csv")
    columns = {name: table.column(index) for index, name in enumerate(table.columns)}
    rows = [list(table.columns), *table.rows]
    frame = pandas.DataFrame(columns)
    for given in (tmp_path / "table.csv", str(tmp_path / "table.csv"), columns, rows, frame):
        assert predictor.ask(given, "who is 41?") == expected
        assert predictor(table=given, query="who is 41?") == expected
    assert predictor.example(columns, "who is 41?") == predictor.example(table, "who is 41?")


def test_several_questions(predictor, table):
    """Independent of each other, or each after the answer of the one before."""
    questions = ["who is 41?", "where is Cy?", "who is 30?"]
    single = [predictor.ask(table, question) for question in questions]
    assert same(predictor.ask(table, questions), single)
    assert same(predictor(table=table, query=questions), single)
    talk = predictor(table, questions, sequential=True)
    assert talk[0] == single[0]
    assert talk[1] == predictor.ask(table, questions[1], previous=talk[0])
    assert talk[2] == predictor.ask(table, questions[2], previous=talk[1])
    assert talk[1].probability != single[1].probability
    assert predictor.ask(table, []) == []


def test_batches_of_tables(predictor, table):
    """Answers come in the order of the pairs, whatever the batches are."""
    other = Table.from_rows(["a", "b", "c", "d"], [[n, n + 1, "x y z", n] for n in range(9)])
    pairs = [(table, "who is 41?"), (other, "which?"), (table, "who is 30?"), (other, "x?")]
    expected = [predictor.ask(*pair) for pair in pairs]
    for batch_size in (1, 3, 16):
        assert same(predictor.ask_batch(pairs, batch_size), expected)


def test_batches_are_of_similar_lengths(predictor, table, monkeypatch):
    """Short questions are not padded to the length of long ones."""
    long = Table.from_rows(["a", "b", "c", "d"], [[n, n + 1, "x y z", n] for n in range(9)])
    seen = []
    compute = type(predictor._model).compute

    def count(model, parts):
        seen.append([part.num_tokens for part in parts])
        return compute(model, parts)

    monkeypatch.setattr(type(predictor._model), "compute", count)
    pairs = [(long, "which?"), (table, "x?"), (long, "x?"), (table, "who is 41?")]
    predictor.ask_batch(pairs, batch_size=2)
    (first, second), (third, fourth) = seen
    assert max(first, second) < min(third, fourth)


def test_a_prepared_table(predictor, table, monkeypatch):
    """It gives the same answers, and its numbers are found once."""
    expected = [predictor.ask(table, question) for question in ("who is 41?", "where is Cy?")]
    found = []
    cell_values = interactions.cell_values
    monkeypatch.setattr(
        interactions, "cell_values", lambda table: found.append(table) or cell_values(table)
    )
    prepared = predictor.prepare(table)
    assert predictor.prepare(prepared) is prepared
    assert predictor.ask(prepared, "who is 41?") == expected[0]
    assert same(predictor.ask(prepared, ["who is 41?", "where is Cy?"]), expected)
    pairs = [(prepared, "who is 41?"), (prepared, "where is Cy?")]
    assert same(predictor.ask_batch(pairs), expected)
    assert predictor(prepared, "who is 41?") == expected[0]
    assert predictor.example(prepared, "who is 41?") == predictor.example(table, "who is 41?")
    assert len(found) == 2  # by `prepare`, and for the plain table in the line above
    assert same(predictor.ask_batch([(table, "who is 41?"), (table, "where is Cy?")]), expected)
    assert len(found) == 3


def same(answers, expected):
    """Whether answers are equal up to how batches are rounded."""
    assert len(answers) == len(expected)
    for answer, wanted in zip(answers, expected, strict=True):
        assert (answer.text, answer.coordinates) == (wanted.text, wanted.coordinates)
        assert answer.probability == pytest.approx(wanted.probability, abs=1e-5)
    return True


def test_repr(predictor, saved_model):
    computed = "attention=mate_efficient, layers=1, hidden_size=16, "
    assert repr(predictor) == (
        f"Predictor({saved_model!r}, {computed}max_seq_length={LENGTH}, engine=openvino, "
        "precision=float32)"
    )
    other = Predictor(saved_model, engine="tensorflow")
    assert repr(other) == (
        f"Predictor({saved_model!r}, max_seq_length={LENGTH}, engine=tensorflow)"
    )


def test_engines_of_an_export(saved_model, table):
    """Both give the same answers to the same questions."""
    first, second = (
        Predictor(saved_model, engine=each, reading={}) for each in ("openvino", "tensorflow")
    )
    for question in ("who is 41?", "where is Cy?", "how old are all?"):
        own, other = first.ask(table, question), second.ask(table, question)
        assert own.coordinates == other.coordinates
        assert own.probability == pytest.approx(other.probability, abs=1e-4)


def test_what_is_no_saved_model_of_ours(tmp_path):
    with pytest.raises(InputError, match=f"{tmp_path}: no SavedModel here; --mode=export writes"):
        Predictor(str(tmp_path))
    (tmp_path / "saved_model.pb").write_bytes(b"garbage")
    with pytest.raises(InputError, match=r"mate_tf\.json: no such file.*exported by mate-tf"):
        Predictor(str(tmp_path))
    extras = tmp_path / "assets.extra"
    extras.mkdir()
    assert str(extras) == export.extras_dir(str(tmp_path))
    (extras / "mate_tf.json").write_text('{"converter": {}}')
    with pytest.raises(InputError, match=f"{tmp_path}: not a readable SavedModel"):
        Predictor(str(tmp_path))


@pytest.fixture
def exported(monkeypatch, vocab_file, options, tmp_path):
    """exported(model, **settings): its export, with the one signature that a predictor calls."""
    monkeypatch.setattr(export, "_reader", lambda *_: None)

    def save(model, **settings):
        return export.export(model, str(tmp_path / "model"), str(vocab_file), options, **settings)

    return save


def test_operations(make_model, exported):
    """What the operation gives is computed from the cells of the one column there is."""
    model = make_model("full", select_one_column=True, num_aggregation_labels=4)
    variables = checkpoints.checkpoint_variables(model)
    variables["output_bias_agg"].assign([0.0, 50.0, 0.0, 0.0])  # always SUM
    variables["output_bias"].assign(50.0)  # of all cells
    table = Table.from_rows(["age"], [[30], [41], ["52 years"]])
    answer = Predictor(exported(model)).ask(table, "how old are all?")
    assert answer.coordinates == [(0, 0), (1, 0), (2, 0)]
    assert (answer.aggregation, answer.value, answer.text) == ("SUM", 123.0, "123")


def test_classes(make_model, exported, table):
    """With their names, and with numbers where the export has none."""
    model = make_model("full", num_classification_labels=2, disable_per_token_loss=True)
    path = exported(model, class_names=("refuted", "entailed"))
    answer = Predictor(path).ask(table, "Ann is 30.")
    assert answer.cells == ()
    assert answer.text in ("refuted", "entailed")
    assert 0.5 <= answer.probability <= 1.0
    settings_file = pathlib.Path(export.extras_dir(path), export.SETTINGS_FILE)
    settings = json.loads(settings_file.read_text())
    settings_file.write_text(json.dumps(settings | {"class_names": []}))
    index = ("refuted", "entailed").index(answer.text)
    unnamed = dataclasses.replace(answer, text=str(index))
    assert Predictor(path).ask(table, "Ann is 30.") == unnamed
