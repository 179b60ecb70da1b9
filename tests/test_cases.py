"""Tables, questions and folders as people have them, from `cases` of the shared folder.

Each case has files and `expected.txt`, which says what is right.
"""

import os

import pytest

from mate_tf.answers.computed import compute
from mate_tf.errors import InputError
from mate_tf.evaluation.unanswerable import table_words
from mate_tf.serving import names
from mate_tf.tables import columns
from mate_tf.tables.any_table import as_table, read_table


@pytest.fixture(scope="module")
def cases(shared):
    return shared / "cases"


def content(path):
    table = read_table(path)
    return [list(table.columns), *map(list, table.rows)]


STAFF = [["Name", "City", "Age"], ["Ada", "Bern", "31"], ["Tom", "Chur", "40"]]
TOWNS = [["Town", "Founded"], ["Bern", "1191"], ["Chur", "15"]]
PARTS = [["Part", "Colour", "Stock"], ["bolt", "grey", "12"], ["nut", "brass", "7"]]
HEIGHTS = [["Ort", "Höhe"], ["Zürich", "408"]]


FILES = [
    ("01-sep-line/two.csv", TOWNS),
    ("01-sep-line/upper.csv", TOWNS[:2]),
    ("01-sep-line/comma.csv", TOWNS[:2]),
    (
        "01-sep-line/three.csv",
        [["Town", "Founded", "Canton"], ["Bern", "1191", "BE"], ["Chur", "15", "GR"]],
    ),
    ("02-pipe-delimiter/parts.csv", PARTS),
    ("02-pipe-delimiter/parts.txt", PARTS),
    ("02-pipe-delimiter/markdown.txt", [row[:2] for row in PARTS]),
    ("02-pipe-delimiter/caret.csv", [row[:2] for row in PARTS]),
    ("04-space-before-quote/ragged.csv", [["name", "place"], ["Ada", "Bern, BE"], ["Tom", "Chur"]]),
    ("04-space-before-quote/simple.csv", [["name", "place"], ["Ada", "Bern"], ["Tom", "Chur"]]),
    (
        "05-quotes-inside-cells/shows.tsv",
        [
            ["Id", "Title", "Kind"],
            ["1", '"Big Show" Tour (1998)', "musical"],
            ["2", "Plain", "play"],
        ],
    ),
    (
        "05-quotes-inside-cells/inch_start.tsv",
        [["Size", "Pipe"], ['"3 inch', "A"], ['4 inch"', "B"], ["5", "C"]],
    ),
    ("05-quotes-inside-cells/inch_end.csv", [["Pipe", "Size"], ["A", '3"'], ["B", '4"']]),
    ("07-lines-above-the-header/padded.csv", STAFF),
    ("07-lines-above-the-header/unpadded.csv", STAFF),
    ("07-lines-above-the-header/comment.csv", STAFF[:2]),
    ("08-other-encodings/cp1252.csv", HEIGHTS),
    ("08-other-encodings/bom.csv", HEIGHTS),
    ("08-other-encodings/mac.csv", [*HEIGHTS, ["Bern", "540"]]),
    ("08-other-encodings/utf16.txt", HEIGHTS),
    ("08-other-encodings/utf16_no_mark.csv", HEIGHTS),
    ("25-json-lines/one.jsonl", [["text"], ["a"], ["b"]]),
    ("25-json-lines/people.json", [["name", "age"], ["Ada", "31"], ["Tom", "40"]]),
    ("25-json-lines/people.ndjson", [["name", "age"], ["Ada", "31"], ["Tom", "40"]]),
    ("40-html-spans/zero.html", [["G", "N"], ["x", "1"], ["x", "2"]]),
    ("40-html-spans/unclosed.html", [["A", "B"], ["1", "2"], ["3", "4"]]),
]
"""File of `cases` -> its header and rows."""


@pytest.mark.parametrize(("name", "expected"), FILES)
def test_files(cases, name, expected):
    assert content(cases / name) == expected


def test_lines_above_the_header_are_said(cases):
    table = read_table(cases / "07-lines-above-the-header/padded.csv")
    assert table.title == "Staff report 2020"
    assert "header is in line 3" in table.remarks[0]
    assert "cp1252" in read_table(cases / "08-other-encodings/cp1252.csv").remarks[0]


def test_workbooks(cases):
    merged = read_table(cases / "17-xlsx-merged-cells/sales.xlsx")
    assert merged.column(0)[:3] == ("North", "North", "North")
    formulas = read_table(cases / "19-xlsx-formulas-without-values/orders.xlsx")
    assert "2 formulas have no stored value" in formulas.remarks[0]
    formats = read_table(cases / "20-xlsx-number-formats/formats.xlsx")
    assert formats.column(0) == ("0000123", "0000045")
    assert formats.column(1) == ("45%", "30%")
    assert formats.column(5) == ("26:00:00", "0:03:00")


def test_html_does_not_shift_cells(cases):
    for name in ("past_end", "two_headers", "tfoot_first", "br"):
        assert content(cases / "40-html-spans" / f"{name}.html")


def computed(operation, *texts):
    (column,) = columns.read(["x"], [texts])
    return compute(operation, [(row, 0, text) for row, text in enumerate(texts)], [column], ["x"])


@pytest.mark.parametrize(
    ("operation", "texts", "value"),
    [
        ("SUM", ["1.749,90", "3.120,25", "20,00"], 4890.15),
        ("SUM", ["−100", "50"], -50),
        ("AVERAGE", ["−100", "50"], -25),
        ("AVERAGE", ["4478m", "4,634 m", "4 545m"], 4552.3333),
        ("SUM", ["1 234 567", "341 000"], 1_575_567),
        ("SUM", ["1\u202f234\u202f567", "341\u202f000"], 1_575_567),
        ("SUM", ["250K", "3M"], 3_250_000),
        ("SUM", ["$2.4 million", "$700 thousand"], 3_100_000),
        ("SUM", ["5 km", "300 m"], 5300),
        ("SUM", ["$900", "-$1,340"], -440),
        ("SUM", ["$1.2 million", "$300,000", "$500"], 1_500_500),
    ],
)
def test_operations(operation, texts, value):
    found = computed(operation, *texts)
    assert found.value == pytest.approx(value, rel=1e-6)
    assert found.notes == ()


@pytest.mark.parametrize(
    ("texts", "ranks"),
    [
        (["30/06/2014", "02/07/2014", "14/02/2015"], [1, 2, 3]),
        (["30/06/2019", "02/07/2019", "14/02/2020"], [1, 2, 3]),
        (["February 14, 2020", "June 30, 2019"], [2, 1]),
        (["2021-03-01", "2017-05-02", "2026-01-01"], [2, 1, 3]),
        (["−5", "7", "1", "−20"], [2, 4, 3, 1]),
        (["900K", "2M", "1.5M"], [1, 3, 2]),
        (["1.749,90", "3.120,25", "20,00"], [2, 3, 1]),
    ],
)
def test_orders(texts, ranks):
    (column,) = columns.read(["x"], [texts])
    assert columns.ranks(column)[0] == ranks


def test_frames():
    np, pd = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": np.array([18.3, 0.7], np.float32)})
    assert as_table(frame).rows == (("18.3",), ("0.7",))
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    assert as_table(pl.DataFrame({"x": [1, None]})).rows == (("1",), ("",))
    assert as_table(pa.table({"x": [1, 2]})).rows == (("1",), ("2",))


def test_a_name_that_is_not_in_the_table():
    table = as_table([["Item", "Cost"], ["paper", "100"], ["ink", "60"], ["stamps", "250"]])
    words = table_words(table)
    assert names.unknown("total cost of rent", words) == ["rent"]
    assert names.unknown("how much was spent on rent?", words) == ["rent"]
    assert names.unknown("how much was spent on ink?", words) == []


@pytest.mark.parametrize("name", ["run [v1] a", "lr=[1e-4]", "r*", "what?"])
def test_patterns_in_names_of_folders_are_refused_before_anything_is_written(tmp_path, name):
    from mate_tf.cli import checks, main

    for flag in ("output_dir", "model_dir", "export_dir"):
        given = main.parse(["mate-tf", "--task=SYNTHETIC", f"--{flag}={tmp_path / name}"])
        with pytest.raises(InputError, match=rf"--{flag}=.*choose another name"):
            checks.check(given)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["run [v1] a", "r*", "what?"])
def test_patterns_in_names_of_checkpoints_are_refused(tmp_path, name):
    from mate_tf.cli import checks

    (tmp_path / name).mkdir()
    checks.check_initial(str(tmp_path / name), "--init_checkpoint=")
    (tmp_path / name / "model.ckpt.index").touch()
    for path in (tmp_path / name, tmp_path / name / "model.ckpt"):
        with pytest.raises(InputError, match=r"--init_checkpoint=.*choose another name"):
            checks.check_initial(str(path), "--init_checkpoint=")
