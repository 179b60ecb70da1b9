"""A table of two races with the towns of their winners in passages, as the first stage has it."""

import types

import pytest

from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.pointr.predictor import link
from mate_tf.tables.table import Table

LINKS = {(0, 1): ["/wiki/Ann"], (1, 1): ["/wiki/Bob"]}
PASSAGES = {
    "/wiki/Ann": "Ann was born in Basel . She won twice .",
    "/wiki/Bob": "Bob was born in Bern .",
}


@pytest.fixture
def races():
    """interaction: question "q-0_0", whose answer is in a passage; id: of the data set."""
    table = Table.from_rows(["year", "winner"], [["2001", "Ann"], ["2002", "Bob"]], table_id="t")
    question = Question("q-0_0", "where was Ann born?", [(0, 1)], ["Basel"])
    interaction = interaction_from_table(table, "q-0", [question])
    link(interaction, LINKS, PASSAGES)
    return types.SimpleNamespace(interaction=interaction, id="q")
