"""The user's own data: what is read, what has to be predicted, and what may be wrong with it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.data import interactions
from mate_tf.data.datasets import custom
from mate_tf.errors import InputError
from mate_tf.tables.limits import Limits
from mate_tf.tables.table import Table

from .conftest import plain

CITIES = "City,Country,Population\nBern,Switzerland,134794\nRome,Italy,2761632\nBari,Italy,316736\n"
CELLS = {"table": "tables/cities.csv", "question": "Where is Bern?", "cells": [[0, 1]]}
TEXT = {"table": "tables/cities.csv", "question": "Where is Bern?", "text": "Switzerland"}
NUMBER = {"table": "tables/cities.csv", "question": "How many live in Italy?", "number": 3078368}
CLASS = {"table": "tables/cities.csv", "question": "Bern is large.", "class": "refuted"}
OTHER = {"table": "other.json", "question": "Who won?", "cells": [[1, 0]]}


@pytest.fixture
def folder(tmp_path):
    """Writes question files beside two tables, returns the directory."""

    def write(train=(CELLS, OTHER), **others):
        (tmp_path / "tables").mkdir(exist_ok=True)
        (tmp_path / "tables" / "cities.csv").write_text(CITIES)
        (tmp_path / "other.json").write_text(
            '{"title": "Cup", "columns": ["Name", "Points"], "rows": [["Ann", 3], ["Bob", 4.50]]}'
        )
        (tmp_path / "same.tsv").write_text("A\tA\nx\tx\ny\t2\n")
        for split, lines in {"train": train, **others}.items():
            content = "".join(json.dumps(line) + "\n" for line in lines)
            (tmp_path / f"{split}.jsonl").write_text(content)
        return tmp_path

    return write


def questions(folder, split="train", **options):
    return [
        question
        for interaction in custom.read(folder, split, **options)
        for question in interaction.questions
    ]


def answers(folder, split="train"):
    """What the answers of a split say, as plain data."""
    return [plain(question) for question in questions(folder, split)]


def test_cells(folder):
    by_name = CELLS | {"cells": [[1, "Population"], [2, "City"], [2, 0]]}
    path = folder([CELLS, by_name], dev=[OTHER])
    assert answers(path) == [
        {"cells": [(0, 1)], "texts": ["Switzerland"]},
        {"cells": [(1, 2), (2, 0)], "texts": ["2761632", "Bari"]},
    ]
    assert answers(path, "dev") == [{"cells": [(1, 0)], "texts": ["Bob"]}]
    summary = custom.describe(path)
    assert summary.kinds == {"cells"}
    assert not any((summary.classifies, summary.needs_aggregation, summary.sequential))
    assert summary.splits == {"train": custom.Size(2, 1), "dev": custom.Size(1, 1)}


def test_ids_tables_and_titles(folder):
    path = folder([CELLS | {"id": 7}, OTHER, OTHER | {"title": "Final"}], dev=[OTHER | {"id": "x"}])
    first, second, third = custom.read(path, "train")
    assert [first.id, second.id, third.id] == ["7-0", "train-2-0", "train-3-0"]
    assert [i.questions[0].id for i in (first, second)] == ["7-0_0", "train-2-0_0"]
    assert [i.table.table_id for i in (first, second)] == ["tables/cities.csv", "other.json"]
    assert [i.table.document_title for i in (second, third)] == ["Cup", "Final"]
    assert [cell.text for cell in second.table.rows[1].cells] == ["Bob", "4.50"]
    assert next(custom.read(path, "dev")).questions[0].id == "x-0_0"
    assert first.questions[0].text == "where is bern?"
    assert second.table.rows[0].cells[1].numeric_value.float_value == 3
    assert answers(folder([CELLS | {"_source": {"a": 1}, "title": None}], dev=[OTHER]))


def test_texts_and_numbers_are_found_in_the_table(folder):
    italy = TEXT | {"text": "Italy"}  # in two cells
    lines = [
        TEXT,
        TEXT | {"text": ["bari", "ROME"]},
        TEXT | {"text": "12"},
        NUMBER,
        NUMBER | {"number": 134794.0},
        italy,
        TEXT | {"text": "Paris"},
        TEXT | {"text": "Infinity"},
        NUMBER | {"aggregation": "NONE"},
    ]
    path = folder(lines, dev=[italy])
    assert answers(path) == [
        {"cells": [(0, 1)], "texts": ["Switzerland"]},
        {"cells": [(2, 0), (1, 0)], "texts": ["bari", "ROME"]},
        {"cells": [], "texts": ["12"], "number": 12},
        {"cells": [], "texts": ["3078368"], "number": 3078368},
        {"cells": [(0, 2)], "texts": ["134794"], "number": 134794},
        {"cells": [], "texts": ["Italy"], "problem": "in several cells"},
        {"cells": [], "texts": ["Paris"], "problem": "neither a cell nor a number"},
        {"cells": [], "texts": ["Infinity"], "problem": "neither a cell nor a number"},
        {
            "cells": [], "texts": ["3078368"], "aggregation": 0,
            "problem": "neither a cell nor a number",
        },
    ]  # fmt: skip
    assert answers(path, "dev") == [{"cells": [(1, 1)], "texts": ["Italy"]}]
    summary = custom.describe(path)
    assert summary.kinds == {"text", "number"}
    assert summary.weakly_supervised
    assert summary.needs_aggregation


def test_computed_from_cells_all_of_them_known(folder):
    italy = CELLS | {"cells": [[1, 2], [2, 2]]}
    path = folder(
        [
            italy | {"aggregation": "SUM"},
            italy | {"aggregation": "AVERAGE"},
            italy | {"aggregation": "COUNT"},
            CELLS | {"aggregation": "NONE"},
            CELLS,
            CELLS | {"aggregation": "SUM"},
        ],
        dev=[OTHER],
    )
    summary = custom.describe(path)
    assert summary.needs_aggregation
    assert not summary.weakly_supervised
    cells = [(1, 2), (2, 2)]
    assert answers(path) == [
        {"cells": cells, "texts": ["3078368"], "number": 3078368, "aggregation": 1},
        {"cells": cells, "texts": ["1539184"], "number": 1539184, "aggregation": 2},
        {"cells": cells, "texts": ["2"], "number": 2, "aggregation": 3},
        {"cells": [(0, 1)], "texts": ["Switzerland"], "aggregation": 0},
        {"cells": [(0, 1)], "texts": ["Switzerland"]},
        {
            "cells": [],
            "texts": [],
            "aggregation": 1,
            "problem": "SUM of cells that are not numbers",
        },
    ]
    path = folder([CELLS | {"cells": [[0, 1], [1, 1]], "aggregation": "SUM"}], dev=[OTHER])
    (path / "tables" / "cities.csv").write_text("Name,Length\nA,5 km\nB,1.1 km\n")
    assert answers(path)[0]["texts"] == ["6.1"]


def test_computed_from_cells_some_of_them_unknown(folder):
    """Beside answers that are numbers alone, cells mean that the answer stands in them."""
    italy = CELLS | {"cells": [[1, 2], [2, 2]]}
    lines = [italy | {"aggregation": "SUM"}, NUMBER, CELLS, NUMBER | {"number": 2761632}]
    lines += [lines[-1] | {"aggregation": "COUNT"}, TEXT | {"text": "134794", "aggregation": "SUM"}]
    assert answers(folder(lines, dev=[OTHER])) == [
        {"cells": [], "texts": ["3078368"], "number": 3078368, "aggregation": 1},
        {"cells": [], "texts": ["3078368"], "number": 3078368},
        {"cells": [(0, 1)], "texts": ["Switzerland"]},
        {"cells": [(1, 2)], "texts": ["2761632"], "number": 2761632},
        {"cells": [], "texts": ["2761632"], "number": 2761632, "aggregation": 3},
        {"cells": [], "texts": ["134794"], "number": 134794, "aggregation": 1},
    ]


def test_conversations(folder):
    talk = [CELLS | {"conversation": "c"}, TEXT | {"conversation": "c", "id": "ignored"}]
    path = folder([OTHER, *talk, OTHER | {"conversation": "d"}], dev=[CELLS | {"conversation": 1}])
    found = list(custom.read(path, "train"))
    assert [[q.id for q in i.questions] for i in found] == [
        ["train-1-0_0"],
        ["c-0_0", "c-0_1"],
        ["d-0_0"],
    ]
    assert [i.id for i in found] == ["train-1-0", "c-0", "d-0"]
    assert custom.describe(path).sequential
    path = folder([CELLS | {"conversation": "c"}, OTHER | {"conversation": "c"}], dev=[CELLS])
    with pytest.raises(InputError, match=r"line 2: table: differs from 'tables/cities.csv', the"):
        custom.describe(path)


@pytest.mark.parametrize(
    ("classes", "labels", "indices"),
    [
        (["refuted", "entailed", "entailed"], ("entailed", "refuted"), [1, 0, 0]),
        ([1, 0, 2], ("0", "1", "2"), [1, 0, 2]),
        ([True, False], ("0", "1"), [1, 0]),
    ],
)
def test_labels_of_the_training_file(folder, classes, labels, indices):
    lines = [CLASS | {"class": label} for label in classes]
    path = folder(lines, dev=[lines[indices.index(0)]])
    assert answers(path) == [{"cells": [], "texts": [], "class": index} for index in indices]
    assert answers(path, "dev") == [{"cells": [], "texts": [], "class": 0}]
    summary = custom.describe(path)
    assert summary.labels == labels
    assert str(summary) == (
        f"train: {len(classes)} questions about 1 table; dev: 1 question about 1 table;"
        f" answers: class; labels: {', '.join(labels)}"
    )
    assert summary.classifies
    assert not summary.needs_aggregation


def test_declared_labels(folder):
    path = folder([CLASS], dev=[CLASS], test=[CLASS | {"class": "unknown"}])
    (path / "labels.json").write_text('["refuted", "entailed", "unknown"]')
    assert custom.describe(path).labels == ("refuted", "entailed", "unknown")
    assert answers(path, "test")[0]["class"] == 2
    path = folder([CLASS, CLASS | {"class": "other"}], dev=[CLASS])
    (path / "labels.json").write_text('["refuted", "entailed"]')
    message = 'line 2: class: "other" is not one of the 2 labels refuted'
    with pytest.raises(InputError, match=message):
        custom.describe(path)
    (path / "test.jsonl").unlink()
    folder(dev=[OTHER])  # without classes
    assert custom.describe(path).labels == ()


def test_test_questions_may_lack_answers(folder):
    unanswered = {"table": "other.json", "question": "Who lost?", "cells": None}
    path = folder(test=[unanswered, CELLS])
    assert answers(path, "test") == [
        {"cells": [], "texts": []},
        {"cells": [(0, 1)], "texts": ["Switzerland"]},
    ]
    assert custom.describe(path).kinds == {"cells"}
    train = [CLASS, CLASS | {"class": "entailed"}]
    path = folder(train, dev=[CLASS], test=[unanswered, CLASS])
    assert answers(path, "test") == [
        {"cells": [], "texts": []},
        {"cells": [], "texts": [], "class": 1},
    ]


def test_a_tenth_of_the_tables_is_held_out(folder):
    path = folder()
    lines = []
    for index in range(30):
        (path / f"{index}.csv").write_text("A\nx\n")
        lines += [{"table": f"{index}.csv", "question": "?", "cells": [[0, 0]]}] * 2
    folder(lines)
    summary = custom.describe(path)
    assert summary.splits == {"train": custom.Size(54, 27), "dev": custom.Size(6, 3)}
    assert "dev: 6 questions about 3 tables held out from train" in str(summary)
    tables = {
        split: {i.table.table_id for i in custom.read(path, split)} for split in ("train", "dev")
    }
    assert tables["dev"] == summary.held_out
    assert not tables["train"] & tables["dev"]
    assert len(tables["train"]) == 27
    assert custom.describe(path) == summary
    assert custom.describe(path, seed=1).held_out != summary.held_out
    seeded = {i.table.table_id for i in custom.read(path, "dev", seed=1)}
    assert seeded == custom.describe(path, seed=1).held_out


def test_tables_are_read_as_for_questions(folder, monkeypatch):
    """Workbooks too, any other file as CSV, and no more of a file than the limits allow."""
    openpyxl = pytest.importorskip("openpyxl")
    path = folder()
    book = openpyxl.Workbook()
    for row in (("City", "People"), ("Bern", 134794), ("Rome", 2761632)):
        book.active.append(row)
    book.save(path / "cities.xlsx")
    (path / "cities.txt").write_text(CITIES)
    lines = [CELLS | {"table": "cities.xlsx", "cells": [[1, "People"]]}]
    lines += [CELLS | {"table": "cities.txt"}]
    folder(lines, dev=[OTHER])
    assert [answer["texts"] for answer in answers(path)] == [["2761632"], ["Switzerland"]]
    monkeypatch.setattr("mate_tf.tables.any_table.Limits", lambda: Limits(max_table_cells=4))
    with pytest.raises(InputError, match=r"line 1: cells: .*; all rows after row 1 not read"):
        answers(path)


def test_files_of_windows(folder):
    path = folder(dev=[CELLS])
    content = "\r\n\r\n".join(json.dumps(line) for line in (CELLS, OTHER)) + "\r\n"
    (path / "train.jsonl").write_bytes(b"\xef\xbb\xbf" + content.encode())
    table = CITIES.replace("\n", "\r\n").replace(",", ";")
    (path / "tables" / "cities.csv").write_bytes(b"\xef\xbb\xbf" + table.encode())
    assert [q.id for q in questions(path)] == ["train-1-0_0", "train-3-0_0"]
    assert answers(path)[0]["texts"] == ["Switzerland"]
    by_name = CELLS | {"cells": [[0, "City"]], "table": "./tables//cities.csv"}
    assert answers(folder([by_name], dev=[CELLS]))[0]["texts"] == ["Bern"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"table": "tables/cities.csv", "cells": [[0, 0]]}, "question: missing"),
        ({"question": "x", "cells": [[0, 0]]}, "table: missing"),
        (CELLS | {"question": "  "}, 'question: expected text, not "  "'),
        (CELLS | {"question": 3}, "question: expected text, not 3"),
        (CELLS | {"question": "\ud800"}, "question: not valid Unicode"),
        (CELLS | {"cell": [[0, 0]]}, "unknown key 'cell', not one of id, .*cells, text"),
        (CELLS | {"class": 1}, "cells and class: a question has only one of them"),
        (TEXT | {"number": 1}, "text and number: a question has only one"),
        (CELLS | {"cells": None}, "no answer; give one of cells, text, number, class"),
        (CELLS | {"cells": []}, r"cells: expected a list of \[row, column\], not \[\]"),
        (CELLS | {"cells": "0,0"}, "cells: expected a list"),
        (CELLS | {"cells": [0, 0]}, r"cells: 0 is not \[row, column\]"),
        (CELLS | {"cells": [[0, 0, 0]]}, r"cells: \[0, 0, 0\] is not \[row, column\]"),
        (CELLS | {"cells": [["Bern", "City"]]}, r"cells: \[\"Bern\", \"City\"\] is not"),
        (CELLS | {"cells": [[0.0, 1]]}, r"cells: \[0.0, 1\] is not"),
        (CELLS | {"cells": [[True, 1]]}, r"cells: \[true, 1\] is not"),
        (CELLS | {"cells": [[3, 0]]}, r"cells: \[3, 0\] is not in tables/cities.csv, .* 3 rows"),
        (CELLS | {"cells": [[-1, 0]]}, r"cells: \[-1, 0\] is not in tables/cities.csv"),
        (CELLS | {"cells": [[0, 3]]}, r"cells: \[0, 3\] is not in tables/cities.csv"),
        (CELLS | {"cells": [[0, "city"]]}, 'cells: no columns of .* named "city"; it has "City", '),
        (OTHER | {"table": "same.tsv", "cells": [[0, "A"]]}, "cells: 2 columns of same.tsv are"),
        (TEXT | {"text": []}, "text: expected one text or several"),
        (TEXT | {"text": ["Bern", ""]}, 'text: expected text, not ""'),
        (TEXT | {"text": 5}, "text: expected text, not 5"),
        (NUMBER | {"number": "5"}, 'number: expected a number, not "5"'),
        (NUMBER | {"number": True}, "number: expected a number, not true"),
        (NUMBER | {"number": 1e39}, "number: 1e[+]39 is too large"),
        (NUMBER | {"number": 10**400}, "number: 10+… is too large"),
        (CELLS | {"aggregation": "X"}, 'aggregation: "X" is not one of NONE, SUM, AVERAGE, COUNT'),
        (CELLS | {"aggregation": ["SUM"]}, r"aggregation: \[\"SUM\"\] is not one of"),
        (CELLS | {"table": "../cities.csv"}, 'table: "../cities.csv" is not in the folder'),
        (CELLS | {"table": "tables/../../x.csv"}, "table: .* is not in the folder"),
        (CELLS | {"table": "/etc/x.csv"}, "table: .* is not in the folder"),
        (CELLS | {"table": "tables/x.csv"}, "table: no file 'tables/x.csv'"),
        (CELLS | {"table": "tables/x\0.csv"}, "table: no file"),
        (CELLS | {"table": "tables"}, "table: no file 'tables'"),
        (CELLS | {"id": ""}, 'id: expected text, not ""'),
        (CELLS | {"id": "first"}, "id: 'first' is a duplicate"),
        (CELLS | {"conversation": "first"}, "conversation: 'first' is a duplicate"),
        (CELLS | {"conversation": "c"}, "conversation: 'c' is a duplicate .*follow one another"),
        (CLASS, r"class: .*train.jsonl line 1 has 'cells'; a data set either"),
    ],
)  # fmt: skip
def test_malformed_lines_are_named(folder, line, message):
    first = [CELLS | {"id": "first"}, OTHER | {"conversation": "c"}, OTHER]
    path = folder([*first, line], dev=[CELLS])
    with pytest.raises(InputError, match=f"train.jsonl line 4: {message}") as caught:
        list(custom.read(path, "train"))
    assert "\n" not in str(caught.value)
    str(caught.value).encode()


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (["a", "a"], 'train.jsonl: class: all are "a"'),
        (["a", "b", 1], 'train.jsonl line 3: class: 1 has another type than "a" in .* line 1'),
        ([0, 1, 3], "train.jsonl line 3: class: 3 occurs but 2 does not"),
        ([1, 2], "train.jsonl line 1: class: 1 occurs but 0 does not"),
        ([0, -1], "train.jsonl line 2: class: -1 is negative"),
        (["a", 0.5], "train.jsonl line 2: class: expected text, not 0.5"),
        (["a", "b", ["a"]], "train.jsonl line 3: class: expected text"),
    ],
)
def test_labels_nothing_can_be_learnt_from(folder, classes, message):
    path = folder([CLASS | {"class": label} for label in classes], dev=[CLASS])
    with pytest.raises(InputError, match=message):
        custom.describe(path)


def test_labels_that_are_in_no_training_file(folder):
    train = [CLASS, CLASS | {"class": "entailed"}]
    path = folder(train, dev=[CLASS], test=[CLASS, CLASS | {"class": "Refuted"}])
    message = 'test.jsonl line 2: class: "Refuted" is not one of the 2 labels entailed, refuted'
    with pytest.raises(InputError, match=message):
        custom.describe(path)
    path = folder(train, dev=[OTHER])
    with pytest.raises(InputError, match=r"dev.jsonl line 1: cells: .*train.jsonl line 1 has"):
        custom.describe(path)
    path = folder([CLASS | {"aggregation": "SUM"}], dev=[CLASS])
    with pytest.raises(InputError, match=r"train.jsonl line 1: aggregation: the answer has no"):
        custom.describe(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('["a"]', "labels.json: expected two names or more"),
        ('["a", "a"]', "labels.json: expected two names or more, all different"),
        ('["a", 1]', "labels.json: expected a list of names"),
        ('{"a": 0}', "labels.json: expected a list of names"),
        ('["a"', "labels.json: not valid JSON"),
        ("", "labels.json: the file is empty"),
    ],
)
def test_malformed_lists_of_labels(folder, content, message):
    path = folder([CLASS], dev=[CLASS])
    (path / "labels.json").write_text(content)
    with pytest.raises(InputError, match=message):
        custom.describe(path)


def test_files_that_are_missing_or_empty(folder):
    path = folder([CELLS])
    with pytest.raises(InputError, match=r"dev.jsonl: no such file, .* put some of the questions"):
        custom.describe(path)
    path = folder()
    with pytest.raises(InputError, match=r"test.jsonl: cannot be read: No such file"):
        list(custom.read(path, "test"))
    with pytest.raises(InputError, match=r"no split 'val', only train, dev, test"):
        list(custom.read(path, "val"))
    (path / "dev.jsonl").write_text("\n")
    with pytest.raises(InputError, match=r"dev.jsonl: no questions"):
        custom.describe(path)
    (path / "train.jsonl").unlink()
    with pytest.raises(InputError, match=r"train.jsonl: cannot be read: No such file"):
        custom.describe(path)


def test_broken_tables_are_named_with_the_line(folder):
    path = folder(dev=[CELLS])
    (path / "other.json").write_text('{"columns": ["A"], "rows": [["x", "y"]]}')
    message = r"train.jsonl line 2: table: .*other.json: row 1 has 2 cells"
    with pytest.raises(InputError, match=message):
        list(custom.read(path, "train"))


@given(st.data())
def test_any_cells_of_any_table_come_through(tmp_path_factory, data):
    """By number or by name, from tables of every kind of file."""
    folder = tmp_path_factory.mktemp("custom")
    text = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)
    header = data.draw(st.lists(text, min_size=1, max_size=4))
    row = st.lists(text, min_size=len(header), max_size=len(header))
    rows = data.draw(st.lists(row, min_size=1, max_size=5))
    cell = st.tuples(st.integers(0, len(rows) - 1), st.integers(0, len(header) - 1))
    chosen = data.draw(st.lists(cell, min_size=1, max_size=6))
    name = data.draw(st.sampled_from(["t.csv", "sub/T.CSV", "t.json"]))
    (folder / "sub").mkdir()
    if name.endswith("json"):
        (folder / name).write_text(json.dumps({"columns": header, "rows": rows}))
    else:
        Table.from_rows(header, rows).to_csv(folder / name)
    named = [
        [r, header[c] if header.count(header[c]) == 1 and data.draw(st.booleans()) else c]
        for r, c in chosen
    ]
    line = json.dumps({"table": name, "question": "which?", "cells": named})
    for split in ("train", "dev"):
        (folder / f"{split}.jsonl").write_text(line)
    (interaction,) = custom.read(folder, "train")
    assert interactions.table_of(interaction).rows == tuple(map(tuple, rows))
    found = plain(interaction.questions[0])
    assert found["cells"] == list(dict.fromkeys(chosen))
    assert found["texts"] == [rows[r][c] for r, c in dict.fromkeys(chosen)]
