"""QUESTIONS: which tables are read, and what the questions about them have."""

import collections
import itertools

import pytest

from mate_tf.answers.execution import NONE
from mate_tf.data import features, pretraining, records
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.datasets import questions, sqa
from mate_tf.data.generation.questions import KINDS
from mate_tf.data.interactions import Question, given, interaction_from_table, parse_question_id
from mate_tf.data.records.create_data import interactions_path
from mate_tf.errors import InputError
from mate_tf.evaluation import denotation
from mate_tf.evaluation.predictions import Prediction
from mate_tf.tables.table import Table


def table(number, num_rows=20):
    rows = [[f"Town {i}", f"Region {i % 3}", f"${i * 7 + number}"] for i in range(num_rows)]
    return Table.from_rows(["Town", "Region", "Price"], rows, table_id=f"t{number}")


def interactions(*numbers):
    return [
        interaction_from_table(table(number), f"t{number}-0", [Question(f"t{number}-0_0", "x?")])
        for number in numbers
    ]


@pytest.fixture(scope="module")
def made():
    return list(questions.read(interactions(*range(30)), per_table=8))


def test_answers_are_of_the_table_that_is_given(made):
    """Of a table that was cut, too: the cells and the operation give the answer."""
    assert len({tuple(row.cells[0].text for row in each.table.rows) for each in made}) > 10
    for each in made:
        (question,) = each.questions
        answer = question.answer
        cells = tuple((cell.row_index, cell.column_index) for cell in answer.answer_coordinates)
        operation = denotation.AGGREGATIONS[answer.aggregation_function]
        prediction = Prediction(question.id, cells, aggregation=operation)
        assert denotation.is_right(each, question, prediction)
        assert answer.HasField("float_value") == (operation != NONE)
        assert given(question) in KINDS
    assert len({each.questions[0].id for each in made}) == len(made)
    parse_question_id(made[0].questions[0].id)


def test_ids_are_short_enough_for_an_example():
    (source,) = interactions(1)
    for length in (50, 60):
        source.table.table_id = "t" * length
        found = list(questions.read([source], per_table=4, statements_per_table=4))
        ids = [each.questions[0].id for each in found]
        assert len(set(ids)) == len(ids) == 6  # its question gives no counterfactual one
        assert max(map(len, ids)) <= features.QUESTION_ID_LENGTH


def test_equal_tables_are_asked_about_once(made):
    twice = list(questions.read(interactions(*range(30), *range(30)), per_table=8))
    assert twice == made
    other = list(questions.read(interactions(*range(30)), per_table=8, seed=1))
    assert other != made


@pytest.mark.parametrize(("share", "cut"), [(0.0, False), (1.0, True)])
def test_cut_tables(share, cut):
    found = list(questions.read(interactions(*range(5)), cut_share=share))
    assert {len(each.table.rows) < 20 for each in found} == {cut}


def test_splits_are_parts_of_the_training_tables(tmp_path):
    path = interactions_path(tmp_path / "sqa", "train")
    records.write_interactions(interactions(*range(200)), path)
    records.write_interactions(interactions(999), interactions_path(tmp_path / "sqa", "dev"))
    found = {
        split: {each.table.table_id for each in questions.read_dir(tmp_path, split, per_table=1)}
        for split in questions.SPLITS
    }
    assert set.union(*found.values()) <= {f"t{number}" for number in range(200)}
    assert sum(map(len, found.values())) == 200  # no table is in two splits
    assert min(map(len, found.values())) >= 1
    with pytest.raises(InputError, match="QUESTIONS has no split 'val', only train, dev, test"):
        next(questions.read_dir(tmp_path, "val"))


def test_statements_between_questions(made):
    """They change no question, are half of each kind and half true, and have unique ids."""
    sources = interactions(*range(30))
    for source in sources:
        source.questions[0].original_text = "Town 3 is cheaper than Town 4"
        source.questions[0].text = ""
    mixed = list(questions.read(sources, per_table=8, statements_per_table=4))
    said = [each for each in mixed if each.questions[0].answer.HasField("class_index")]
    assert [each for each in mixed if each not in said] == made
    kinds = collections.Counter(given(each.questions[0]) for each in said)
    assert kinds == {questions.SYNTHETIC: 60, questions.COUNTERFACTUAL: 60}
    classes = collections.Counter(each.questions[0].answer.class_index for each in said)
    assert classes == {questions.ENTAILED: 60, questions.REFUTED: 60}
    assert len({each.questions[0].id for each in mixed}) == len(mixed)
    for each in said:
        (question,) = each.questions
        assert not question.answer.answer_coordinates
        if given(question) == questions.COUNTERFACTUAL:
            assert len(each.table.rows) == 20  # its text is about the whole table
            is_source = question.original_text == "Town 3 is cheaper than Town 4"
            assert (question.answer.class_index == questions.ENTAILED) == is_source
        parse_question_id(question.id)
    assert any(len(each.table.rows) < 20 for each in said)


MAYORS = Table.from_rows(
    ["City", "Mayor"],
    [["Bern", "Ann Red"], ["Thun", "Tom Green"], ["Biel", "Eva Black"]],
    table_id="t",
    title="Mayors of Thun",
)


def ask(*texts, **answer):
    asked = [Question(f"t-0_{index}", text, **answer) for index, text in enumerate(texts)]
    return interaction_from_table(MAYORS, "t-0", asked)


def texts_and_labels(found):
    return [
        (made.questions[0].original_text, made.questions[0].answer.class_index) for made in found
    ]


def test_one_statement_an_interaction():
    found = list(questions.read_statements([ask("Bern?")], num_synthetic=3, num_counterfactual=4))
    assert [made.id for made in found] == [f"t-0/{index}-0" for index in range(7)]
    for index, made in enumerate(found):
        assert made.table == ask("Bern?").table
        (question,) = made.questions
        assert parse_question_id(question.id) == (f"t-0/{index}", "0", 0)
        assert question.text == question.original_text.lower()
    truths = [label for _, label in texts_and_labels(found)]
    assert truths[:3] in ([0, 1, 0], [1, 0, 1])
    assert truths[3:] == [1, 0, 1, 0]
    assert {text for text, label in texts_and_labels(found)[3:] if label} == {
        "Bern?",
        "Mayors of Thun",
    }


def test_refuted_statements_are_no_source():
    refuted = ask("Bern is Tom Green's", class_index=questions.REFUTED)
    options = {"num_synthetic": 0, "num_counterfactual": 2}
    assert texts_and_labels(questions.read_statements([refuted], **options))[0] == (
        "Mayors of Thun",
        1,
    )
    entailed = ask("Bern is Ann Red's", class_index=questions.ENTAILED)
    found = {
        texts_and_labels(questions.read_statements([entailed], seed=seed, **options))[0]
        for seed in range(20)
    }
    assert found == {("Mayors of Thun", 1), ("Bern is Ann Red's", 1)}


def test_what_is_made_depends_on_seed_and_interaction_only():
    first, second = ask("Bern?"), ask("Thun?")
    second.id = "u-0"
    together = list(questions.read_statements([first, second], seed=1))
    assert together == [
        *questions.read_statements([first], seed=1),
        *questions.read_statements([second], seed=1),
    ]
    assert together != list(questions.read_statements([first, second], seed=2))


def test_files_of_statements(tmp_path):
    records.write_interactions([ask("Bern?")], interactions_path(tmp_path / "a", "train"))
    records.write_interactions([ask("Thun?")], interactions_path(tmp_path / "b", "train"))
    expected = list(questions.read_statements([ask("Bern?"), ask("Thun?")], seed=3))
    assert (
        list(questions.read_statements(pretraining.read_dir(tmp_path, "train"), seed=3)) == expected
    )
    assert (
        list(questions.read_statements(pretraining.read_dir(tmp_path / "a", "train"), seed=3))
        == expected[:4]
    )
    with pytest.raises(InputError, match="has no table for dev"):
        next(iter(pretraining.read_dir(tmp_path, "dev")))


def test_statements_about_real_tables(sqa_dir, bert_vocab):
    source = list(itertools.islice(sqa.read(sqa_dir, "test"), 60))
    found = list(questions.read_statements(source, num_synthetic=4))
    counts = collections.Counter(label for _, label in texts_and_labels(found))
    assert len(found) > 4 * len(source)
    assert abs(counts[0] - counts[1]) <= 3
    converter = ExampleConverter(bert_vocab, 256, drop_rows_to_fit=True)
    example = converter.convert(found[0], 0)
    label = example.features.feature["classification_class_index"].int64_list.value
    assert list(label) == [found[0].questions[0].answer.class_index]
