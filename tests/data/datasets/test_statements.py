"""Intermediate pre-training data."""

import collections
import itertools

import pytest

from mate_tf.data import pretraining, records
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.datasets import questions, sqa
from mate_tf.data.interactions import Question, interaction_from_table, parse_question_id
from mate_tf.data.records.create_data import interactions_path
from mate_tf.errors import InputError
from mate_tf.tables.table import Table

TABLE = Table.from_rows(
    ["City", "Mayor"],
    [["Bern", "Ann Red"], ["Thun", "Tom Green"], ["Biel", "Eva Black"]],
    table_id="t",
    title="Mayors of Thun",
)


def ask(*texts, **answer):
    asked = [Question(f"t-0_{index}", text, **answer) for index, text in enumerate(texts)]
    return interaction_from_table(TABLE, "t-0", asked)


def texts(found):
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
    truths = [label for _, label in texts(found)]
    assert truths[:3] in ([0, 1, 0], [1, 0, 1])
    assert truths[3:] == [1, 0, 1, 0]
    assert {text for text, label in texts(found)[3:] if label} == {"Bern?", "Mayors of Thun"}


def test_refuted_statements_are_no_source():
    refuted = ask("Bern is Tom Green's", class_index=questions.REFUTED)
    options = {"num_synthetic": 0, "num_counterfactual": 2}
    assert texts(questions.read_statements([refuted], **options))[0] == ("Mayors of Thun", 1)
    entailed = ask("Bern is Ann Red's", class_index=questions.ENTAILED)
    found = {
        texts(questions.read_statements([entailed], seed=seed, **options))[0] for seed in range(20)
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


def test_files(tmp_path):
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


def test_real_tables(sqa_dir, bert_vocab):
    source = list(itertools.islice(sqa.read(sqa_dir, "test"), 60))
    found = list(questions.read_statements(source, num_synthetic=4))
    counts = collections.Counter(label for _, label in texts(found))
    assert len(found) > 4 * len(source)
    assert abs(counts[0] - counts[1]) <= 3
    converter = ExampleConverter(bert_vocab, 256, drop_rows_to_fit=True)
    example = converter.convert(found[0], 0)
    label = example.features.feature["classification_class_index"].int64_list.value
    assert list(label) == [found[0].questions[0].answer.class_index]
