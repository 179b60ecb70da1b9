"""Wordings of generated questions: their placeholders, and what names of columns say."""

import string

import pytest

from mate_tf.data.generation import wordings as words
from mate_tf.tables import column_nouns

PLACEHOLDERS = {"c", "cs", "name", "other", "value", "key", "keys", "one", "all", "when"}
LISTS = {name: value for name, value in vars(words).items() if name.isupper()}


def placeholders(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("name", LISTS)
def test_placeholders(name):
    for text in LISTS[name]:
        assert placeholders(text) <= PLACEHOLDERS, text
        assert text == text.lower()
    assert len(set(LISTS[name])) >= 2


def test_limits_are_said():
    for name in ("MORE", "LESS", "AFTER", "BEFORE", "COUNT_MORE", "COUNT_EQUAL", "FILTER"):
        assert all("value" in placeholders(text) for text in LISTS[name]), name


@pytest.mark.parametrize(
    ("name", "is_person", "is_place"),
    [("home city", False, True), ("team captain", True, False), ("score", False, False)],
)
def test_what_a_name_says(name, is_person, is_place):
    assert (words.is_person(name), words.is_place(name)) == (is_person, is_place)


@pytest.mark.parametrize(
    ("singular", "plural"),
    [("city", "cities"), ("day", "days"), ("branch", "branches"), ("points", "points")],
)
def test_plurals(singular, plural):
    assert words.plural(singular) == plural


def test_other_nouns():
    assert "how old is {name}?" in column_nouns.wordings("age", "lookup")
    # The last word of a name says what it is.
    assert column_nouns.wordings("price per year", "more") == column_nouns.wordings("year", "more")
    assert column_nouns.wordings("director", "highest") == ()
    assert column_nouns.wordings("colour", "lookup") == ()
