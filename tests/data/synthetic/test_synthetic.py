"""Generated tables: answers that follow from the table, disjoint splits, no unknown piece."""

import collections
import re

import pytest

from mate_tf.data import synthetic
from mate_tf.data.interactions import parse_question_id
from mate_tf.data.synthetic.domains import DOMAINS
from mate_tf.data.synthetic.questions import TYPES
from mate_tf.data.synthetic.sheets import row_count
from mate_tf.errors import InputError
from mate_tf.tables.numbers import numeric_spans
from mate_tf.tables.table import Table


@pytest.fixture(scope="module")
def tables():
    return list(synthetic.generate_tables(1, 400))


def test_same_seed_same_tables():
    again = list(synthetic.generate_tables(3, 6, rows=(5, 20)))
    assert again == list(synthetic.generate_tables(3, 6, rows=(5, 20)))
    assert again[:2] == list(synthetic.generate_tables(3, 2, rows=(5, 20)))
    assert again != list(synthetic.generate_tables(4, 6, rows=(5, 20)))


def test_sizes_and_mix(tables):
    sizes = [table.table.num_rows for table in tables]
    assert 5 <= min(sizes) < 7
    assert 150 < max(sizes) <= 200
    assert {table.table.num_columns for table in tables} == {3, 4, 5, 6}
    assert {table.interaction_id.partition("-")[0] for table in tables} == {
        domain.name for domain in DOMAINS
    }
    counts = collections.Counter(q.type for table in tables for q in table.questions)
    for name, share in synthetic.MIX.items():
        assert counts[name] / 2400 == pytest.approx(share, abs=0.05)
    answers = [len(q.coordinates) for table in tables for q in table.questions]
    assert min(answers) == 1
    assert max(answers) == 6


def test_tables_of_any_length():
    (table,) = synthetic.generate_tables(1, 1, rows=(900, 900))
    assert table.table.num_rows == 900
    with pytest.raises(InputError, match=r"at most \d+ rows in the dev split, not 100000"):
        list(synthetic.generate_tables(1, 1, rows=(100000, 100000), split="dev"))


def test_names_of_splits_are_disjoint_but_made_of_the_same_words():
    names = {}
    for split in synthetic.SPLITS:
        names[split] = set()
        for generated in synthetic.generate_tables(1, 150, split=split, rows=(50, 50)):
            headers = {header for domain in DOMAINS for header in domain.headers}
            index = next(i for i, text in enumerate(generated.table.columns) if text in headers)
            column = generated.table.column(index)
            assert len(set(column)) == 50
            names[split] |= set(column)
    assert not names["train"] & (names["dev"] | names["test"])
    assert not names["dev"] & names["test"]
    known = {word for name in names["train"] for word in name.split()}
    unseen = {word for name in names["dev"] for word in name.split()} - known
    assert not unseen


def test_answers_follow_from_the_table(tables):
    """Recomputes answers from the question's text, for the wordings that say all of it."""
    checked = collections.Counter()
    for generated in tables:
        columns = {text.lower(): i for i, text in enumerate(generated.table.columns)}
        for question in generated.questions:
            expected = _expected(question.text, generated.table, columns)
            if expected is not None:
                checked[question.type] += 1
                assert list(question.coordinates) == sorted(expected), question
    assert min(checked[name] for name in synthetic.TYPES) > 20


def _expected(question, table, columns):
    key = next(
        i for i, text in enumerate(table.columns) for d in DOMAINS if text in d.headers
    )  # fmt: skip
    rows = range(table.num_rows)

    def noun(text):
        return columns.get(text.removeprefix("number of "))

    if (match := re.fullmatch(r"tell me the ([a-z ]+) of (.+)", question)) and noun(match[1]):
        return [(r, noun(match[1])) for r in rows if table.rows[r][key] == match[2]]
    if (match := re.search(r"has the (highest|lowest) ([a-z ]+?)\??$", question)) and (
        noun(match[2]) is not None
    ):
        values = [int(text) for text in table.column(noun(match[2]))]
        best = max(values) if match[1] == "highest" else min(values)
        return [(r, key) for r in rows if values[r] == best]
    if match := re.search(r"an? ([a-z ]+?) (above|below|of at least) (\d+)\?$", question):
        if noun(match[1]) is None:
            return None
        values = [int(text) for text in table.column(noun(match[1]))]
        limit = int(match[3])
        holds = {"above": limit.__lt__, "below": limit.__gt__, "of at least": limit.__le__}
        return [(r, key) for r in rows if holds[match[2]](values[r])]
    if match := re.fullmatch(r"list all with the ([a-z]+) ([^ ]+)", question):
        return [(r, key) for r in rows if table.rows[r][noun(match[1])] == match[2]]
    return None


def test_unanswerable_questions():
    """Those without coordinates ask for a name or a column that the table does not have."""
    tables = list(synthetic.generate_tables(1, 150, rows=(5, 30), unanswerable=0.5))
    found = collections.Counter()
    for generated in tables:
        (domain,) = (
            each
            for each in DOMAINS
            if set(generated.table.columns)
            <= {*each.headers, *(column.header for column in each.columns)}
        )
        text_of = {text for row in generated.table.rows for text in row}
        columns = {text.lower(): i for i, text in enumerate(generated.table.columns)}
        for question in generated.questions:
            found[question.type, bool(question.coordinates)] += 1
            if question.coordinates:
                expected = _expected(question.text, generated.table, columns)
                assert expected is None or list(question.coordinates) == sorted(expected)
            elif match := re.fullmatch(r"tell me the ([a-z ]+) of (.+)", question.text):
                assert match[2] not in text_of
            elif match := re.search(r"has the (highest|lowest) ([a-z ]+?)\??$", question.text):
                headers = (c.header for c in domain.columns if c.noun == match[2])
                assert not set(headers) & set(generated.table.columns)
    shares = [found[name, False] / (found[name, False] + found[name, True]) for name in TYPES]
    assert 0.35 < min(shares) <= max(shares) < 0.65


def test_without_unanswerable_questions_the_tables_stay(tables):
    assert list(synthetic.generate_tables(1, 3, unanswerable=0.0)) == tables[:3]
    assert all(question.coordinates for table in tables for question in table.questions)


def test_questions_differ_and_their_numbers_are_thresholds(tables):
    for generated in tables:
        if generated.table.num_rows > 8:
            texts = [question.text for question in generated.questions]
            assert len(set(texts)) >= len(texts) - 1
        for question in generated.questions:
            spans = len(numeric_spans(question.text))
            assert spans == (question.type == "comparison"), question


def test_interactions_and_their_ids():
    interactions = list(synthetic.generate(5, 3, rows=(5, 9)))
    generated = list(synthetic.generate_tables(5, 3, rows=(5, 9)))
    for interaction, plain in zip(interactions, generated, strict=True):
        assert interaction.id == plain.interaction_id
        for position, (proto, question) in enumerate(
            zip(interaction.questions, plain.questions, strict=True)
        ):
            assert proto.original_text == question.text
            assert parse_question_id(proto.id).position == position
            assert len(proto.id) <= 64
            assert synthetic.question_type(proto.id) == question.type
            cells = [(c.row_index, c.column_index) for c in proto.answer.answer_coordinates]
            assert cells == list(question.coordinates)


@pytest.mark.parametrize("question_id", ["nt-12-0_0", "people-train1.0-ls_2", "x", "a-lx_0"])
def test_question_type_of_other_ids(question_id):
    with pytest.raises(InputError, match=re.escape(repr(question_id))):
        synthetic.question_type(question_id)


def test_row_count_covers_the_range_from_end_to_end():
    class Extremes:
        def __init__(self, value):
            self.random = lambda: value

    assert row_count(Extremes(0.0), (5, 200)) == 5
    assert row_count(Extremes(0.9999999), (5, 200)) == 200


def test_vocabulary_has_no_unknown_piece_on_generated_text(tables):
    pieces = synthetic.vocabulary()
    assert pieces[:2] == ["[PAD]", "[EMPTY]"]
    assert len(set(pieces)) == len(pieces) < 4000
    known = set(pieces)
    for generated in tables:
        for text in (
            *generated.table.columns,
            *(text for row in generated.table.rows for text in row),
            *(question.text for question in generated.questions),
        ):
            for word in re.findall(r"[a-z]+|\d+|[^\sa-z\d]", text.lower()):
                assert _num_pieces(word, known) <= 2, word


def _num_pieces(word, known):
    """WordPiece, greedy from the left; fails for a word that has no pieces."""
    count, begin = 0, 0
    while begin < len(word):
        prefix = "##" if begin else ""
        end = next(e for e in range(len(word), begin, -1) if prefix + word[begin:e] in known)
        begin, count = end, count + 1
    return count


def test_make_vocabulary_writes_pieces_of_other_texts_too(tmp_path):
    path = tmp_path / "new" / "vocab.txt"
    count = synthetic.make_vocabulary(path, extra_texts=["Quokka weight"])
    pieces = path.read_text(encoding="utf-8").split("\n")
    assert pieces.pop() == ""
    assert len(pieces) == count == len(synthetic.vocabulary()) + 1
    assert "quokka" in pieces
    assert [file.name for file in path.parent.iterdir()] == ["vocab.txt"]


def test_example_is_held_out_and_its_answers_are_right():
    table = Table.from_csv(synthetic.EXAMPLE_TABLE)
    answers = [
        [table.rows[row][column] for row, column in coordinates]
        for _, coordinates in synthetic.EXAMPLE_QUESTIONS
    ]
    ages = dict(zip(table.column(0), map(int, table.column(4)), strict=True))
    salaries = dict(zip(table.column(0), map(int, table.column(3)), strict=True))
    assert answers[0] == [dict(zip(table.column(0), table.column(1), strict=True))["Kenji Tanaka"]]
    assert answers[1] == [max(salaries, key=salaries.get)]
    assert answers[2] == [name for name, age in ages.items() if age > 55]
    trained = set()
    for generated in synthetic.generate_tables(1, 300, rows=(100, 200)):
        trained |= {text for row in generated.table.rows for text in row}
    assert not set(table.column(0)) & trained


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"split": "eval"}, "split 'eval'"),
        ({"rows": (9, 5)}, r"rows \(9, 5\)"),
        ({"columns": (2, 4)}, r"columns \(2, 4\)"),
        ({"questions_per_table": 0}, "questions_per_table 0"),
        ({"unanswerable": 1.5}, r"unanswerable 1\.5"),
    ],
)
def test_bad_options(option, message):
    with pytest.raises(InputError, match=message):
        next(synthetic.generate_tables(1, 1, **option))
