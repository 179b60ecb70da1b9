"""The encoder against recorded outputs of the reference, on real tokens, all layers."""

import json
import warnings

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import checkpoints
from mate_tf.attention import AttentionConfig
from mate_tf.data import features as feature_names
from mate_tf.errors import InputError
from mate_tf.layers.framework import keras
from mate_tf.models.encoder import EncoderConfig, TableEncoder

from .tiny_encoder import tiny

SAME = [
    *("full", "full_reset", "full_nopos", "full_disabled_ranks", "full_temp2", "same_col_or_row"),
    *("same_col_or_row_reset", "headwise_r0.0", "headwise_r0.25", "headwise_r0.5"),
    *("headwise_r1.0", "headwise_r0.5_reset", "headwise_b16_hNone", "headwise_b16_h32"),
    *("headwise_b8_h40", "headwise_b24_h32", "headwise_b16_h32_r0.25", "efficient_b16_hNone"),
    *("efficient_b16_h32", "efficient_b8_h40", "efficient_b24_h32", "efficient_b12_h20"),
    *("efficient_b16_h32_r0.0", "efficient_b16_h32_r0.25", "efficient_b16_h32_r1.0"),
    *("efficient_b16_h32_nosort", "efficient_b16_h32_r0.25_nosort", "efficient_b16_h32_reset"),
    *("efficient_b16_h32_nosort_reset", "efficient_b16_h32_temp2", "efficient_b8_h40_nosort"),
    *("linformer16", "table_attention", "table_attention_dis3"),
]
"""Cases of `open` that must be equal. In the bucketed ones the question fits into the header
section and there are three buckets or more. The reference also lets the first and the last bucket
see each other; were that to matter in one of these tables, its case would fail here."""

DIFFERENT = {
    "open/efficient_b64_h64": "one bucket: the reference counts its keys three times",
    "open/efficient_b32_h64": "two buckets: the reference counts the neighbour's keys twice",
    "open/efficient_b10_h8": "questions of 11 and 16 tokens in a header section of 8",
    "open/headwise_b20_h10": "a question of 16 tokens, header section of 10 (and G != R)",
    "open_long_question/efficient_b8_h8_longq": "a question of 42 tokens, header section of 8",
    "open_long_question/efficient_b8_h8_longq_nosort": "a question of 42 tokens",
    "open_long_question/headwise_b8_h8_longq": "a question of 42 tokens, header section of 8",
    "open_long_question/efficient_b8_h16_longq": "a question of 42 tokens, header section of 16",
    "open_long_question/headwise_b8_h16_longq": "a question of 42 tokens, header section of 16",
}
"""Where the reference departs from the paper, and why: compared with our own windowed mask."""

EQUAL_CASES = [f"open/{name}" for name in SAME] + [
    "open_maxpos/full_reset_maxpos16",
    "open_maxpos/efficient_b16_h32_reset_maxpos16",
    "open_oov_ranks/full_oov",
    "open_oov_ranks/headwise_r0.5_oov",
    "open_long_question/headwise_longq",
]


class Golden:
    """A case: its config, features and expected outputs."""

    def __init__(self, goldens, case):
        path = goldens / "encoder" / case
        stored = json.loads((path.parent / "config.json").read_text())
        flags = dict(stored["cases"][path.name])
        self.bert_config = stored["bert_config"]
        if "softmax_temperature" in flags:
            self.bert_config["softmax_temperature"] = flags.pop("softmax_temperature")
        self.flags = flags
        self.checkpoint = str(path.parent / "model.ckpt")
        with np.load(path.parent / "features.npz") as features:
            self.features = {name: tf.constant(value) for name, value in features.items()}
        with np.load(f"{path}.npz") as expected:
            self.expected = dict(expected)
        self.real = self.features["input_mask"].numpy() == 1

    def encoder(self, **changes):
        config = EncoderConfig.from_tapas(self.bert_config, **self.flags).replace(**changes)
        encoder = TableEncoder(config)
        report = checkpoints.load(encoder, self.checkpoint)
        assert not report.missing
        return encoder


@pytest.mark.parametrize("case", EQUAL_CASES)
def test_equals_the_reference(goldens, case):
    golden = Golden(goldens, case)
    outputs = golden.encoder()(golden.features)
    real, expected = golden.real, golden.expected

    def compare(ours, theirs, where):
        np.testing.assert_allclose(ours.numpy()[where], theirs[where], atol=1e-4, rtol=0)

    compare(outputs["sequence_output"], expected["sequence_output"], real)
    compare(outputs["pooled_output"], expected["pooled_output"], ...)
    layers = outputs["encoder_outputs"]
    assert len(expected["encoder_layers"]) == len(layers) - 1
    for ours, theirs in zip(layers, expected["encoder_layers"], strict=False):
        compare(ours, theirs, real)
    assert layers[-1] is outputs["sequence_output"]
    if "embedding_output" in expected:
        compare(outputs["embedding_output"], expected["embedding_output"], ...)


@pytest.mark.parametrize("case", DIFFERENT)
def test_right_where_the_reference_is_wrong(goldens, case):
    """Equal to the windowed mask on the same weights; the recorded output is really another."""
    golden = Golden(goldens, case)
    encoder = golden.encoder()
    ours = encoder(golden.features)["sequence_output"].numpy()
    options = encoder.config.attention.as_dict()
    other = "mate_efficient" if options.pop("name") == "mate_exact" else "mate_exact"
    options = {"name": other} | {k: v for k, v in options.items() if k != "windowed"}
    if other == "mate_exact":
        options["windowed"] = True
    twin = golden.encoder(attention=options)(golden.features)["sequence_output"].numpy()
    np.testing.assert_allclose(ours, twin, atol=1e-5, rtol=0)
    recorded = golden.expected["sequence_output"]
    assert np.abs(ours - recorded)[golden.real].max() > 0.01, DIFFERENT[case]


def test_every_recorded_case_is_compared(goldens):
    compared = set(EQUAL_CASES) | set(DIFFERENT)
    recorded = set()
    for path in (goldens / "encoder").glob("open*/config.json"):
        cases = json.loads(path.read_text())["cases"]
        recorded |= {f"{path.parent.name}/{name}" for name in cases}
    assert compared == recorded


def some_features(seq=12, batch=2):
    names = feature_names.names(feature_names.MODEL_INPUTS)
    return {name: tf.ones([batch, seq], tf.int32) for name in names}


def test_variant_per_layer():
    encoder = TableEncoder(tiny(attention=[{"name": "full"}, {"name": "mate_exact"}]))
    assert [type(block.attention).__name__ for block in encoder.blocks] == [
        "MaskedAttention",
        "MateExact",
    ]
    assert len(encoder.patterns) == 2
    assert encoder(some_features())["sequence_output"].shape == [2, 12, 8]
    assert len(TableEncoder(tiny(attention=[{"name": "full"}] * 2)).patterns) == 1


@pytest.mark.parametrize("mixed", [False, True])
def test_tokens_of_a_variants_own_do_not_come_out(mixed):
    """In all layers or in one of them: as many outputs as inputs, and the pooler's first token."""
    etc = AttentionConfig(name="table_etc", num_global=4, local_radius=3)
    encoder = TableEncoder(tiny(attention=[AttentionConfig(name="full"), etc] if mixed else etc))
    outputs = encoder(some_features())
    assert [output.shape for output in outputs["encoder_outputs"]] == [[2, 12, 8]] * 2
    assert outputs["embedding_output"].shape == [2, 12, 8]
    first = outputs["sequence_output"][:, 0]
    np.testing.assert_allclose(outputs["pooled_output"], encoder.pooler(first), atol=1e-6)


def test_packing_within_xla(monkeypatch):
    """Into half as many sequences; a batch that needs more is computed as it is, in one program."""
    encoder = TableEncoder(tiny(pack=True, pack_share=0.5, num_hidden_layers=1))
    alone = TableEncoder(tiny(num_hidden_layers=1))
    alone.set_weights(encoder.get_weights())
    packed_layers = encoder._packed_layers

    def twice(*arguments):  # what is packed, is seen
        return [2 * x for x in packed_layers(*arguments)]

    monkeypatch.setattr(encoder, "_packed_layers", twice)

    @tf.function(jit_compile=True, autograph=False)
    def compiled(features):
        return encoder(features)["sequence_output"]

    for lengths, factor in (([12, 4, 6, 2], 2), ([12, 7, 6, 2], 1)):
        real = tf.cast(tf.range(12) < tf.constant(lengths)[:, None], tf.int32)
        features = {name: ids * real for name, ids in some_features(batch=4).items()}
        features["input_ids"] *= tf.range(1, 13)
        expected = alone(features)["sequence_output"] * tf.cast(real, tf.float32)[:, :, None]
        found = compiled(features) * tf.cast(real, tf.float32)[:, :, None]
        np.testing.assert_allclose(found, factor * expected, atol=1e-5)
        assert np.abs(expected).max() > 0.1


def test_tokens_of_two_variants_are_refused():
    two = [{"name": "table_etc", "num_global": 4}, {"name": "table_etc", "num_global": 6}]
    with pytest.raises(InputError, match="that add their own tokens"):
        TableEncoder(tiny(attention=two))


def test_the_pooler_reads_what_pooling_says():
    encoder = TableEncoder(tiny(pooling="max", num_hidden_layers=1))
    outputs = encoder(some_features(seq=6))
    largest = outputs["sequence_output"].numpy().max(axis=1)
    np.testing.assert_allclose(outputs["pooled_output"], encoder.pooler(largest), atol=1e-6)


def test_missing_feature_and_too_long_input_are_named():
    encoder = TableEncoder(tiny())
    features = some_features()
    del features["row_ids"]
    with pytest.raises(InputError, match="'row_ids'"):
        encoder(features)
    with pytest.raises(InputError, match="max_position_embeddings=16"):
        encoder(some_features(seq=17))
    encoder = TableEncoder(tiny(reset_position_index_per_cell=True))
    assert encoder(some_features(seq=40))["sequence_output"].shape == [2, 40, 8]


def test_kernels_and_tables_start_around_zero_with_the_initializer_range():
    encoder = TableEncoder(tiny(hidden_size=64, intermediate_size=128, initializer_range=0.3))
    for variable in encoder.trainable_variables:
        if "kernel" in variable.name or "embeddings_" in variable.name:
            values = variable.numpy()
            assert abs(values.mean()) < 0.1, variable.name
            # truncation at two deviations leaves 0.88 of them
            assert 0.2 < values.std() < 0.4, variable.name


def test_learning_from_scratch_options():
    keras.utils.set_random_seed(1)
    plain = TableEncoder(tiny(vocab_size=2000)).blocks[1].attention
    assert np.abs(plain.query.kernel - plain.key.kernel).max() > 0.01
    encoder = TableEncoder(
        tiny(
            vocab_size=2000,
            key_initialization="query",
            query_key_initializer_range=0.5,
            word_embedding_scale=4.0,
        )
    )
    layer = encoder.blocks[1].attention
    np.testing.assert_array_equal(layer.query.kernel, layer.key.kernel)
    assert np.std(layer.key.kernel) > 5 * np.std(layer.value.kernel)
    first, second = encoder.blocks[0].attention.query.kernel, layer.query.kernel
    assert np.abs(first - second).max() > 0.1
    embeddings = encoder.embeddings
    ratio = np.std(embeddings.word_embeddings) / np.std(embeddings.token_type_embeddings[1])
    assert 3.5 < ratio < 4.5


def test_variables_exist_before_the_first_call_under_their_names():
    names = {variable.name for variable in TableEncoder(tiny(), name="bert").variables}
    assert "bert/blocks_1/attention/query/kernel:0" in names
    assert "bert/embeddings/LayerNorm/gamma:0" in names
    assert len(names) == len(TableEncoder(tiny()).variables)


def test_part_of_a_functional_model(tmp_path):
    names = feature_names.names(feature_names.MODEL_INPUTS)
    inputs = {name: keras.Input([None], dtype=tf.int32, name=name) for name in names}
    encoder = TableEncoder(tiny(num_hidden_layers=1))
    model = keras.Model(inputs, encoder(inputs)["sequence_output"])
    features = {name: tf.ones([1, 12], tf.int32) for name in names}
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    assert isinstance(again.get_layer(encoder.name), TableEncoder)
    np.testing.assert_allclose(again(features), model(features), atol=1e-6)


@pytest.mark.parametrize("name", ["mate_efficient", "tree_fine"])
def test_saved_by_keras(tmp_path, name):
    """As a folder, where all layers of MATE must give tensors, and as a .keras file."""
    length = 400
    encoder = TableEncoder(
        tiny(
            attention=AttentionConfig(name=name),
            num_hidden_layers=1,
            reset_position_index_per_cell=True,
        )
    )
    features = {
        feature: tf.ones([1, length], tf.int32)
        for feature in feature_names.names(feature_names.MODEL_INPUTS)
    }
    expected = encoder(features)["sequence_output"]
    for path, form in ((tmp_path / "folder", "tf"), (tmp_path / "model.keras", "keras")):
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message=".*lambda.*")
            encoder.save(path, save_format=form)
        again = keras.models.load_model(path)
        np.testing.assert_allclose(again(features)["sequence_output"], expected, atol=1e-5)
