"""Words for cells that are a mark."""

import pytest

from mate_tf.tables.marks import in_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("✓", "yes"),
        (" ✔️ ", "yes"),
        ("✗", "no"),
        ("•", "yes"),
        ("+", "plus"),
        ("−", "none"),
        ("–", "none"),
        ("★★★☆☆", "3 stars"),
        ("👍", "thumbs up"),
        ("☀️", "black sun with rays"),
        ("✓✗", "yes no"),
        ("?", "?"),
        ("...", "..."),
        ("", ""),
        ("+5", "+5"),
        ("yes ✓", "yes ✓"),
        ("-" * 40, "-" * 40),
    ],
)
def test_in_words(text, words):
    assert in_words(text) == words
