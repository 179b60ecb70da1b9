"""Words of nearly the same meaning, and names of columns as people say them."""

import pytest

from mate_tf.tables import pruning
from mate_tf.tables.text import spoken


def test_both_directions():
    assert "city" in pruning.synonyms()["town"]
    assert "town" in pruning.synonyms()["city"]
    assert "customer" in pruning.synonyms()["client"]


def test_the_file_has_singulars_only():
    """As questions are compared."""
    for word, others in pruning.synonyms().items():
        assert pruning.words(word) == [word]
        assert word not in others


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("NetAmountEUR", "Net Amount EUR"),
        ("FlightNo", "Flight No"),
        ("VATRate", "VAT Rate"),
        ("due_date", "due_date"),
        ("McDonald", "McDonald"),
        ("PhD", "PhD"),
        ("iPhone", "iPhone"),
        ("Net amount", "Net amount"),
        ("", ""),
    ],
)
def test_spoken(name, said):
    assert spoken(name) == said
