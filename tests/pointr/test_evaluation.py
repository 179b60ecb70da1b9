"""Scores of both stages together, by groups, and the reference they are compared with."""

import json

import pytest

from mate_tf.evaluation.hybridqa_answers import Reference
from mate_tf.pointr import evaluation

GOLD = Reference({"a": "Basel", "b": "2001", "c": "Bern town", "d": "Zug"}, ["b"], ["a", "c", "d"])


def test_scores_by_group():
    answers = {"a": "basel", "b": "2002", "c": "Bern", "other": "no question of these"}
    found = evaluation.scores(answers, GOLD)
    assert {group: values["questions"] for group, values in found.items()} == {
        "table": 1,
        "passage": 3,
        "total": 4,
    }
    # c: one of one word is right, one of two words is found; d: not answered
    assert found["passage"]["EM"] == pytest.approx(1 / 3)
    assert found["passage"]["F1"] == pytest.approx((1 + 2 / 3) / 3)
    assert found["total"]["EM"] == pytest.approx(1 / 4)
    assert found["table"]["F1"] == 0
    for values in found.values():
        assert values["F1 low"] <= values["F1"] <= values["F1 high"]
    assert found["total"]["EM low"] < found["total"]["EM"] < found["total"]["EM high"]


def test_an_empty_group_has_no_scores():
    found = evaluation.scores({"a": "Basel"}, Reference({"a": "Basel"}, [], ["a"]))
    assert found["table"] == {"questions": 0}
    printed = evaluation.columns(found)
    assert printed["EM"] == {"table": None, "passage": 1, "total": 1}
    assert printed["questions"] == {"table": 0, "passage": 1, "total": 1}


def test_groups_by_the_official_reference_or_by_the_cells_own_text(races, tmp_path):
    question = races.interaction.questions[0]
    alternative = question.alternative_answers.add()
    made = evaluation.reference([races.interaction], "dev", str(tmp_path))
    assert made == Reference({"q": "Basel"}, [], ["q"])
    alternative.answer_coordinates.add(row_index=0, column_index=1)  # the cell says it itself
    made = evaluation.reference([races.interaction], "dev", str(tmp_path))
    assert made == Reference({"q": "Basel"}, ["q"], [])

    official = {"reference": {"q": "the Basel", "z": "Zug"}, "table": ["z"], "passage": ["q"]}
    source = tmp_path / "input" / "released_data"
    source.mkdir(parents=True)
    (source / evaluation.REFERENCE_FILE).write_text(json.dumps(official))
    evaluation.keep_reference(str(tmp_path / "input"), str(tmp_path / "examples"))
    made = evaluation.reference([races.interaction], "dev", str(tmp_path / "examples"))
    assert made == Reference({"q": "the Basel"}, [], ["q"])
    made = evaluation.reference([races.interaction], "test", str(tmp_path / "examples"))
    assert made == Reference({"q": "Basel"}, ["q"], [])


def test_without_an_official_reference_nothing_is_kept(tmp_path):
    evaluation.keep_reference(str(tmp_path), str(tmp_path / "examples"))
    assert not (tmp_path / "examples").exists()
