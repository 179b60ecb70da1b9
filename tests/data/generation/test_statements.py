"""Statements about tables, and whether they are true."""

import random
import re

from hypothesis import example, given
from hypothesis import strategies as st

from mate_tf.data.generation import statements as statements
from mate_tf.tables.table import Table
from mate_tf.tables.text import format_text

CITIES = Table.from_rows(
    ["City", "Mayor", "People", "Since"],
    [
        ["Bern", "Ann Red", "133,883", "1848"],
        ["Thun", "Tom Green", "43,743", "1803"],
        ["Biel", "Eva Green", "55,159", "1815"],
    ],
)


def comparable(cell):
    """A cell as a number, or its words."""
    try:
        return float(cell.replace(",", ""))
    except ValueError:
        return format_text(cell)


class Reader:
    """Works out from its words alone whether a statement is true."""

    def __init__(self, table):
        names = "|".join(re.escape(name) for name in sorted(table.columns, key=len, reverse=True))
        more = "(?:greater|less|later|earlier) than "
        kinds = "first|last|greatest|lowest|latest|earliest|sum of|average of"
        what = rf"(?:the (?:(?P<kind#>{kinds}) )?(?P<name#>{names})|the (?P<count#>number) of rows)"
        when = rf"(?: when (?P<where#>{names}) is (?P<order#>{more})?(?P<limit#>.+?))?"
        first, second = (f"{what}{when}".replace("#", number) for number in "12")
        self.pattern = re.compile(rf"{first} is (?P<compared>{more})?(?:{second}|(?P<said>.+))")
        self.columns = {
            name: [comparable(row[index]) for row in table.rows]
            for index, name in enumerate(table.columns)
        }
        self.num_rows = table.num_rows

    def is_true(self, text):
        match = self.pattern.fullmatch(text)
        assert match, text
        found = self.value(match, "1")
        other = self.value(match, "2") if match["said"] is None else comparable(match["said"])
        if match["compared"]:
            return self.holds(found, match["compared"], other)
        if isinstance(found, float) and isinstance(other, float):
            return abs(found - other) < 0.00501  # averages are rounded
        return found == other

    @staticmethod
    def holds(left, order, right):
        assert left != right
        return left > right if order in ("greater than ", "later than ") else left < right

    def value(self, match, number):
        rows = range(self.num_rows)
        if match["where" + number]:
            column, limit = (
                self.columns[match["where" + number]],
                comparable(match["limit" + number]),
            )
            order = match["order" + number]
            if order is None:
                rows = [row for row in rows if column[row] == limit]
            else:
                rows = [
                    row
                    for row in rows
                    if column[row] != limit and self.holds(column[row], order, limit)
                ]
        if match["count" + number]:
            return float(len(rows))
        cells = [self.columns[match["name" + number]][row] for row in rows]
        kind = match["kind" + number]
        if kind is None:
            assert len(cells) == 1
        if kind in ("sum of", "average of"):
            return sum(cells) / (len(cells) if kind == "average of" else 1)
        pick = {"last": lambda found: found[-1], "greatest": max, "latest": max}
        pick |= {"lowest": min, "earliest": min}
        return pick.get(kind, lambda found: found[0])(cells)


def test_reader_of_statements():
    reader = Reader(CITIES)
    for text in (
        "the Mayor when City is Bern is Ann Red",
        "the first City is Bern",
        "the last Since is later than the earliest Since",
        "the People when City is Thun is less than the People when Mayor is Eva Green",
        "the lowest People when Since is later than 1810 is 55,159",
        "the sum of People when Since is earlier than 1840 is 98902",
        "the average of People is 77595",
        "the number of rows when People is greater than 50,000 is 2",
    ):
        assert reader.is_true(text)
    for text in (
        "the Mayor when City is Bern is Eva Green",
        "the last City is Bern",
        "the first Since is earlier than 1815",
        "the sum of People is 98902",
        "the number of rows when People is greater than 50,000 is less than 1",
    ):
        assert not reader.is_true(text)


def test_readable_statements():
    found = [
        found.text
        for seed in range(2000)
        for found in statements.synthetic(CITIES, random.Random(seed), 4)
    ]
    for text in (
        "the Mayor when City is Bern is Ann Red",
        "the Mayor when City is Bern is Eva Green",
        "the greatest People is 133,883",
        "the latest Since is later than 1803",
        "the number of rows when Since is later than 1803 is 2",
        "the sum of People is 232785",
    ):
        assert text in found
    # A cell is never described by itself.
    assert not any(re.search(r"(\w+) when \1 ", text) for text in found)


def test_what_statements_do_not_speak_of():
    table = Table.from_rows(
        ["", "Dash", "Twice", "twice", "Empty", "Score", "Name"],
        [["a", "-5", "x", "y", "", "3-1", "Bern"], ["b", "–7", "z", "w", "", "2-0", "Thun"]],
    )
    for seed in range(100):
        for found in statements.synthetic(table, random.Random(seed), 3):
            assert "twice" not in found.text.lower()
            assert "Empty" not in found.text
            assert "  " not in found.text
            # A dash may be a minus or none, and a score is not a number.
            assert not re.search("than|sum|average", found.text) or "number of rows" in found.text


def test_tables_without_statements():
    for table in (
        Table.from_rows(["x"], []),
        Table.from_rows(["x"], [["y"]]),
        Table.from_rows(["", "?"], [["y", "z"], ["a", "b"]]),
    ):
        found = [list(statements.synthetic(table, random.Random(seed), 5)) for seed in range(20)]
        assert all(statement.is_true for made in found for statement in made)


cells = {
    "numbers": st.integers(-3, 30).map(str),
    "decimals": st.integers(-300, 300).map(lambda value: f"{value / 100:.2f}"),
    "large": st.integers(0, 9_999_999).map(lambda value: f"{value:,}"),
    "years": st.integers(1990, 1999).map(str),
    "words": st.sampled_from(["red", "green", "dark red", "Blue"]),
    "mixed": st.sampled_from(["7", "eight nine", "", "?", "Blue"]),
}


@st.composite
def tables(draw):
    kinds = draw(st.lists(st.sampled_from(sorted(cells)), min_size=2, max_size=5))
    names = ["Alpha", "Beta", "Gamma", "Delta", "Alpha Delta"][: len(kinds)]
    rows = st.tuples(*(cells[kind] for kind in kinds))
    return Table.from_rows(names, draw(st.lists(rows, min_size=1, max_size=7)))


@given(tables(), st.integers(0, 1000))
@example(Table.from_rows(["A", "B"], [["0.00", "0.02"], ["0.01", "0.01"], ["0.00", "0.00"]]), 3)
def test_truth(table, seed):
    reader = Reader(table)
    found = list(statements.synthetic(table, random.Random(seed), 6))
    assert [statement.is_true for statement in found] == [
        reader.is_true(statement.text) for statement in found
    ]
    truths = [statement.is_true for statement in found]
    assert truths[1:] == [not truth for truth in truths[:-1]]
    assert len({statement.text for statement in found}) == len(found)
    assert found == list(statements.synthetic(table, random.Random(seed), 6))


def test_counterfactual():
    def change(text, seed=0):
        return statements.counterfactual(CITIES, text, random.Random(seed))

    assert {change("In BERN since 1900.", seed) for seed in range(20)} == {
        "In Thun since 1900.",
        "In Biel since 1900.",
    }
    # The longest mention counts, several words are exchanged as a whole.
    assert {change("is (tom green)!", seed) for seed in range(20)} == {
        "is (Ann Red)!",
        "is (Eva Green)!",
    }
    # Not for what is said already, and not if nothing is left.
    assert {change("Bern or Thun", seed) for seed in range(20)} == {"Biel or Thun", "Bern or Biel"}
    assert change("Bern, Thun and Biel") is None
    assert change("which city?") is None
    assert change("Green") is None
    # In its own spelling too it is mentioned.
    assert change("133,883 people", 1).endswith(" people")


def test_counterfactual_needs_another_text():
    table = Table.from_rows(["x", "the"], [["Bern", "of"], ["BERN!", "a"], ["", "?"]])
    assert statements.counterfactual(table, "bern of the", random.Random(0)) is None


@given(st.lists(st.sampled_from(["red", "Dark", "blue,", "7", "1990"]), max_size=6), tables())
def test_counterfactuals_exchange_one_cell(words, table):
    text = " ".join(words)
    changed = statements.counterfactual(table, text, random.Random(0))
    assert changed == statements.counterfactual(table, text, random.Random(0))
    if changed is None:
        return
    before, after = format_text(text).split(), format_text(changed).split()
    columns = [{format_text(cell) for cell in column} for column in zip(*table.rows, strict=True)]
    assert any(
        " ".join(before[begin:end]) in names
        and " ".join(after[begin : len(after) - len(before) + end]) in names
        and before[:begin] == after[:begin]
        and before[end:] == after[len(after) - len(before) + end :]
        for names in columns
        for begin in range(len(before))
        for end in range(begin + 1, len(before) + 1)
    )
    assert before != after
