"""What cells show: the reference's conversions of HybridQA, and the baselines of the paper."""

import collections
import itertools
import json

import numpy as np
import pytest

from mate_tf.data import features, records
from mate_tf.data.converters import expansion
from mate_tf.data.converters.examples import ConversionError, ExampleConverter
from mate_tf.data.converters.expansion import CellTexts
from mate_tf.errors import InputError
from mate_tf.protos import interaction_pb2
from mate_tf.tables.conversion import ConversionConfig

from ..conftest import values

EXPAND = {"expand_entity_descriptions": True}
CONFIGS = {
    "expand256": {"max_seq_length": 256, **EXPAND},
    "expand256_title": {"max_seq_length": 256, "use_entity_title": True, **EXPAND},
    "expand256_k2": {"max_seq_length": 256, "entity_descriptions_sentence_limit": 2, **EXPAND},
    "expand96": {"max_seq_length": 96, **EXPAND},
    "expand64_drop": {"max_seq_length": 64, "drop_rows_to_fit": True, **EXPAND},
    "noexpand256": {"max_seq_length": 256},
    "expand128_update": {"max_seq_length": 256, "update_answer_coordinates": True, **EXPAND},
}
DISPLAY = {"use_entity_title", "entity_descriptions_sentence_limit", "expand_entity_descriptions"}
SPLITS = ("train", "dev", "test")


@pytest.fixture(scope="module")
def recorded(recordings):
    """Pairs of an interaction and what the reference made of it."""
    golden = json.loads((recordings / "cell_selection.json").read_text())
    pairs = []
    for split in SPLITS:
        found = records.read_interactions(recordings / "interactions" / f"{split}.tfrecord")
        pairs += zip(found, golden[split], strict=True)
    return pairs


@pytest.fixture(scope="module")
def vocab(goldens):
    return goldens / "tokenization" / "vocab.txt"


@pytest.fixture(scope="module")
def mountains(recorded):
    return recorded[0][0]


@pytest.mark.parametrize("config", CONFIGS)
def test_conversions_are_the_references(config, recorded, vocab):
    converter = ExampleConverter(vocab, **CONFIGS[config])
    before = [interaction.SerializeToString(deterministic=True) for interaction, _ in recorded]
    converted = list(converter.convert_all(*(interaction for interaction, _ in recorded)))
    for (interaction, golden), outcome in zip(recorded, converted, strict=True):
        expected = golden["conversions"][config]["features"]
        if "error" in expected:
            assert isinstance(outcome, ConversionError)
            assert outcome.reason == expected["error"]
            continue
        assert not isinstance(outcome, Exception), outcome
        example = outcome.example
        assert values(example, "question_id") == [interaction.questions[0].id.encode()]
        tokens = expected["num_tokens"]
        for spec in features.ALL:
            if spec.per_token and spec.name in expected:
                np.testing.assert_array_equal(
                    values(example, spec.name)[:tokens],
                    np.array(expected[spec.name], float),
                    err_msg=f"{interaction.id} {spec.name}",
                )
        assert values(example, "input_mask") == [1] * tokens + [0] * (
            converter.max_seq_length - tokens
        )
    after = [interaction.SerializeToString(deterministic=True) for interaction, _ in recorded]
    assert before == after


@pytest.mark.parametrize("config", CONFIGS)
def test_expanded_texts_are_the_references(config, recorded):
    options = {name: value for name, value in CONFIGS[config].items() if name in DISPLAY}
    shown = CellTexts(ConversionConfig(**options))
    for interaction, golden in recorded:
        texts = golden["conversions"][config]["expanded_cell_texts"]
        header = [column.text for column in interaction.table.columns]
        assert shown.texts(interaction, 0) == header + list(itertools.chain(*texts))


def test_one_by_one_as_all_together(recorded, vocab):
    converter = ExampleConverter(vocab, 256, **EXPAND)
    found = [interaction for interaction, _ in recorded]
    single = ExampleConverter(vocab, 256, **EXPAND)
    for interaction, conversion in zip(found, converter.convert_all(*found), strict=True):
        assert single.conversion(interaction, 0) == conversion


def test_each_question_has_its_own_sentences(mountains):
    shown = CellTexts(ConversionConfig(**EXPAND))
    both = interaction_pb2.Interaction()
    both.CopyFrom(mountains)
    both.questions.add(id="h0-0_1", original_text="Where was the cable car built ?")
    first, second = shown.texts(both, 0), shown.texts(both, 1)
    assert first == shown.texts(mountains, 0)
    assert first != second
    assert any("cable car" in text for text in second)
    assert shown.key(both, 0) != shown.key(both, 1)
    plain = CellTexts(ConversionConfig())
    assert plain.key(both, 0) == plain.key(both, 1)


def test_tables_of_the_same_cells_but_other_passages_are_told_apart(mountains, vocab):
    """Nothing of one interaction's sentences comes back in another's."""
    other = interaction_pb2.Interaction()
    other.CopyFrom(mountains)
    texts = other.Extensions[expansion._DESCRIPTIONS].descriptions
    texts["/wiki/Beta_Horn"] = "The mountain in Sudland was first climbed in 1777 ."
    converter = ExampleConverter(vocab, 256, **EXPAND)
    first, second = converter.convert_all(mountains, other)
    assert values(first.example, "input_ids") != values(second.example, "input_ids")


def test_passages_only(mountains):
    """The baseline of the paper's table 5: cells show the sentences, not what they say."""
    shown = CellTexts(ConversionConfig(hide_cell_texts=True, **EXPAND))
    columns = len(mountains.table.columns)
    texts = shown.texts(mountains, 0)
    assert texts[:columns] == [column.text for column in mountains.table.columns]
    assert texts[columns + 1] == (
        "( Alpha Peak is a mountain in Norland . It was first climbed in 1953 by Jane Roe . )"
    )
    assert texts[columns] == ""


def test_limits_of_sentences(mountains, vocab):
    shown = CellTexts(ConversionConfig(entity_descriptions_sentence_limit=0, **EXPAND))
    assert shown.texts(mountains, 0) == CellTexts(ConversionConfig()).texts(mountains, 0)
    with pytest.raises(InputError, match="entity_descriptions_sentence_limit=-1 is negative"):
        ExampleConverter(vocab, entity_descriptions_sentence_limit=-1)


def test_tables_without_links_are_shown_as_they_are(vocab):
    interaction = interaction_pb2.Interaction(id="a-0")
    interaction.table.columns.add(text="Name")
    interaction.table.rows.add().cells.add(text="Ann")
    interaction.questions.add(id="a-0_0", original_text="Who is it ?")
    expanded = ExampleConverter(vocab, 64, **EXPAND).conversion(interaction, 0)
    assert expanded == ExampleConverter(vocab, 64).conversion(interaction, 0)


def test_longest_cells_are_cut_evenly(mountains, vocab):
    """Paper, section 4.1: what does not fit the budget is cut from the longest cells."""
    whole = ExampleConverter(vocab, 512, **EXPAND).conversion(mountains, 0)
    assert not whole.cuts
    lengths = _cell_lengths(whole.example)
    short = ExampleConverter(vocab, 128, **EXPAND).conversion(mountains, 0)
    cut = _cell_lengths(short.example)
    assert cut.keys() == lengths.keys()
    lost = {cell for cell in cut if cut[cell] < lengths[cell]}
    assert [tuple(each) for each in short.cuts] == [("cells", len(lost))]
    limit = max(cut.values())
    # Cells that lost words are about as long as the longest; the others are whole.
    assert all(cut[cell] > limit - 5 for cell in lost)
    assert sum(values(short.example, "input_mask")) > 128 - len(lost)


def _cell_lengths(example):
    cells = zip(values(example, "row_ids"), values(example, "column_ids"), strict=True)
    return collections.Counter(cell for cell in cells if cell[1] > 0)
