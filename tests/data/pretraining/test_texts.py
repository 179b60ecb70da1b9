"""Texts with their own or random tables."""

import itertools

import pytest

from mate_tf.data import pretraining, records
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.interactions import Question, interaction_from_table, parse_question_id
from mate_tf.data.pretraining import texts
from mate_tf.errors import InputError
from mate_tf.tables.table import Table

NUM_TABLES = 60


def interaction(number, part=0, **fields):
    """Two questions about a table; the second one's answer is a cell."""
    table = Table.from_rows(["red"], [[f"blue {number}"]] * 2, table_id=f"t{number}", **fields)
    name = f"n{number}/{part}-0"
    questions = [
        Question(f"{name}_0", "Who has 3?", texts=["x"], is_valid=False),
        Question(f"{name}_1", "who", coordinates=[(1, 0)], texts=["blue"], aggregation="COUNT"),
    ]
    return interaction_from_table(table, name, questions)


@pytest.fixture(scope="module")
def interactions():
    return [interaction(number, title=f"Title {number}") for number in range(NUM_TABLES)]


def test_every_text_once_without_its_answer(interactions):
    found = list(pretraining.texts_with_tables(interactions))
    assert len(found) == 3 * NUM_TABLES
    ids = [each.questions[0].id for each in found]
    assert len(set(ids)) == len(ids)
    for each in found:
        (question,) = each.questions
        assert parse_question_id(question.id).position == 0
        answer = question.answer
        assert answer.is_valid
        assert [field.name for field, _ in answer.ListFields()] == ["class_index"]
    assert [question.original_text for question in found[0].questions] == ["Who has 3?"]
    assert found[0].questions[0].annotations.spans[0].values[0].float_value == 3
    assert [each.questions[0].original_text for each in found[:3]] == [
        "Who has 3?",
        "who",
        "Title 0",
    ]


def test_the_class_says_whether_the_table_is_the_texts_own(interactions):
    found = list(pretraining.texts_with_tables(interactions, text_sources=["document_title"]))
    assert len(found) == NUM_TABLES
    for number, each in enumerate(found):
        own = each.table == interactions[number].table
        assert each.questions[0].answer.class_index == (
            pretraining.REAL_TABLE if own else pretraining.RANDOM_TABLE
        )
        assert each.table in [other.table for other in interactions]


def test_share_of_random_tables_and_seed(interactions):
    def classes(**options):
        found = pretraining.texts_with_tables(interactions, **options)
        return [each.questions[0].answer.class_index for each in found]

    assert set(classes(random_table_prob=0.0)) == {pretraining.REAL_TABLE}
    assert set(classes(random_table_prob=1.0)) == {pretraining.RANDOM_TABLE}
    half = classes(seed=1)
    assert abs(sum(half) / len(half) - 0.5) < 5 * 0.5 / len(half) ** 0.5
    assert half == classes(seed=1)
    assert half != classes(seed=2)


def test_several_interactions_about_one_table(monkeypatch):
    """Equal tables are not random tables, and their title is a text once."""
    monkeypatch.setattr(texts, "_READ_AHEAD", 2)
    same = [interaction(0, part, title="T") for part in range(3)]
    found = list(pretraining.texts_with_tables(same, random_table_prob=1.0))
    assert [each.questions[0].answer.class_index for each in found] == [0] * 7
    mixed = [interaction(part % 5, part) for part in range(20)]
    found = list(pretraining.texts_with_tables(mixed, random_table_prob=1.0))
    assert len(found) == 40
    for index, each in enumerate(found[2:], start=2):
        assert each.table.table_id != mixed[index // 2].table.table_id
    # Those that were not read ahead are drawn too, unless another has taken their place before.
    assert len({each.table.table_id for each in found}) > 2


def test_sources():
    one = interaction(1, title="T", caption="C", heading="H")
    for sources, expected in (
        (["caption"], ["C"]),
        (["questions"], ["Who has 3?", "who"]),
        (pretraining.TEXT_SOURCES, ["Who has 3?", "who", "T", "C", "H"]),
    ):
        found = pretraining.texts_with_tables([one], text_sources=sources)
        assert [each.questions[0].original_text for each in found] == expected
    with pytest.raises(InputError, match="'titles' is not one of questions, document_title"):
        pretraining.texts_with_tables([one], text_sources=["titles"])


def test_reads_one_data_set_or_several(tmp_path, interactions):
    def ids(folder):
        return [each.id for each in pretraining.read_dir(str(folder), "train")]

    with pytest.raises(InputError, match="has no table for train"):
        list(pretraining.read_dir(str(tmp_path), "train"))
    for name, found in (("a", interactions[:2]), ("b", interactions[2:3])):
        records.write_interactions(found, tmp_path / name / "interactions" / "train.tfrecord")
    assert ids(tmp_path / "a") == ["n0/0-0", "n1/0-0"]
    assert ids(tmp_path) == ["n0/0-0", "n1/0-0", "n2/0-0"]
    path = tmp_path / "interactions" / "train-more.tfrecord"
    records.write_interactions(interactions[3:4], path)
    assert ids(tmp_path) == ["n3/0-0", "n0/0-0", "n1/0-0", "n2/0-0"]
    (tmp_path / "a").rename(tmp_path / "[b]")
    assert ids(tmp_path / "[b]") == ["n0/0-0", "n1/0-0"]


def test_examples_have_no_labels_and_no_previous_answer(vocabulary, interactions):
    converter = ExampleConverter(vocabulary, 16, drop_rows_to_fit=True)
    for each in itertools.islice(pretraining.texts_with_tables(interactions), 6):
        feature = converter.convert(each, 0).features.feature
        for name in ("prev_label_ids", "label_ids"):
            assert not any(feature[name].int64_list.value)
        assert feature["classification_class_index"].int64_list.value == [
            each.questions[0].answer.class_index
        ]
