"""Numbers and dates: equal to the reference's records, and consistent with comparison."""

import itertools
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.tables import numbers
from mate_tf.tables.numbers import Date, column_ranks, column_values, numeric_spans, relations
from mate_tf.tables.table import Table
from mate_tf.tables.text import normalize_for_match

FILES = ("wtq", "sequences", "reference_testdata")
FEATURES = ("column_ids", "row_ids", "column_ranks", "inv_column_ranks", "numeric_relations")

floats = st.floats(-1e6, 1e6).map(numbers.to_float32)
dates = st.builds(
    Date,
    st.none() | st.integers(1990, 1993),
    st.none() | st.integers(1, 3),
    st.none() | st.integers(1, 3),
)
columns = st.lists(st.none() | floats, max_size=12) | st.lists(st.none() | dates, max_size=12)


def as_recorded(value):
    if value is None:
        return None
    return {"date": list(value)} if isinstance(value, Date) else {"float": value}


def spans_as_recorded(text):
    return [[s.begin, s.end, list(map(as_recorded, s.values))] for s in numeric_spans(text)]


def read(goldens, name):
    with open(goldens / "tokenization/open" / f"{name}.jsonl") as lines:
        return [json.loads(line) for line in lines]


def columns_of(record):
    return [column_values(column) for column in zip(*record["table"]["rows"], strict=True)]


def test_spans_equal_the_recorded(goldens):
    records = json.loads((goldens / "tokenization/open/text_utils.json").read_text())
    assert len(records) > 200
    for record in records:
        text = record["text"]
        assert spans_as_recorded(text) == record["parse_text_raw"], text
        normalized = normalize_for_match(text)
        assert spans_as_recorded(normalized) == record["parse_text_normalized"], text


@pytest.mark.parametrize("name", FILES)
def test_values_of_cells_and_questions_equal_the_recorded(goldens, name):
    for record in read(goldens, name):
        values = [list(map(as_recorded, column)) for column in columns_of(record)]
        assert [list(row) for row in zip(*values, strict=True)] == record["cell_numeric_values"]
        for question in record["questions"]:
            text = normalize_for_match(question["original_text"])
            assert text == question["text"]
            assert spans_as_recorded(text) == question["numeric_spans"]


@pytest.mark.parametrize("name", FILES)
def test_ranks_and_relations_equal_the_recorded(goldens, name):
    """Of every token in all configurations: the features of its cell, 0 outside data cells."""
    compared = 0
    for record in read(goldens, name):
        values = columns_of(record)
        ranks = [column_ranks(column) for column in values]
        for index, question in enumerate(record["questions"]):
            asked = [value for span in numeric_spans(question["text"]) for value in span.values]
            related = [relations(asked, column) for column in values]
            for conversions in record["conversions"].values():
                recorded = conversions[index]
                if "error" in recorded:
                    continue
                of_tokens = zip(*(recorded[feature] for feature in FEATURES), strict=True)
                for column, row, *features in of_tokens:
                    of_cells = (*ranks[column - 1], related[column - 1])
                    expected = [f[row - 1] for f in of_cells] if column and row else [0, 0, 0]
                    assert features == expected, (question["id"], row, column)
                compared += 1
    assert compared >= 50


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0000", [0.0]),  # no year, but a number
        ("1699 and 2017", [1699.0, 2017.0]),
        ("in 1999.", [1999.0]),
        ("fifth", []),
        ("feb 29", [29.0]),
        ("feb 29, 2012", [Date(2012, 2, 29)]),
        ("feb 30, 2012", [30.0, 2012.0, Date(2012)]),
        ("friday, may 5", [Date(None, 5, 5)]),
        ("5 may 6", [Date(None, 5, 5), Date(None, 5, 6)]),
        ("nan inf infinity", []),
        ("1e5", [100000.0]),
        ("1" * 5000, []),
        ("1" * 60, [math.inf]),  # too large for float32
        ("-" + "9" * 5000, [-math.inf]),
    ],
)
def test_habits_of_the_parser(text, values):
    assert [value for span in numeric_spans(text) for value in span.values] == values


def test_results_are_the_callers_own():
    numeric_spans("7 dwarfs").clear()
    assert len(numeric_spans("7 dwarfs")) == 1


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        ([], []),
        (["a", "b"], [None, None]),
        (["1", "x"] * 3, [None] * 6),
        (["1", "2", "3", "4", "5", "6", "7", "x", "", "n/a"], [1, 2, 3, 4, 5, 6, 7] + [None] * 3),
        (["1999", "2000"], [Date(1999), Date(2000)]),  # as many dates as numbers
        (["1999", "2000", "12"], [1999.0, 2000.0, 12.0]),
        (["June 1999", "Goals: 3 in 5"], [None, None]),
        (["3 – 1", "nine"], [3.0, 9.0]),
    ],
)
def test_column_values(cells, values):
    assert column_values(cells) == values


def test_dates_compare_by_common_parts():
    values = [Date(2010, 5, 5), Date(2007, 8), None, Date(2010, 5)]
    assert column_ranks(values) == ([2, 1, 0, 2], [1, 2, 0, 1])
    assert relations([Date(2009)], values) == [numbers.LT, numbers.GT, 0, numbers.LT]
    assert relations([Date(None, 8)], values) == [numbers.GT, numbers.EQ, 0, numbers.GT]
    assert relations([2009.0, Date(None, None, 5)], values) == [0, 0, 0, 0]


@given(columns)
def test_ranks_are_dense_and_inverse_to_each_other(values):
    ranks, inverse_ranks = column_ranks(values)
    present = {rank for rank in ranks if rank}
    assert present == set(range(1, len(present) + 1))
    for value, rank, inverse in zip(values, ranks, inverse_ranks, strict=True):
        if rank:
            assert rank + inverse == len(present) + 1
        else:
            assert inverse == 0
            assert value is None or isinstance(value, Date)
    # For numbers the order of the ranks is that of the values.
    ranked = [(v, r) for v, r in zip(values, ranks, strict=True) if isinstance(v, float)]
    for (a, rank_a), (b, rank_b) in itertools.combinations(ranked, 2):
        assert (a < b, a == b) == (rank_a < rank_b, rank_a == rank_b)


@given(st.lists(floats, max_size=3), st.lists(st.none() | floats, max_size=8))
def test_relations_match_comparisons(asked, values):
    for value, bits in zip(values, relations(asked, values), strict=True):
        compared = [] if value is None else asked
        assert bool(bits & numbers.EQ) == any(a == value for a in compared)
        assert bool(bits & numbers.LT) == any(a < value for a in compared)
        assert bool(bits & numbers.GT) == any(a > value for a in compared)


@given(columns)
def test_relation_to_a_cells_own_value_is_equality(values):
    """And to the other cells, it says what the ranks say."""
    ranks, _ = column_ranks(values)
    for index, rank in enumerate(ranks):
        if rank:
            bits = relations([values[index]], values)
            expected = [
                r and (numbers.EQ if rank == r else numbers.LT if rank < r else numbers.GT)
                for r in ranks
            ]
            assert bits == expected


@given(st.text() | st.text("0123456789.,-+ may½²٣_e/", max_size=30))
def test_spans_of_any_text_are_disjoint_by_containment(text):
    spans = numeric_spans(text)
    for span, following in itertools.pairwise(spans):
        assert span.begin < following.begin
        assert span.end < following.end
    for span in spans:
        assert text[span.begin : span.end].strip()
        assert span.values
        assert not any(isinstance(v, float) and math.isnan(v) for v in span.values)


def test_ranks_and_relations_of_all_real_columns(sqa_dir):
    """All 82,445 cells of the 982 SQA tables."""
    tables = [
        Table.from_csv(path, delimiter=",")
        for path in sorted((sqa_dir / "table_csv").glob("*.csv"))
    ]
    assert len(tables) == 982
    cells = 0
    for table in tables:
        for index in range(table.num_columns):
            values = column_values(table.column(index))
            ranks, inverse = column_ranks(values)
            assert set(ranks) - {0} == set(range(1, max(ranks, default=0) + 1))
            assert len(relations([1999.0, Date(1999)], values)) == len(ranks) == len(inverse)
            cells += len(values)
    assert cells == 82_445
