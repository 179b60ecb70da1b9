"""Tables for the second stage: the reference's, and what it does not do as it says."""

import json

import numpy as np
import pytest

from mate_tf.data import records
from mate_tf.data.converters.examples import ExampleConverter
from mate_tf.data.datasets import hybridqa_rc
from mate_tf.data.datasets.hybridqa_rc import HybridQaRcConfig
from mate_tf.data.interactions import Question, interaction_from_table
from mate_tf.errors import InputError
from mate_tf.evaluation import hybridqa, predictions
from mate_tf.pointr import prediction
from mate_tf.protos import annotated_text_pb2
from mate_tf.tables.table import Table

LINKS = annotated_text_pb2.AnnotatedText.annotated_cell_ext
DESCRIPTIONS = annotated_text_pb2.AnnotationDescription.annotation_descriptions_ext
GOLD_CONFIGS = (
    "default",
    "single_original",
    "multi_original",
    "single_found_noisy_full",
    "multi_noisy_selective",
    "multi_noisy_col",
    "skip_ambiguous",
)
E2E_CONFIGS = ("top1", "top3_single", "top2_joint")
CONVERSIONS = {
    "rc128": {"max_seq_length": 128, "update_answer_coordinates": True},
    "rc32_drop": {
        "max_seq_length": 32,
        "update_answer_coordinates": True,
        "drop_rows_to_fit": True,
    },
    "rc128_noupdate": {"max_seq_length": 128},
}


@pytest.fixture(scope="module")
def stage_1(recordings):
    """Split -> the first stage's interactions."""
    return {
        split: list(
            records.read_interactions(str(recordings / "interactions" / f"{split}.tfrecord"))
        )
        for split in ("train", "dev", "test")
    }


@pytest.fixture(scope="module")
def recorded(recordings):
    return json.loads((recordings / "rc_gold_interactions.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def end_to_end(recordings):
    return json.loads((recordings / "selection_metrics_and_e2e.json").read_text(encoding="utf-8"))


def cells(protos):
    return [
        {
            "text": cell.text,
            "identifiers": [a.identifier for a in cell.Extensions[LINKS].annotations],
        }
        for cell in protos
    ]


def as_json(interaction):
    """In the form of the goldens."""
    table, (question,) = interaction.table, interaction.questions
    return {
        "id": interaction.id,
        "table": {
            "table_id": table.table_id,
            "document_title": table.document_title,
            "document_url": table.document_url,
            "columns": cells(table.columns),
            "rows": [cells(row.cells) for row in table.rows],
        },
        "question": {
            "id": question.id,
            "original_text": question.original_text,
            "has_answer": question.HasField("answer"),
            "answer_texts": list(question.answer.answer_texts),
            "answer_coordinates_sorted": sorted(
                [c.row_index, c.column_index] for c in question.answer.answer_coordinates
            ),
            "alternative_answers": [
                [[c.row_index, c.column_index] for c in answer.answer_coordinates]
                for answer in question.alternative_answers
            ],
        },
    }


def gold(stage_1, recordings, config, split):
    original = None
    if split != "test":
        path = recordings / "raw" / "released_data" / f"{split}.traced.json"
        original = hybridqa_rc.read_original_coordinates(path)
    for interaction in stage_1[split]:
        yield from hybridqa_rc.gold_interactions(
            interaction, config, training=split == "train", original=original
        )


@pytest.mark.parametrize("name", GOLD_CONFIGS)
def test_gold_tables_are_the_references(stage_1, recordings, recorded, name):
    assert set(recorded) == set(GOLD_CONFIGS)
    config = HybridQaRcConfig(**recorded[name]["config"])
    # There it has no effect; what it does here is tested below.
    config.skip_ambiguous_examples = False
    for split, want in recorded[name]["interactions"].items():
        made = list(gold(stage_1, recordings, config, split))
        assert [as_json(each) for each in made] == want
        for each in made:
            linked = {
                link
                for row in each.table.rows
                for cell in cells(row.cells)
                for link in cell["identifiers"]
            }
            assert set(each.Extensions[DESCRIPTIONS].descriptions) == linked


def test_ambiguous_questions_are_skipped_in_training(stage_1, recordings, recorded):
    config = HybridQaRcConfig(**recorded["skip_ambiguous"]["config"])
    want = recorded["skip_ambiguous"]["interactions"]
    ids = [each.id for each in gold(stage_1, recordings, config, "train")]
    # h1 has two gold cells; so has h8, of the dev set.
    assert ids == [each["id"] for each in want["train"] if not each["id"].startswith("h1/")]
    assert len(ids) == len(want["train"]) - 2
    ids = [each.id for each in gold(stage_1, recordings, config, "dev")]
    assert ids == [each["id"] for each in want["dev"]]


def test_further_cells_of_the_rows_with_a_gold_cell(stage_1, recorded):
    """As many as gold cells; in training only."""
    config = HybridQaRcConfig(**recorded["skip_ambiguous"]["config"])
    config.noisy_cell_strategy, config.use_original_coordinates = "row_confined", False
    checked = 0
    for interaction in stage_1["train"]:
        (question,) = interaction.questions
        right = {(c.row_index, c.column_index) for c in question.answer.answer_coordinates}
        found = list(hybridqa_rc.gold_interactions(interaction, config, training=False))
        assert len(found) == len(right)
        found = list(hybridqa_rc.gold_interactions(interaction, config, training=True))
        if len(right) != 1:
            assert not found
            continue
        ((row, column),) = right
        texts = [cell.text for cell in interaction.table.rows[row].cells]
        answer = texts.pop(column)
        read = [each.table.rows[0].cells[0].text.partition(" : ")[0] for each in found]
        read.remove(answer)
        assert len(read) == 1
        assert read[0] in texts
        checked += 1
    assert checked


@pytest.fixture(scope="module")
def ranked(recordings, end_to_end):
    """The first stage's cells; of equal ones in the reference's order."""
    found = predictions.read_tsv(recordings / "dev_cell_predictions.tsv")
    orders = {}
    for each in found:
        order = list(map(tuple, end_to_end["best_cells_row_col"][each.question_id]))
        probabilities = dict(hybridqa.ranked_cells(each))
        assert sorted(order, key=lambda cell: -probabilities[cell]) == order
        orders[each.question_id] = order
    return orders


def predicted(stage_1, ranked, config):
    return [
        made
        for interaction in stage_1["dev"]
        for made in prediction.predicted_interactions(interaction, ranked, config)
    ]


@pytest.mark.parametrize("name", E2E_CONFIGS)
def test_predicted_tables_are_the_references(stage_1, end_to_end, ranked, name):
    assert set(end_to_end["e2e"]) == set(E2E_CONFIGS)
    want = end_to_end["e2e"][name]
    made = predicted(stage_1, ranked, HybridQaRcConfig(**want["config"]))
    expected = [
        {key: value for key, value in each.items() if key != "conversions"}
        for each in want["interactions"]["dev"]
    ]
    assert [as_json(each) for each in made] == expected


@pytest.mark.parametrize("conversion", CONVERSIONS)
def test_examples_are_the_references(goldens, stage_1, end_to_end, ranked, conversion):
    converter = ExampleConverter(goldens / "tokenization" / "vocab.txt", **CONVERSIONS[conversion])
    for name in E2E_CONFIGS:
        want = end_to_end["e2e"][name]
        made = predicted(stage_1, ranked, HybridQaRcConfig(**want["config"]))
        for interaction, each in zip(made, want["interactions"]["dev"], strict=True):
            features = converter.convert(interaction, 0).features.feature
            expected = dict(each["conversions"][conversion])
            tokens = expected.pop("num_tokens")
            assert features["question_id"].bytes_list.value == [
                expected.pop("question_id").encode()
            ]
            assert sum(features["input_mask"].int64_list.value) == tokens
            for feature, values in expected.items():
                got = features[feature].int64_list.value
                assert got[:tokens] == values, feature
                assert not any(got[tokens:])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"noisy_cell_strategy": "half"}, "'half' is not one of none, full"),
        ({"num_predictions_to_keep": 0}, "num_predictions_to_keep: 0"),
    ],
)
def test_broken_configs(fields, message):
    with pytest.raises(InputError, match=message):
        hybridqa_rc.HybridQaRcConfig(**fields).check()


def linked_interaction(answer_cells=((0, 0),), **answer):
    """One row "Bern | 5" where Bern links to a text, twice, and to one that is not there."""
    table = Table.from_rows(["City", "Rank"], [["Bern", "5"]], table_id="t")
    question = Question("a-b-0_0", "which river?", answer_cells, ["Aare"], **answer)
    interaction = interaction_from_table(table, "a-b-0", [question])
    cell = interaction.table.rows[0].cells[0]
    for link in ("/wiki/Bern", "/wiki/Gone", "/wiki/Bern"):
        cell.Extensions[LINKS].annotations.add(identifier=link)
    text = "Bern is on the Aare . " + "The river Aare bends there . " * 40
    interaction.Extensions[DESCRIPTIONS].descriptions["/wiki/Bern"] = text
    return interaction


def test_links():
    interaction = linked_interaction()
    before = interaction.SerializeToString(deterministic=True)
    config = HybridQaRcConfig(single_cell_examples=True)
    (made,) = hybridqa_rc.gold_interactions(interaction, config, training=True)
    ((cell,),) = (row.cells for row in made.table.rows)
    assert cell.text.startswith("Bern : Bern is on the Aare . The")
    assert cell.text.count("Bern is on") == 1
    assert list(made.Extensions[DESCRIPTIONS].descriptions) == ["/wiki/Bern"]
    assert (made.id, made.questions[0].id) == ("a-b/0-0", "a-b/0-0_0")
    assert interaction.SerializeToString(deterministic=True) == before


def test_the_first_tokens_are_kept_and_the_first_appearance_is_labelled(goldens):
    config = HybridQaRcConfig(single_cell_examples=True)
    (made,) = hybridqa_rc.gold_interactions(linked_interaction(), config, training=True)
    options = {"update_answer_coordinates": True}
    vocabulary = goldens / "tokenization" / "vocab.txt"
    whole = ExampleConverter(vocabulary, 2048, **options).convert(made, 0).features.feature
    length = sum(whole["input_mask"].int64_list.value)
    for limit in (64, 128):
        cut = ExampleConverter(vocabulary, limit, **options).convert(made, 0).features.feature
        kept = sum(cut["input_mask"].int64_list.value)
        assert limit - 10 < kept <= limit < length
        for name in ("input_ids", "row_ids", "column_ids", "label_ids"):
            assert cut[name].int64_list.value[:kept] == whole[name].int64_list.value[:kept]
        labels = np.array(cut["label_ids"].int64_list.value)
        assert np.all(np.diff(np.flatnonzero(labels)) == 1)  # one run, though it comes 41 times
        assert labels.any()


def test_an_answer_that_no_cell_had_may_be_read():
    """The first stage leaves such questions out of its training; the second is asked anyway."""
    interaction = linked_interaction((), is_valid=False, problem="nowhere")
    ranked = {"a-b-0_0": [(0, 1)], "other-0_0": [(0, 0)]}
    (made,) = prediction.predicted_interactions(interaction, ranked, HybridQaRcConfig())
    assert made.questions[0].answer.is_valid
    assert made.table.rows[0].cells[0].text == "5"
    assert not list(
        prediction.predicted_interactions(interaction, {"other-0_0": [(0, 0)]}, HybridQaRcConfig())
    )


def test_what_is_not_there():
    config = HybridQaRcConfig()
    for cell in ((0, 2), (-1, 0)):
        message = f"a-b-0_0: table t has no cell in row {cell[0]}, column {cell[1]}"
        with pytest.raises(InputError, match=message):
            list(
                prediction.predicted_interactions(linked_interaction(), {"a-b-0_0": [cell]}, config)
            )
    config.use_original_coordinates = True
    for original in (None, {"x": [(0, 0)]}):
        with pytest.raises(InputError, match="a-b-0_0: use_original_coordinates"):
            list(
                hybridqa_rc.gold_interactions(
                    linked_interaction(), config, training=True, original=original
                )
            )


def test_original_coordinates_of_a_file_without_them(tmp_path):
    path = tmp_path / "dev.traced.json"
    path.write_text(
        json.dumps([{"question_id": "a", "answer-node": [["x", [1, 2], None, "table"]]}])
    )
    assert hybridqa_rc.read_original_coordinates(path) == {"a": [(1, 2)]}
    path.write_text(json.dumps([{"question_id": "a"}]))
    with pytest.raises(InputError, match="question 0 has no answer-node"):
        hybridqa_rc.read_original_coordinates(path)
