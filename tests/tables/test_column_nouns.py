"""Words that name a column without its name."""

from mate_tf.tables import column_nouns


def test_words():
    assert "cheapest" in column_nouns.words("Price (€)", "lowest")
    assert "cheapest" not in column_nouns.words("Price", "highest")
    assert "longest" in column_nouns.words("Running time (min)", "highest")
    assert "older" in column_nouns.words("Age")
    assert "people" not in column_nouns.words("Population")  # is said of anything
    assert column_nouns.words("Xyz") == frozenset()


def test_answers():
    assert column_nouns.answers("City", {"city"})
    assert column_nouns.answers("Title", {"book"})
    assert column_nouns.answers("Name", {"who"})
    assert not column_nouns.answers("Author", {"book"})
