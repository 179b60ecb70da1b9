"""Examples equal those of the reference, feature by feature, errors included."""

import functools
import json

import numpy as np
import pytest

from mate_tf.data import features, interactions, records
from mate_tf.data.converters.examples import ConversionError, ExampleConverter
from mate_tf.protos import interaction_pb2

from ..conftest import values

DROP = {"drop_rows_to_fit": True}
CONFIGS = {
    "base512": {},
    "s128": {"max_seq_length": 128},
    "s128_drop": {"max_seq_length": 128, **DROP},
    "s128_trim0_drop": {"max_seq_length": 128, "cell_trim_length": 0, **DROP},
    "s256_trim5_drop": {"max_seq_length": 256, "cell_trim_length": 5, **DROP},
    "s512_rows10_cols6": {"max_row_id": 10, "max_column_id": 6},
    "s512_rows10_cols6_drop": {"max_row_id": 10, "max_column_id": 6, **DROP},
    "s512_strip_columns": {"strip_column_names": True},
    "s512_title_context_trimid": {
        "use_document_title": True,
        "use_context_title": True,
        "trim_question_ids": True,
    },
    "s512_trim3": {"cell_trim_length": 3},
    "s512_update_coords": {"update_answer_coordinates": True},
    "s64": {"max_seq_length": 64},
    "s64_drop": {"max_seq_length": 64, **DROP},
}
PER_TOKEN = [spec for spec in features.ALL if spec.per_token and spec.name != "input_mask"]
SINGLE = ("aggregation_function_id", "classification_class_index", "answer", "table_id_hash")


@pytest.fixture(scope="module")
def converter(goldens):
    """Config name -> converter, built once."""

    @functools.cache
    def build(name):
        return ExampleConverter(goldens / "tokenization" / "vocab.txt", **CONFIGS[name])

    return build


def _value(found):
    if found is None:
        return None
    if "float" in found:
        return interaction_pb2.NumericValue(float_value=found["float"])
    date = dict(zip(("year", "month", "day"), found["date"], strict=True))
    return interaction_pb2.NumericValue(
        date=interaction_pb2.Date(**{part: n for part, n in date.items() if n is not None})
    )


def _question(recorded, answer, annotated):
    question = interaction_pb2.Question(id=recorded["id"], original_text=recorded["original_text"])
    if annotated:
        question.text = recorded["text"]
        question.annotations.SetInParent()
        for begin, end, values in recorded["numeric_spans"]:
            span = question.annotations.spans.add(begin_index=begin, end_index=end)
            span.values.extend(_value(value) for value in values)
    question.answer.answer_texts.extend(answer["answer_texts"])
    for row, column in answer["answer_coordinates"]:
        question.answer.answer_coordinates.add(row_index=row, column_index=column)
    for name in ("float_value", "aggregation_function", "is_valid", "class_index"):
        if answer[name] is not None:
            setattr(question.answer, name, answer[name])
    return question


def _interaction(recorded, annotated, answers=None):
    """From a golden; without annotations, the converter has to find the numbers itself."""
    table = recorded["table"]
    interaction = interaction_pb2.Interaction(id=recorded["interaction_id"])
    for name in ("table_id", "document_title", "context_heading"):
        setattr(interaction.table, name, table[name])
    for text in table["columns"]:
        interaction.table.columns.add(text=text)
    for texts, numbers in zip(table["rows"], recorded["cell_numeric_values"], strict=True):
        row = interaction.table.rows.add()
        for text, value in zip(texts, numbers, strict=True):
            row.cells.add(text=text, numeric_value=_value(value if annotated else None))
    for question, answer in zip(
        recorded["questions"], answers or recorded["questions"], strict=True
    ):
        interaction.questions.append(_question(question, answer, annotated))
    return interaction


def _check(example, expected, length):
    assert set(example.features.feature) == set(features.names(features.ALL))
    tokens = expected["num_tokens"]
    assert values(example, "input_mask") == [1] * tokens + [0] * (length - tokens)
    for spec in PER_TOKEN:
        golden = np.full(length, spec.padding, np.float32 if spec.dtype == "float32" else int)
        golden[:tokens] = np.array(expected[spec.name], dtype=float)
        np.testing.assert_array_equal(values(example, spec.name), golden, err_msg=spec.name)
    for name in SINGLE:
        golden = np.array([expected[name]], dtype=np.float32 if name == "answer" else float)
        np.testing.assert_array_equal(values(example, name), golden, err_msg=name)
    for name in ("question_id", "table_id"):
        assert values(example, name) == [expected[name].encode()]
    ints = [ord(char) + 1 for char in expected["question_id_ints_text"]]
    assert values(example, "question_id_ints") == ints + [0] * (64 - len(ints))


def _compare(converter, interaction, index, expected):
    before = interaction.SerializeToString(deterministic=True)
    if "error" in expected:
        with pytest.raises(ConversionError) as raised:
            converter.convert(interaction, index)
        assert raised.value.reason == expected["error"]
        assert expected["error"] in str(raised.value)
        assert interaction.questions[index].id in str(raised.value)
    else:
        _check(converter.convert(interaction, index), expected, converter.max_seq_length)
    assert interaction.SerializeToString(deterministic=True) == before


@pytest.mark.parametrize("annotated", [True, False], ids=["annotated", "plain"])
@pytest.mark.parametrize("config", CONFIGS)
def test_conversions(goldens, converter, config, annotated):
    compared = 0
    for name in ("wtq", "sequences", "reference_testdata"):
        path = goldens / "tokenization" / "open" / f"{name}.jsonl"
        for line in path.read_text(encoding="utf-8").splitlines():
            recorded = json.loads(line)
            interaction = _interaction(recorded, annotated)
            for index, expected in enumerate(recorded["conversions"].get(config, ())):
                _compare(converter(config), interaction, index, expected)
                compared += 1
    assert compared >= 30


def test_strict_answers(goldens, converter):
    path = goldens / "tokenization" / "open" / "wtq.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines():
        recorded = json.loads(line)
        interaction = _interaction(recorded, True, [recorded["answer_strict"]])
        _compare(converter("base512"), interaction, 0, recorded["conversion_strict_base512"])


def test_empty_example(goldens, converter):
    path = goldens / "tokenization" / "open" / "empty_example_s128.json"
    expected = json.loads(path.read_text(encoding="utf-8"))
    example = converter("s128").empty_example()
    assert set(example.features.feature) == set(expected)
    for name, wanted in expected.items():
        if isinstance(wanted[0], str):
            assert values(example, name) == [wanted[0].encode()]
        else:
            np.testing.assert_array_equal(values(example, name), np.array(wanted, float), name)


def test_records_of_the_reference(goldens, converter):
    folder = goldens / "tokenization" / "open"
    built = [
        converter("s128_drop").convert(interaction, index)
        for interaction in records.read_interactions(folder / "wtq6.interactions.tfrecord")
        for index in range(len(interaction.questions))
    ]
    built += [converter("s128_drop").empty_example()] * 2
    recorded = records.read_examples(folder / "wtq6.examples_s128_drop.tfrecord")
    for ours, theirs in zip(built, recorded, strict=True):
        assert set(ours.features.feature) == set(theirs.features.feature)
        for name in theirs.features.feature:
            np.testing.assert_array_equal(values(ours, name), values(theirs, name), name)


def test_ids(goldens):
    path = goldens / "tokenization" / "open" / "id_utils.json"
    expected = json.loads(path.read_text(encoding="utf-8"))
    for question_id, parts in expected["parse_question_id"].items():
        assert list(interactions.parse_question_id(question_id)) == parts
    for question_id, example_id in expected["get_example_id"].items():
        assert interactions.get_example_id(question_id) == example_id
    for question_id, interaction_id in expected["get_interaction_id"].items():
        assert interactions.get_interaction_id(question_id) == interaction_id
    created = [interactions.create_interaction_id("x"), interactions.create_interaction_id("x", 3)]
    assert created == expected["create_interaction_id"]
    assert expected["padded"] == interactions.PADDING_QUESTION_ID
