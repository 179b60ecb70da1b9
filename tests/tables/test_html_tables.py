"""Tables of HTML pages with the texts around them."""

import pytest

from mate_tf.errors import InputError
from mate_tf.tables import html_tables
from mate_tf.tables.limits import Limits

PAGE = """<!DOCTYPE html><html><head><title>Award - Wikipedia</title>
<style>p {color: red}</style></head><body><h1>Award</h1>
<p>The <b>Award</b> is given<sup class="reference">[1]</sup> for films &amp; plays.
<h2>Winners<span class="mw-editsection">[edit]</span></h2><p>Since 2010.</p><p>Yearly.</p>
<table class="wikitable"><caption>Best <i>films</i></caption>
<tr><th>Year<th>Film<th colspan=2>Writers</tr>
<tr><td rowspan="2">2013<br>(1st)</td><td>A<span style="display: none">hidden</span></td>
<td><p>x</p><p>y</p></td><td>z</td></tr>
<tr><td>B<table><tr><td>inner</td></tr></table></td><td>u</td></tr>
</table>
<h3>Others</h3><table><tr><td>only one row</td><td>1</td></tr></table>
<table><tr><td>a</td><td>b</td></tr><tr><td>1</td><td>2</td></tr></table>
</body></html>"""


@pytest.fixture
def read(tmp_path):
    """read(text): the page of a file with this text."""

    def found(text):
        path = tmp_path / "page.html"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return html_tables.read_page(path, "page")

    return found


def test_a_page(read):
    page = read(PAGE)
    first, second = page.tables
    table = first.table
    assert table.columns == ("Year", "Film", "Writers", "Writers")
    assert table.rows == (("2013 (1st)", "A", "x y", "z"), ("2013 (1st)", "B", "u", ""))
    assert (table.title, table.heading, table.caption) == ("Award", "Winners", "Best films")
    assert table.table_id == "page_1"
    assert first.texts == ("The Award is given for films & plays.", "Since 2010. Yearly.")
    assert (second.table.heading, second.table.caption) == ("Others", "")
    assert second.texts == ("The Award is given for films & plays.",)
    assert page.num_left_out == 1


def test_spans_across_rows_and_columns(read):
    (found,) = read(
        "<table><tr><td rowspan=3>a<td>b<td rowspan=0>c<tr><td colspan=2>d<tr><td>e</table>"
    ).tables
    assert found.table.columns == ("a", "b", "c")
    assert found.table.rows == (("a", "d", "d"), ("a", "e", "c"))


@pytest.mark.parametrize("span", ["0", " 0", "00", "+0", "0.5", "5", "5 rows"])
def test_a_cell_spans_no_rows_of_another_group(read, span):
    head = f"<thead><tr><th rowspan='{span}'>G<th>N</thead>"
    rows = f"<tr><td rowspan='{span}'>x<td>1<tr><td>2"
    for body in (f"<tbody>{rows}<tbody><tr><td>y<td>3", f"<tbody>{rows}</tbody><tr><td>y<td>3"):
        (found,) = read(f"<table>{head}{body}<tfoot><tr><td>z<td>4</table>").tables
        assert found.table.columns == ("G", "N")
        assert found.table.rows == (("x", "1"), ("x", "2"), ("y", "3"), ("z", "4"))


def test_the_title_of_the_document_without_a_first_heading(read):
    (found,) = read("<title>T</title><table><td>a<td>b<tr><td>1<td>2</table>").tables
    assert found.table.title == "T"
    assert found.table.rows == (("1", "2"),)


def test_tables_beyond_the_limits_are_left_out(read, monkeypatch):
    wide = "<table><tr>" + "<td colspan=1000>a" * 3 + "<tr><td>1<td>2</table>"
    assert read(wide) == ([], 1)
    monkeypatch.setattr(html_tables, "LIMITS", Limits(max_table_cells=6))
    rows = "<tr><td>1<td>2" * 4
    assert read(f"<table>{rows}</table>") == ([], 1)
    assert len(read(f"<table>{rows[: len(rows) // 4 * 3]}</table>").tables) == 1


@pytest.mark.parametrize(
    "text", ["no tags", "<table>", "<table><tr><td>", "</td></tr></table>", "<"]
)
def test_pages_without_a_table(read, text):
    assert read(text).tables == []


def test_bytes_that_are_no_text(read):
    with pytest.raises(InputError, match=r"page\.html: not valid UTF-8: byte 7"):
        read(b"<table>\xff</table>")


def test_rows_of_names_are_joined(read):
    names = "<tr><th rowspan=2>Name<th colspan=2>2020</tr><tr><th>Sales<th>Costs</tr>"
    (found,) = read(f"<table>{names}<tr><th>ann<td>1<td>2</tr></table>").tables
    assert found.table.columns == ("Name", "2020 Sales", "2020 Costs")
    assert found.table.rows == (("ann", "1", "2"),)
    section = "<tr><th colspan=3>North</tr>"  # names the rows below it
    (found,) = read(f"<table>{names}{section}<tr><td>ann<td>1<td>2</tr></table>").tables
    assert (found.table.columns[1], found.table.num_rows) == ("2020 Sales", 2)
    (found,) = read("<table><tr><th>a<th>b</tr><tr><th>1<th>2</tr></table>").tables
    assert (found.table.columns, found.table.rows) == (("a", "b"), (("1", "2"),))
