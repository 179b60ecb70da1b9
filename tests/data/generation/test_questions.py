"""Generated questions, with their answers worked out again with pandas."""

import collections
import contextlib
import random
import re

import pandas
import pytest

from mate_tf.data.generation import wordings as words
from mate_tf.data.generation.questions import KINDS, questions
from mate_tf.tables import column_nouns
from mate_tf.tables.table import Table

TABLE = Table.from_rows(
    ["Player", "Club", "Age", "Goals (league)", "Joined", "Prize"],
    [
        ["Ann Red", "Bern", "31", "12", "2001", "$1,200"],
        ["Tom Green", "Thun", "24", "7", "1999", "$300"],
        ["Eva Black", "Bern", "27", "12", "2004", "$950"],
        ["Max Brown", "Biel", "24", "15", "2010", "$40"],
        ["Ida White", "Thun", "38", "3", "1997", "$2,000"],
        ["Leo Grey", "Bern", "22", "9", "2008", "$700"],
    ],
)
ROWS = range(TABLE.num_rows)
FRAME = pandas.DataFrame(TABLE.rows, columns=[name.lower() for name in TABLE.columns])
NUMBERS = FRAME.apply(
    lambda column: pandas.to_numeric(column.str.replace(r"[$,]", "", regex=True), errors="coerce")
)
NAMES = {name.partition(" (")[0]: name for name in FRAME} | {name: name for name in FRAME}
_NOUN = "|".join(
    re.escape(each)
    for name in sorted(NAMES, key=len, reverse=True)
    for each in (words.plural(name), name)
)
_PATTERNS = {
    "c": _NOUN,
    "cs": _NOUN,
    "key": "player",
    "keys": "players",
    "one": "who|(?:which|what) player",
    "all": "who|(?:which|what) players",
    "when": "(?:" + "|".join(re.escape(each) for each in words.WHEN) + ")?",
}


def pattern(template):
    """A regular expression for questions with a wording; groups are its placeholders."""
    found = re.escape(template.lower().rstrip("?"))
    found = re.sub(r"\bhave\b|\bhas\b", "(?:have|has)", found)
    found = re.sub(r"\bare\b|\bis\b", "(?:are|is)", found)
    found = re.sub(r"\bwere\b|\bwas\b", "(?:were|was)", found)
    if "when\\}" in found:
        conditions = "|".join(
            re.escape(each).replace(r"\{c\}", f"(?:{_NOUN})").replace(r"\{value\}", ".+")
            for each in words.WHEN
        )
        found = found.replace(r"\{when\}", f"(?P<when>(?:{conditions})?)")
    seen = set()

    def group(match):
        name = match[1]
        of = _PATTERNS.get(name, ".+")
        if name in seen:
            return f"(?:{of})"
        seen.add(name)
        return f"(?P<{name}>{of})"

    return re.compile(re.sub(r"\\\{(\w+)\\\}", group, found))


def column(groups, name="c"):
    said = groups.get(name) or groups["cs"]
    return next(whole for short, whole in NAMES.items() if said in (short, words.plural(short)))


def named(said):
    """The row of a player, by the whole name or a part of it."""
    found = [row for row in ROWS if re.search(rf"\b{re.escape(said)}\b", FRAME.player[row].lower())]
    if len(found) != 1:
        raise LookupError(said)  # the question is of another wording
    return found[0]


def equal(said, of):
    return [row for row in ROWS if FRAME[of][row].lower() == said]


def condition(groups):
    """The rows that meet the condition at the end of a question."""
    when = groups.get("when", "")
    if not when:
        return list(ROWS)
    found = [
        equal(match["value"], column(match.groupdict()) if "{c}" in each else of)
        for each in words.WHEN
        if (match := pattern(each).fullmatch(when))
        for of in FRAME
    ]
    return max(found, key=len)


def extreme(groups, of, sign):
    values = sign * NUMBERS.loc[condition(groups), of]
    return sorted(values.index[values == values.max()])


def ordered(groups, of, sign):
    limit = float(re.sub("[$,]", "", groups["value"]))
    return [row for row in ROWS if sign * NUMBERS[of][row] > sign * limit]


def pair(groups, of, sign):
    rows = [named(groups["name"]), named(groups["other"])]
    return [max(rows, key=lambda row: sign * NUMBERS[of][row])]


def columns(groups):
    """The column that a wording names, or those that it may mean."""
    return [column(groups)] if groups.get("c") or groups.get("cs") else list(FRAME)[1:]


def nouns(use):
    """Wordings with other words, with the column that they mean."""
    return {
        text: name for short, name in NAMES.items() for text in column_nouns.wordings(short, use)
    }


def answers(kind, text):
    """All answers (rows, column, operation) that a question of a kind may have."""
    for templates, of_text, answer in MEANINGS[kind]:
        for template in templates:
            match = pattern(template).fullmatch(text)
            if match:
                groups = match.groupdict()
                with contextlib.suppress(LookupError):
                    meant = [of_text[template]] if template in of_text else columns(groups)
                    yield from [answer(groups, of) for of in meant]


def meaning(names, answer, use=None):
    """Wordings by the names of constants, those of other nouns, and how to answer them."""
    templates = [text for name in names.split() for text in getattr(words, name)]
    other = nouns(use) if use else {}
    return [*templates, *other], other, answer


def asks_rows(find):
    return lambda groups, of: (find(groups, of), "player", "NONE")


def counts(find):
    return lambda groups, of: (find(groups, of), "player", "COUNT")


def of_column(find, operation="NONE"):
    return lambda groups, of: (find(groups, of), of, operation)


def high(groups, of):
    return extreme(groups, of, 1)


def low(groups, of):
    return extreme(groups, of, -1)


def over(groups, of):
    return ordered(groups, of, 1)


def under(groups, of):
    return ordered(groups, of, -1)


def same(groups, of):
    return equal(groups["value"], of)


def where(groups, of):
    """The rows with a text in the column that is named, or in any."""
    among = [column(groups, "other")] if "other" in groups else list(FRAME)
    return [row for row in ROWS if groups["value"] in FRAME.loc[row, among].str.lower().tolist()]


def neighbour(step):
    return lambda groups, of: [named(groups["name"]) + step]


MEANINGS = {
    "lookup": [
        meaning("LOOKUP", of_column(lambda groups, of: [named(groups["name"])]), "lookup"),
        (
            ["how many {cs} does {name} have", "how many {c} did {name} have",
             "how many {c} for {name}"],
            {},
            of_column(lambda groups, of: [named(groups["name"])]),
        ),
    ],
    "other lookup": [
        meaning("CONDITION", of_column(where)),
    ],
    "filter": [meaning("FILTER FILTER_PLACE FILTER_DATE", asks_rows(same))],
    "superlative": [
        meaning("HIGHEST LATEST", asks_rows(high), "highest"),
        meaning("LOWEST EARLIEST", asks_rows(low), "lowest"),
        meaning("TOP TOP_DATE", of_column(high)),
        meaning("BOTTOM BOTTOM_DATE", of_column(low)),
    ],
    "comparison": [
        meaning("MORE AFTER", asks_rows(over), "more"),
        meaning("LESS BEFORE", asks_rows(under), "less"),
    ],
    "count all": [meaning("COUNT_ALL", counts(lambda groups, of: list(ROWS)))],
    "count equal": [meaning("COUNT_EQUAL COUNT_PLACE", counts(same))],
    "count order": [
        meaning("COUNT_MORE COUNT_AFTER", counts(over)),
        meaning("COUNT_LESS COUNT_BEFORE", counts(under)),
    ],
    "sum": [
        meaning("SUM", of_column(lambda groups, of: condition(groups), "SUM")),
        meaning("SUM_PAIR", of_column(
            lambda groups, of: sorted((named(groups["name"]), named(groups["other"]))), "SUM")),
    ],
    "average": [meaning("AVERAGE", of_column(lambda groups, of: condition(groups), "AVERAGE"))],
    "end": [
        meaning("FIRST", of_column(lambda groups, of: [0])),
        meaning("LAST", of_column(lambda groups, of: [len(ROWS) - 1])),
    ],
    "neighbour": [
        meaning("NEXT", of_column(neighbour(1))),
        meaning("PREVIOUS", of_column(neighbour(-1))),
    ],
    "pair": [
        meaning("PAIR_MORE PAIR_LATER", asks_rows(lambda groups, of: pair(groups, of, 1))),
        meaning("PAIR_LESS PAIR_EARLIER", asks_rows(lambda groups, of: pair(groups, of, -1))),
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def made():
    return [each for seed in range(60) for each in questions(TABLE, random.Random(seed), 10)]


def test_answers_are_those_of_pandas(made):
    for each in made:
        rows = [row for row, _ in each.coordinates]
        name = list(FRAME)[each.coordinates[0][1]]
        text = each.text.lower().rstrip("?")
        found = list(answers(each.kind, text))
        assert (rows, name, each.aggregation) in found, (each, found)


def test_every_kind_is_made_in_several_wordings(made):
    texts = collections.defaultdict(set)
    for each in made:
        texts[each.kind].add(each.text)
    assert set(texts) == set(KINDS)
    assert min(map(len, texts.values())) >= 5


ODD = {
    "one column": (["Name"], [["Ann"], ["Bob"], ["Cyd"]]),
    "two rows": (["Name", "Age"], [["Ann", "31"], ["Bob", "24"]]),
    "numbers only": (["Age", "Goals"], [["31", "12"], ["24", "7"], ["27", "12"]]),
    "equal cells": (["Name", "Club", "Age"], [["Ann", "Bern", "31"]] * 4),
    "no name differs": (["Club", "Age"], [["Bern", "31"], ["Bern", "24"], ["Thun", "24"]]),
    "two spellings": (["Name", "Club"], [["Ann", "Bern"], ["Bob", "bern"], ["Cyd", "BERN"]]),
    "years and ranks": (["Name", "Year", "Rank"], [["Ann", "1999", "1"], ["Bob", "2001", "2"]]),
    "long and empty": (["Name", "Note", ""], [["Ann", "x " * 80, ""], ["Bob", "", "-"]]),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_tables_give_questions_about_their_own_cells_or_none(name):
    header, rows = ODD[name]
    table = Table.from_rows(header, rows)
    for seed in range(20):
        for made in questions(table, random.Random(seed), 12):
            assert made.kind in KINDS
            assert "{" not in made.text
            assert made.coordinates == tuple(sorted(set(made.coordinates)))
            for row, column in made.coordinates:
                assert 0 <= row < len(rows)
                assert 0 <= column < len(header)
