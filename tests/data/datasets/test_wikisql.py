"""Files in the format of the official WikiSQL release; queries executed as by a database."""

import dataclasses
import json
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.answers.gold import AnswerError
from mate_tf.data import interactions
from mate_tf.data.datasets import wikisql
from mate_tf.data.datasets.wikisql import Condition, Query, TypedTable
from mate_tf.errors import InputError
from mate_tf.tables.table import Table

from .conftest import plain

TABLE = {
    "id": "1-1000-1",
    "header": ["Player", "Team", "Points", "No."],
    "types": ["text", "text", "real", "text"],
    "rows": [
        ["Ann Lee", "Oak/Bay", 12, "7"],
        ["Bob", "Elm", 3.5, "10"],
        ["Cyd", "oak / bay", "1,200", "7"],
        ["Dee", "Elm", 3.5, "n/a"],
    ],
    "page_title": "Cup",
    "section_title": "Final",
    "caption": "Players",
    "name": "table_1000_1",
}
EQUALS, GREATER, LESS = range(3)
SELECT, MAX, MIN, COUNT, SUM, AVG = range(6)


def line(agg, sel, *conds, **others):
    sql = {"sel": sel, "agg": agg, "conds": [list(condition) for condition in conds]}
    return {"phase": 1, "question": "Who?", "table_id": "1-1000-1", "sql": sql, **others}


@pytest.fixture
def release(tmp_path):
    """Writes the questions and tables of a split, returns the directory."""

    def write(*lines, split="dev", tables=(TABLE,), folder=tmp_path):
        folder.mkdir(exist_ok=True)
        for name, contents in ((split, lines), (f"{split}.tables", tables)):
            text = "".join(json.dumps(content) + "\n" for content in contents)
            (folder / f"{name}.jsonl").write_text(text)
        return tmp_path

    return write


def answers(folder, split="dev", **options):
    return [
        plain(interaction.questions[0]) for interaction in wikisql.read(folder, split, **options)
    ]


def test_supervised(release):
    elm, oak = (1, EQUALS, "ELM"), (1, EQUALS, "OAK/bay")
    path = release(
        line(SELECT, 0, (2, EQUALS, 12)),
        line(SELECT, 0, elm),
        line(SELECT, 2, (0, EQUALS, "Cyd")),
        line(SELECT, 0, oak, (2, GREATER, "more than 100")),
        line(SELECT, 0, (2, GREATER, 3), (2, LESS, 12)),
        line(MAX, 2),
        line(MIN, 2),
        line(MAX, 0, elm),
        line(COUNT, 0, oak),
        line(SUM, 2, oak),
        line(AVG, 2, elm),
        line(SUM, 3, oak),
        line(COUNT, 0, (1, EQUALS, "Ash")),
    )
    assert answers(path, supervised=True) == [
        {"cells": [(0, 0)], "texts": ["Ann Lee"], "aggregation": 0},
        {"cells": [(1, 0), (3, 0)], "texts": ["Bob", "Dee"], "aggregation": 0},
        {"cells": [(2, 2)], "texts": ["1,200"], "aggregation": 0, "number": 1200},
        {"cells": [(2, 0)], "texts": ["Cyd"], "aggregation": 0},
        {"cells": [(1, 0), (3, 0)], "texts": ["Bob", "Dee"], "aggregation": 0},
        {"cells": [(2, 2)], "texts": ["1,200"], "aggregation": 0, "number": 1200},
        {"cells": [(1, 2), (3, 2)], "texts": ["3.5"], "aggregation": 0},
        {"cells": [(3, 0)], "texts": ["Dee"], "aggregation": 0},
        {"cells": [(0, 0), (2, 0)], "texts": ["2"], "aggregation": 3, "number": 2},
        {"cells": [(0, 2), (2, 2)], "texts": ["1212"], "aggregation": 1, "number": 1212},
        {"cells": [(1, 2), (3, 2)], "texts": ["3.5"], "aggregation": 2, "number": 3.5},
        {"cells": [(0, 3), (2, 3)], "texts": ["14"], "aggregation": 1, "number": 14},
        {"cells": [], "texts": ["0"], "aggregation": 3, "number": 0},
    ]


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_weakly_supervised(release, split):
    """Cells are looked for; which of several is meant, nobody knows."""
    elm = (1, EQUALS, "elm")
    path = release(
        line(SELECT, 0, (2, EQUALS, 12)),
        line(SELECT, 0, elm),
        line(SELECT, 3, (0, EQUALS, "Ann Lee")),
        line(SUM, 2, elm),
        line(COUNT, 0, elm),
        line(MIN, 2),
        split=split,
    )
    if split == "train":
        seven, smallest = [{"cells": [], "problem": "in several cells"}] * 2
    else:
        seven = {"cells": [(0, 3)], "number": 7}
        smallest = {"cells": [(1, 2)], "number": 3.5}
    assert answers(path, split) == [
        {"cells": [(0, 0)], "texts": ["Ann Lee"]},
        {"cells": [(1, 0), (3, 0)], "texts": ["Bob", "Dee"]},
        {"texts": ["7"], **seven},
        {"texts": ["7"], **seven},
        {"cells": [], "texts": ["2"], "number": 2},
        {"texts": ["3.5"], **smallest},
    ]


@pytest.mark.parametrize("supervised", [True, False])
def test_queries_without_an_answer(release, supervised):
    path = release(
        line(SELECT, 0, (1, EQUALS, "Ash")),
        line(SUM, 2, (1, EQUALS, "Ash")),
        line(MAX, 0, (2, GREATER, 1e9)),
        line(SELECT, 0, (2, EQUALS, "many")),
        line(SUM, 3),
        line(AVG, 0),
        line(SELECT, 2, (0, EQUALS, "Bob")),
    )
    *invalid, last = answers(path, supervised=supervised)
    assert [answer["problem"] for answer in invalid] == [
        wikisql.NO_ROWS,
        wikisql.NO_ROWS,
        wikisql.NO_ROWS,
        wikisql.NOT_A_NUMBER,
        wikisql.NO_NUMBERS,
        wikisql.NO_NUMBERS,
    ]
    assert "problem" not in last


def test_cells_that_are_no_numbers_in_a_column_of_numbers():
    rows = [["5"], ["n/a"], [""], ["nan"], ["7"]]
    table = TypedTable(Table.from_rows(["A"], rows), ("real",))
    greatest = wikisql.execute(Query(0, "MAX"), table)
    assert (greatest.coordinates, greatest.texts, greatest.value) == (((4, 0),), ("7",), 7)
    above = wikisql.execute(Query(0, "", (Condition(0, ">", "0"),)), table)
    assert above.coordinates == ((0, 0), (4, 0))
    with pytest.raises(AnswerError, match=wikisql.NO_NUMBERS):
        wikisql.execute(Query(0, "SUM"), table)
    none = TypedTable(Table.from_rows(["A"], rows[1:4]), ("real",))
    with pytest.raises(AnswerError, match=wikisql.NO_NUMBERS):
        wikisql.execute(Query(0, "MIN"), none)


@pytest.mark.parametrize("text", ["infinity", "1e999", "-inf"])
def test_infinity_is_no_number_to_learn(release, text):
    table = TABLE | {"rows": [["Ann", "Elm", 1, text]]}
    path = release(line(SELECT, 3), tables=[table])
    assert answers(path) == [{"cells": [(0, 3)], "texts": [text]}]


def test_ids_and_tables(release):
    other = TABLE | {"id": "2-5-1"}
    lines = [line(SELECT, 0), line(SELECT, 0, table_id="2-5-1"), line(SELECT, 0, (2, EQUALS, 12))]
    path = release(*lines, tables=[TABLE, other])
    found = list(wikisql.read(path, "dev"))
    assert [i.id for i in found] == ["dev-0-0", "dev-2-0", "dev-1-0"]
    assert [i.questions[0].id for i in found] == ["dev-0-0_0", "dev-2-0_0", "dev-1-0_0"]
    table = interactions.table_of(found[0])
    assert found[2].table.table_id == "2-5-1"
    assert table.rows[2] == ("Cyd", "oak / bay", "1,200", "7")
    about = (table.table_id, table.title, table.heading, table.caption)
    assert about == ("1-1000-1", "Cup", "Final", "Players")
    assert found[0].table.rows[1].cells[2].numeric_value.float_value == 3.5


def test_files_as_they_were_unpacked(release, tmp_path):
    release(line(SELECT, 0), folder=tmp_path / "data")
    assert len(list(wikisql.read(tmp_path, "dev"))) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (line(SELECT, 4), "sql: sel: expected a number from 0 to 3, not 4"),
        (line(SELECT, -1), "sql: sel: expected a number from 0 to 3, not -1"),
        (line(6, 0), "sql: agg: expected a number from 0 to 5, not 6"),
        (line(SELECT, 0, (9, 0, "x")), "sql: conds: column: expected a number from 0 to 3, not 9"),
        (line(SELECT, 0, (0, 3, "x")), "sql: conds: operator: expected a number from 0 to 2"),
        (line(SELECT, 0, (0, 0)), r"sql: conds: expected \[column, operator, value\]"),
        (line(SELECT, 0, (0, 0, None)), "sql: conds: value: expected text or a number"),
        (line(SELECT, 0, table_id="x"), "table_id: no table 'x'"),
        (line(SELECT, 0, table_id=None), "table_id: expected text"),
        (line(SELECT, 0, question=[]), "question: expected text"),
        (line(SELECT, 0, sql=[]), "sql: expected an object"),
        (line(SELECT, 0, sql={"sel": 0, "agg": 0}), "sql: conds: expected a list"),
    ],
)
def test_malformed_questions_are_named(release, content, message):
    path = release(line(SELECT, 0), content)
    with pytest.raises(InputError, match=rf"dev\.jsonl line 2: {message}"):
        list(wikisql.read(path, "dev"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": 5}, "id: expected text"),
        ({"id": "1-1000-1"}, "id: table '1-1000-1' is a duplicate"),
        ({"header": None}, "header: expected a list"),
        ({"types": ["text"]}, "types: not one of text and real for each column"),
        ({"types": ["text", "text", "int", "text"]}, "types: not one of text and real"),
        ({"rows": [["a"]]}, "x: row 1 has 1 cells, but the header has 4"),
        ({"rows": ["abcd"]}, "rows: expected a list of rows"),
        ({"header": [], "types": [], "rows": []}, "x: no columns"),
    ],
)
def test_malformed_tables_are_named(release, changes, message):
    path = release(line(SELECT, 0), tables=[TABLE, TABLE | {"id": "x"} | changes])
    with pytest.raises(InputError, match=rf"dev\.tables\.jsonl line 2: {message}"):
        list(wikisql.read(path, "dev"))


def test_missing_files(release):
    path = release(line(SELECT, 0))
    with pytest.raises(InputError, match=r"train\.tables\.jsonl: cannot be read: No such file"):
        list(wikisql.read(path, "train"))
    with pytest.raises(InputError, match=r"no split 'val', only train, dev, test"):
        list(wikisql.read(path, "val"))


def of_database(query, table):
    """What SQLite gives for a query, texts being in lower case as in the official databases."""
    database = sqlite3.connect(":memory:")
    columns = ", ".join(f"col{index} {kind}" for index, kind in enumerate(table.types))
    database.execute(f"CREATE TABLE t ({columns})")
    marks = ", ".join("?" * len(table.types))
    lower = [[text.lower() for text in row] for row in table.table.rows]
    database.executemany(f"INSERT INTO t VALUES ({marks})", lower)
    where = " AND ".join(f"col{c.column} {c.operator} ?" for c in query.conditions)
    values = [
        float(c.value) if table.types[c.column] == "real" else c.value.lower()
        for c in query.conditions
    ]
    statement = f"SELECT {query.aggregation}(col{query.column}) FROM t"
    found = database.execute(f"{statement} WHERE {where}" if where else statement, values)
    return [value for (value,) in found]


@st.composite
def tables_and_queries(draw):
    types = draw(st.lists(st.sampled_from(["real", "text"]), min_size=1, max_size=3))
    cells = {
        "real": st.integers(-8, 8).map(lambda half: str(half / 2)),
        "text": st.text("abAB12-", max_size=3),
    }
    row = st.tuples(*(cells[kind] for kind in types))
    rows = draw(st.lists(row, min_size=1, max_size=6))
    table = TypedTable(Table.from_rows(["x"] * len(types), rows), tuple(types))
    columns = st.integers(0, len(types) - 1)
    conditions = []
    for column in draw(st.lists(columns, max_size=2)):
        there = st.sampled_from([row[column] for row in rows])
        value = draw(there.map(str.swapcase) | cells[types[column]])
        conditions.append(Condition(column, draw(st.sampled_from(wikisql.OPERATORS)), value))
    aggregation = draw(st.sampled_from(wikisql.AGGREGATIONS))
    return table, Query(draw(columns), aggregation, tuple(conditions))


def outcome(query, table):
    """The result of a query, or why it has none."""
    try:
        return wikisql.execute(query, table)
    except AnswerError as error:
        return error.reason


@given(tables_and_queries())
def test_executes_as_a_database(drawn):
    table, query = drawn
    expected, result = of_database(query, table), outcome(query, table)
    selected = of_database(dataclasses.replace(query, aggregation=""), table)
    kind = table.types[query.column]
    if result == wikisql.NO_ROWS:
        assert not selected
        assert query.aggregation != "COUNT"
    elif result == wikisql.NO_NUMBERS:
        assert query.aggregation in ("SUM", "AVG")
        assert any(not str(value).lstrip("-").isdigit() for value in selected)
        assert kind == "text"
    elif query.aggregation in ("COUNT", "SUM", "AVG"):
        assert [result.value] == pytest.approx(expected)
        assert float(*result.texts) == result.value
        assert values(result.coordinates, table) == selected
    elif query.aggregation:
        assert values(result.coordinates, table) == [v for v in selected if [v] == expected]
        assert result.texts == (table.table.cell(*result.coordinates[0]).text,)
    else:
        assert values(result.coordinates, table) == selected
        assert result.texts == tuple(table.table.cell(*at).text for at in result.coordinates)


def values(coordinates, table):
    """Cells as the database has them."""
    texts = [(table.types[column], table.table.rows[row][column]) for row, column in coordinates]
    return [float(text) if kind == "real" else text.lower() for kind, text in texts]


@given(tables_and_queries(), st.sampled_from(["train", "dev"]))
def test_every_query_gives_an_interaction(tmp_path_factory, drawn, split):
    """Cells of the answer hold its texts; where nothing is computed, they are all of it."""
    table, query = drawn
    folder = tmp_path_factory.mktemp("release")
    fields = {
        "id": "t",
        "header": table.table.columns,
        "types": table.types,
        "rows": [
            [
                float(cell) if kind == "real" else cell
                for cell, kind in zip(row, table.types, strict=True)
            ]
            for row in table.table.rows
        ],
    }
    (folder / f"{split}.tables.jsonl").write_text(json.dumps(fields))
    conditions = [
        [c.column, wikisql.OPERATORS.index(c.operator), c.value] for c in query.conditions
    ]
    content = line(
        wikisql.AGGREGATIONS.index(query.aggregation), query.column, *conditions, table_id="t"
    )
    (folder / f"{split}.jsonl").write_text(json.dumps(content))
    for supervised in (True, False):
        (found,) = answers(folder, split, supervised=supervised)
        if "problem" in found:
            assert found["problem"]
            assert not found["cells"]
            continue
        texts = [table.table.rows[row][column].lower() for row, column in found["cells"]]
        assert found["texts"]
        if not supervised:
            assert texts in ([], [text.lower() for text in found["texts"]])
        elif found["aggregation"] == 0:
            assert set(texts) == {text.lower() for text in found["texts"]}
