"""Words that name a column without its name."""

from mate_tf.tables import question_nouns


def test_words():
    assert "cheapest" in question_nouns.words("Price (€)", "lowest")
    assert "cheapest" not in question_nouns.words("Price", "highest")
    assert "longest" in question_nouns.words("Running time (min)", "highest")
    assert "older" in question_nouns.words("Age")
    assert "people" not in question_nouns.words("Population")  # is said of anything
    assert question_nouns.words("Xyz") == frozenset()


def test_answers():
    assert question_nouns.answers("City", {"city"})
    assert question_nouns.answers("Title", {"book"})
    assert question_nouns.answers("Name", {"who"})
    assert not question_nouns.answers("Author", {"book"})
