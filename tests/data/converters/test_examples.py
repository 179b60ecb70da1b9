"""What holds for the example of any question about any table."""

import functools
import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.data import features
from mate_tf.data.converters import examples
from mate_tf.data.converters.examples import ConversionError, ExampleConverter
from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.errors import InputError
from mate_tf.protos import interaction_pb2, table_selection_pb2
from mate_tf.tables.linearize import Cut
from mate_tf.tables.table import Table

from ..conftest import values as feature_values

WORDS = ["red", "##der", "##est", "blue", "green", "who", "is", "5", "##5", "1", "-", "?", "x"]
VOCABULARY = ["[PAD]", "[EMPTY]", "[UNK]", "[CLS]", "[SEP]", *WORDS]
EVERYTHING = {"drop_rows_to_fit": True, "drop_columns_to_fit": True, "trim_question_to_fit": True}
TABLE = Table.from_rows(
    ["Color", "Size"], [["red", 5], ["blue", 55], ["green", None]], table_id="t", title="blue x"
)


@pytest.fixture(scope="module")
def vocab_file(vocabulary_file):
    return vocabulary_file(VOCABULARY)


@pytest.fixture(scope="module")
def converter(vocab_file):
    return ExampleConverter(vocab_file, 32)


def ask(*questions, table=TABLE):
    """An interaction; a question is a text or a `Question`."""
    given = [
        found if isinstance(found, Question) else Question(f"t-0_{index}", found)
        for index, found in enumerate(questions)
    ]
    return interaction_from_table(table, "t-0", given)


def values(example, name):
    return np.array(feature_values(example, name))


def tokens(example, name="input_ids"):
    return values(example, name)[: values(example, "input_mask").sum()].tolist()


def pieces(example):
    return " ".join(VOCABULARY[index] for index in tokens(example))


def test_readable_example(converter):
    example = converter.convert(ask(Question("t-0_0", "Who is 5?", coordinates=[(0, 1)])), 0)
    assert pieces(example) == ("[CLS] who is 5 ? [SEP] [UNK] [UNK] red 5 blue 5 ##5 green [EMPTY]")
    assert tokens(example, "row_ids") == [0] * 8 + [1, 1, 2, 2, 2, 3, 3]
    assert tokens(example, "column_ids") == [0] * 6 + [1, 2, 1, 2, 1, 2, 2, 1, 2]
    assert tokens(example, "segment_ids") == [0] * 6 + [1] * 9
    assert tokens(example, "label_ids") == [0] * 9 + [1] + [0] * 5
    # Two of three cells have a number, less than 70 %.
    assert not values(example, "column_ranks").any()


def test_titles_go_behind_the_question(vocab_file):
    table = Table.from_rows(["x"], [["red"]], title="blue", heading="green 5")
    titled = ExampleConverter(vocab_file, 32, use_document_title=True, use_context_title=True)
    conversions = list(titled.convert_all(ask("who", "is", table=table)))
    assert [pieces(conversion.example) for conversion in conversions] == [
        "[CLS] who [SEP] blue [SEP] green 5 [SEP] x red",
        "[CLS] is [SEP] blue [SEP] green 5 [SEP] x red",
    ]
    assert titled.convert(ask("who", "is", table=table), 1) == conversions[1].example


def test_numbers_are_not_added_twice(converter):
    table = Table.from_rows(["x"], [["1"], ["5"], ["55"]])
    interaction = ask("who is 5", table=table)
    example = converter.convert(interaction, 0)
    assert values(example, "column_ranks").max() == 3
    # Annotations that are there count, whatever the texts say.
    for row in interaction.table.rows:
        row.cells[0].numeric_value.float_value = 7
    interaction.questions[0].annotations.spans[0].values[0].float_value = 6
    changed = converter.convert(interaction, 0)
    assert values(changed, "column_ranks").max() == 1
    assert tokens(changed, "numeric_values")[-3:] == [7, 7, 7]
    assert tokens(changed, "numeric_relations")[-3:] == [2, 2, 2]


def test_previous_answer(converter):
    first = Question("t-0_0", "who", coordinates=[(1, 0)])
    example = converter.convert(ask(first, "is"), 1)
    assert np.flatnonzero(values(example, "prev_label_ids")).tolist() == [
        tokens(example).index(VOCABULARY.index("blue"))
    ]
    assert not values(example, "label_ids").any()


@pytest.mark.parametrize(("question", "blue", "five"), [("5", 2, 1), ("blue 55", 3, 0)])
def test_previous_answer_beside_shared_words(vocab_file, question, blue, five):
    """1 for a word of the question, 2 for the previous answer, 3 for both."""
    converter = ExampleConverter(vocab_file, 32, mark_matches=True, mark_previous=True)
    first = Question("t-0_0", "who", coordinates=[(1, 0)])
    example = converter.convert(ask(first, question), 1)
    names = ("row_ids", "column_ids", "prev_label_ids")
    columns = (tokens(example, name) for name in names)
    found = {(row, column): mark for row, column, mark in zip(*columns, strict=True)}
    assert (found[2, 1], found[1, 2], found[1, 1]) == (blue, five, 0)
    assert values(converter.convert(ask(first, question), 0), "prev_label_ids").max() == 0
    alone = ExampleConverter(vocab_file, 32, mark_matches=True).convert(ask(first, question), 1)
    np.testing.assert_array_equal(
        values(alone, "prev_label_ids"), values(example, "prev_label_ids") % 2
    )
    with pytest.raises(InputError, match="mark_previous needs mark_matches"):
        ExampleConverter(vocab_file, 32, mark_previous=True)


def test_interactions_stay_as_they_are(converter):
    interaction = ask("who is 5")
    before = interaction.SerializeToString(deterministic=True)
    list(converter.convert_all(interaction))
    assert interaction.SerializeToString(deterministic=True) == before
    bare = interaction_pb2.Interaction()
    bare.questions.add(id="q-0_0", original_text="WHO is 5")
    before = bare.SerializeToString(deterministic=True)
    assert pieces(converter.convert(bare, 0)) == "[CLS] who is 5 [SEP]"
    assert bare.SerializeToString(deterministic=True) == before


def test_changed_table_is_converted_anew(converter):
    interaction = ask("who")
    assert "blue" in pieces(converter.convert(interaction, 0))
    interaction.table.rows[1].cells[0].text = "x"
    assert "blue" not in pieces(converter.convert(interaction, 0))


def test_selected_tokens(converter):
    interaction = ask("who")
    selection = interaction.questions[0].Extensions[
        table_selection_pb2.TableSelection.table_selection_ext
    ]
    selection.selected_tokens.add(row_index=1, column_index=0, token_index=0)
    selection.selected_tokens.add(row_index=2, column_index=1, token_index=1)
    assert pieces(converter.convert(interaction, 0)) == "[CLS] who [SEP] red ##5"


def test_labels_from_texts(vocab_file):
    converter = ExampleConverter(vocab_file, 32, update_answer_coordinates=True)
    table = Table.from_rows(["red"], [["blue red"], ["x redder"], ["red red"]])
    interaction = ask(Question("t-0_0", "who", texts=["redder", "red", "green"]), table=table)
    example = converter.convert(interaction, 0)
    assert pieces(example) == "[CLS] who [SEP] red blue red x red ##der red red"
    # The first cell that has it, never the header; "green" is nowhere.
    assert tokens(example, "label_ids") == [0, 0, 0, 0, 0, 1, 0, 1, 1, 0, 0]
    options = {"update_answer_coordinates": True, "label_no_answer": True}
    converter = ExampleConverter(vocab_file, 32, **options)
    assert converter.convert(interaction, 0) == example
    interaction.questions[0].answer.answer_texts[:] = ["green"]
    assert tokens(converter.convert(interaction, 0), "label_ids") == [1] + [0] * 10


def test_histogram_row(vocabulary_file):
    """At the bottom of the table and a part of its header: it is never an answer."""
    vocab = vocabulary_file([*VOCABULARY, "2", ","])
    options = {"histogram_row": True, "drop_rows_to_fit": True, "cell_trim_length": 9}
    table = Table.from_rows(["x", "green"], [["red", 5], ["blue", 5], ["red", 1]])
    question = Question("t-0_0", "who is 5?", coordinates=[(0, 1)])
    interaction = ask(question, table=table)
    plain = ExampleConverter(vocab, 32).convert(interaction, 0)
    example = ExampleConverter(vocab, 32, **options).convert(interaction, 0)
    length = len(tokens(plain))
    (two,) = ExampleConverter(vocab).tokenizer.encode(["2"]).ids
    red, five = VOCABULARY.index("red"), VOCABULARY.index("5")
    assert tokens(example)[length:] == [red, two, five, two]
    assert tokens(example, "column_ids")[length:] == [1, 1, 2, 2]
    for name in ("segment_ids", "row_ids", "label_ids", "column_ranks", "numeric_relations"):
        assert tokens(example, name)[:length] == tokens(plain, name)
        assert set(tokens(example, name)[length:]) == {name == "segment_ids"}
    assert sorted(set(tokens(plain, "numeric_relations"))) != [0]
    # No text is looked for in it, and it is the first row to go.
    texts = ask(Question("t-0_0", "who", texts=["red 2"]), table=table)
    found = ExampleConverter(vocab, 32, update_answer_coordinates=True, **options)
    assert not any(tokens(found.convert(texts, 0), "label_ids"))
    shorter = ExampleConverter(vocab, length, **options).conversion(interaction, 0)
    assert tokens(shorter.example) == tokens(plain)
    assert shorter.cuts == (Cut("rows", 1),)


def test_errors_name_question_and_table(converter):
    interaction = ask(Question("t-0_0", "who", is_valid=False))
    with pytest.raises(ConversionError, match=r"question t-0_0 \(table t\): Invalid answer"):
        converter.convert(interaction, 0)
    assert issubclass(ConversionError, InputError)
    interaction = ask("who")
    del interaction.table.rows[1].cells[1]
    with pytest.raises(ConversionError, match="row 2 has 1 cells, the header 2"):
        converter.convert(interaction, 0)


@pytest.mark.parametrize("coordinate", [(3, 0), (0, 2), (-1, -1), (0, -1)])
def test_answers_outside_the_table(converter, coordinate):
    interaction = ask("who")
    row, column = coordinate
    interaction.questions[0].answer.answer_coordinates.add(row_index=row, column_index=column)
    with pytest.raises(ConversionError, match="find all answers"):
        converter.convert(interaction, 0)


def test_question_ids(vocab_file, converter):
    interaction = ask(Question("é" * 64 + "-0_0", "who"))
    with pytest.raises(ConversionError, match="Question id too long: 68"):
        converter.convert(interaction, 0)
    trimming = ExampleConverter(vocab_file, 32, trim_question_ids=True)
    example = trimming.convert(interaction, 0)
    expected = [ord("é") + 1] * 60 + [ord(char) + 1 for char in "-0_0"]
    assert values(example, "question_id_ints").tolist() == expected
    assert example.features.feature["question_id"].bytes_list.value[0].decode()[:2] == "éé"


def test_converter_can_be_sent_to_another_process(vocab_file):
    converter = ExampleConverter(vocab_file, 40, use_document_title=True, max_row_id=9)
    copy = pickle.loads(pickle.dumps(converter))
    assert copy.config == converter.config
    assert copy.convert(ask("who"), 0) == converter.convert(ask("who"), 0)


def test_convert_all_reports_errors_in_place(converter):
    found = list(converter.convert_all(ask("who", Question("t-0_1", "is", is_valid=False), "x")))
    kinds = [type(outcome) for outcome in found]
    assert kinds == [examples.Conversion, ConversionError, examples.Conversion]


@pytest.mark.parametrize(
    ("table", "cuts"),
    [
        (Table.from_rows(["red"] * 300, [["x"] * 300] * 3), {"columns", "rows"}),
        (Table.from_rows(["red"] * 3, [["x"] * 3] * 5000), {"rows"}),
        (Table.from_rows(["red"], [["x blue " * 1430], ["green"]]), {"cells"}),
        (Table.from_rows(["red"], [["x" * 10_000], ["green"]]), set()),
        (Table.from_rows([math.nan], [[math.nan], [None]]), set()),
        (Table.from_rows(["red"] * 3, []), set()),
    ],
    ids=["300 columns", "5000 rows", "10000 characters", "one long word", "NaN", "no rows"],
)
def test_extreme_tables_give_examples(vocab_file, table, cuts):
    converter = ExampleConverter(vocab_file, 512, **EVERYTHING)
    conversion = converter.conversion(ask("who is 5", table=table), 0)
    assert {cut.kind for cut in conversion.cuts} == cuts
    check_well_formed(conversion.example, 512)
    assert tokens(conversion.example, "row_ids")[-1] >= min(1, table.num_rows)


def test_long_question(vocab_file):
    interaction = ask("who " * 600)
    with pytest.raises(ConversionError, match="the question alone has 602 tokens, at most 64"):
        ExampleConverter(vocab_file, 64).convert(interaction, 0)
    conversion = ExampleConverter(vocab_file, 64, **EVERYTHING).conversion(interaction, 0)
    # Six tokens of header and first row; the rest of the rows go as well.
    assert conversion.cuts[0] == Cut("question tokens", 600 - (64 - 2 - 4))
    assert tokens(conversion.example, "row_ids")[-1] == 1


def check_well_formed(example, length):
    assert set(example.features.feature) == set(features.names(features.ALL))
    for spec in features.ALL:
        assert len(values(example, spec.name)) == (length if spec.per_token else spec.size)
    mask = values(example, "input_mask")
    number = mask.sum()
    assert mask.tolist() == [1] * number + [0] * (length - number)
    ids = values(example, "input_ids")
    assert ids[0] == VOCABULARY.index("[CLS]")
    assert ((ids[:number] >= 1) & (ids[:number] < len(VOCABULARY))).all()
    for spec in features.ALL:
        if spec.per_token:
            np.testing.assert_array_equal(values(example, spec.name)[number:], spec.padding)
    rows, columns = tokens(example, "row_ids"), tokens(example, "column_ids")
    assert sorted(zip(rows, columns, strict=True)) == list(zip(rows, columns, strict=True))
    segments = tokens(example, "segment_ids")
    assert segments == [int(column > 0) for column in columns]
    assert set(tokens(example, "label_ids")) <= {0, 1}
    ranks = values(example, "column_ranks"), values(example, "inv_column_ranks")
    assert ((ranks[0] > 0) == (ranks[1] > 0)).all()
    assert set(tokens(example, "numeric_relations")) <= set(range(8))
    sizes = [len(list(group)) for _, group in itertools.groupby(zip(rows, columns, strict=True))]
    scales = [float(size) for size in sizes for _ in range(size)]
    assert tokens(example, "numeric_values_scale") == [
        scale if row else 1.0 for scale, row in zip(scales, rows, strict=True)
    ]


texts = st.one_of(
    st.text(max_size=8),
    st.lists(st.sampled_from(["red", "redder", "5", "55", "?", "1", "blue", ""]), max_size=5).map(
        " ".join
    ),
)


@st.composite
def asked(draw):
    columns = draw(st.integers(1, 4))
    row = st.lists(texts, min_size=columns, max_size=columns)
    table = [draw(row), *draw(st.lists(row, max_size=6))]
    return [[_storable(text) for text in cells] for cells in table], _storable(draw(texts))


def _storable(text):
    return text.encode("utf-8", "ignore").decode()


@given(asked(), st.sampled_from([8, 16, 40]))
def test_any_table_and_question(vocab_file, generated, length):
    (header, *rows), text = generated
    interaction = ask(text, table=Table.from_rows(header, rows))
    converter = _cached_converter(vocab_file, length)
    conversion = converter.conversion(interaction, 0)
    check_well_formed(conversion.example, length)
    names = ("row_ids", "column_ids", "input_ids")
    found = zip(*(tokens(conversion.example, name) for name in names), strict=True)
    for (row, column), group in itertools.groupby(found, key=lambda token: token[:2]):
        if column:
            cell = ([header, *rows])[row][column - 1]
            whole = converter.tokenizer.encode([cell])
            kept = [index for _, _, index in group]
            assert kept == whole.ids[: len(kept)].tolist()
            # Either all of the cell, or cut where a word begins.
            assert len(kept) == len(whole.ids) or whole.word_starts[len(kept)]


@functools.cache
def _cached_converter(vocab_file, length):
    return ExampleConverter(vocab_file, length, **EVERYTHING)
