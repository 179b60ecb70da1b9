"""Cells ranked by their words, on a table made by hand."""

import pytest

from mate_tf.evaluation import baselines, cell_ranking, hybridqa
from mate_tf.protos import annotated_text_pb2, interaction_pb2

LINKS = annotated_text_pb2.AnnotatedText.annotated_cell_ext
PASSAGES = annotated_text_pb2.AnnotationDescription.annotation_descriptions_ext


@pytest.fixture
def interaction():
    """Ann and Bo, each with a passage; the answer is in Bo's."""
    made = interaction_pb2.Interaction(id="a-0")
    for name in ("Name", "Born"):
        made.table.columns.add(text=name)
    for name, year in (("Ann", "1980"), ("Bo", "1981")):
        row = made.table.rows.add()
        row.cells.add(text=name).Extensions[LINKS].annotations.add(identifier=name)
        row.cells.add(text=year)
    texts = made.Extensions[PASSAGES].descriptions
    texts["Ann"] = "Ann paints portraits of horses . She won a prize ."
    texts["Bo"] = "Bo sails alone around islands . He lives in Rome ."
    question = made.questions.add(id="a-0_0", original_text="Where does the man who sails live ?")
    question.answer.answer_coordinates.add(row_index=1, column_index=0)
    made.questions.add(id="a-0_1", original_text="Who was born in 1980 ?")
    return made


@pytest.mark.parametrize("rank", [cell_ranking.rank_cells, cell_ranking.rank_expanded_cells])
def test_ranks_by_own_text_and_passages(rank, interaction):
    before = interaction.SerializeToString(deterministic=True)
    predicted = rank([interaction])
    assert predicted["a-0_0"].ranked[0] == (1, 0)
    assert predicted["a-0_0"].coordinates == ((1, 0),)
    assert predicted["a-0_1"].ranked[0] == (0, 1)
    assert sorted(predicted["a-0_0"].ranked) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert interaction.SerializeToString(deterministic=True) == before
    assert hybridqa.hits([interaction], predicted, 1)["a-0_0"]


def test_registered():
    assert baselines.BASELINES["TF-IDF of cells"] is cell_ranking.rank_cells
    assert baselines.predict([], "TF-IDF of expanded cells") == {}


def test_table_without_rows(interaction):
    del interaction.table.rows[:]
    for rank in (cell_ranking.rank_cells, cell_ranking.rank_expanded_cells):
        assert rank([interaction])["a-0_0"].ranked == ()


def test_hits_count_missing_predictions_and_leave_hidden_answers_out(interaction):
    predicted = cell_ranking.rank_cells([interaction])
    assert hybridqa.hits([interaction], predicted, 1) == {"a-0_0": True}
    assert hybridqa.hits([interaction], {}, 5) == {"a-0_0": False}
