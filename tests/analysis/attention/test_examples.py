"""Analyses of examples: which masks are shown, coverage, and when there is nothing."""

import types

import numpy as np
import pytest

from mate_tf.analysis.attention import examples
from mate_tf.attention import AttentionConfig, TableContext, coverage
from mate_tf.data import features as feature_names
from mate_tf.models.encoder import TableEncoder

from ...models.tiny_encoder import tiny


@pytest.fixture
def batch():
    """A question of four tokens before six rows of three columns, with a token or two in a cell."""
    columns = np.repeat(np.tile([1, 2, 3], 6), np.tile([1, 1, 2, 2, 1, 1], 3))
    rows = np.repeat(np.repeat(range(6), 3), np.tile([1, 1, 2, 2, 1, 1], 3))
    question = np.zeros(4, int)
    parts = {"row_ids": np.append(question, rows), "column_ids": np.append(question, columns)}
    parts["segment_ids"] = (parts["column_ids"] > 0).astype(int)
    names = feature_names.names(feature_names.MODEL_INPUTS)
    ones = dict.fromkeys(names, np.ones(len(rows) + 4))
    return {name: np.array([ids], np.int32) for name, ids in (ones | parts).items()}


@pytest.fixture
def trained(batch, monkeypatch, vocabulary_file):
    """trained(attention): an encoder with one layer a config, and a batch; draws no plots."""
    monkeypatch.setattr(examples.mask_plots, "head_masks", lambda masks, title: title)
    vocab_file = vocabulary_file(
        ["[PAD]", "who", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[EMPTY]", "year"]
    )

    def make(attention, example=batch):
        layers = [AttentionConfig(each) for each in attention]
        config = tiny(
            vocab_size=8,
            num_hidden_layers=len(layers),
            max_position_embeddings=32,
            attention=layers,
        )
        plots, titles = [], []
        return types.SimpleNamespace(
            job=types.SimpleNamespace(vocab_file=str(vocab_file)),
            configs=config.distinct_attention(),
            model=types.SimpleNamespace(encoder=TableEncoder(config), num_parts=1),
            examples=lambda: [example],
            has_examples=True,
            save_plot=lambda figure, name: (plots.append(name), titles.append(figure)),
            plots=plots,
            titles=titles,
            context=lambda most: TableContext.from_features(example),
        )

    return make


def test_masks_of_ids_are_the_patterns_and_those_of_content_the_layers(trained, batch, capsys):
    batch["input_mask"][0, 20:] = 0
    static = {"name": "static_mask", "mask": "star"}
    tree = {"name": "tree_fine", "tree_height": 2}
    job = trained([static, {"name": "full"}, tree])
    found = examples.example_masks(job)
    assert list(found) == ["patterns_0", "layer_3"]  # a full mask shows nothing
    assert job.plots == ["patterns_0.example.png", "layer_3.example.png"]
    assert found["patterns_0"]["attention"] == "static_mask"
    assert found["patterns_0"]["tokens"] == 20  # of the first example, without padding
    # star: 20 on the diagonal, 38 beside it, and 2 * 18 more with the first token; for all heads
    (sparsity,) = found["patterns_0"]["sparsity of each head"]
    assert sparsity == pytest.approx(1 - 94 / 400)
    summary = "sparsity 76.5 % of 20 tokens"
    assert f"mask | patterns_0, static_mask: {summary}" in capsys.readouterr().out
    assert job.titles[0] == f"static_mask (patterns_0): {summary}\n“who who who who”"


def test_coverage_of_the_own_settings_and_the_cheapest_ones(trained, batch, capsys):
    own = {"name": "mate_efficient", "global_length": 4, "radius": 2, "column_radius": 3}
    job = trained([own, {"name": "full"}])
    found = examples.coverage(job)
    reached = coverage(batch, 4, 2, 3)
    assert 0 < reached < 1
    assert found["mate_efficient"] == {"global_length": 4, "radii": [2, 3], "reached": reached}
    assert "coverage | mate_efficient, G 4, R [2, 3]" in capsys.readouterr().out
    assert list(found["cheapest"]) == ["90%", "95%", "99%", "100%"]
    compared = [row["compared"] for row in found["cheapest"].values()]
    assert compared == sorted(compared)
    for text, row in found["cheapest"].items():
        radii = row["row_radius"], row["column_radius"]
        assert coverage(batch, row["global_length"], *radii) >= float(text[:-1]) / 100 - 1e-9


def test_what_there_is_nothing_to_show_of(trained, capsys):
    assert examples.coverage(trained([{"name": "full"}])) == {}
    configs = [AttentionConfig(name="learned_mask", length=4)]
    assert examples.example_masks(types.SimpleNamespace(configs=configs)) == {}
    nothing = types.SimpleNamespace(has_examples=False, configs=[])
    assert examples.attention_flow(nothing) == {}
    assert examples.table_maps(nothing) == {}
    assert "table | no example with a table" in capsys.readouterr().out
    example = {name: np.zeros([1, 3], np.int32) for name in TableContext.FEATURES}
    job = types.SimpleNamespace(has_examples=True, examples_with_tables=lambda: [example])
    assert examples.table_maps(job) == {}
    assert "none is drawn" in capsys.readouterr().out
