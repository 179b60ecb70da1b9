"""EncoderDecoder: loss, padding, variants of the encoder, cache, learning, start of the decoder."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf import checkpoints
from mate_tf.errors import InputError
from mate_tf.layers.framework import keras
from mate_tf.models.encoder_decoder import EncoderDecoder
from mate_tf.models.pretrainer import PretrainerConfig, TablePretrainer
from tests.models import tiny_decoder


@pytest.fixture(scope="module")
def model():
    keras.utils.set_random_seed(1)  # with it the texts of the batch differ
    return EncoderDecoder(tiny_decoder.tiny())


@pytest.fixture
def features():
    return tiny_decoder.features()


def log_softmax(logits):
    logits = logits - logits.max(axis=-1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_loss(features, smoothing):
    model = EncoderDecoder(tiny_decoder.tiny(label_smoothing=smoothing))
    outputs = model(features)
    logits, labels = outputs["logits"].numpy(), features["target_ids"][:, 1:]
    assert logits.shape == (3, 4, 12)
    probabilities = np.full([3, 4, 12], smoothing / 12)
    np.put_along_axis(probabilities, labels[..., None], 1 - smoothing + smoothing / 12, axis=-1)
    losses = -(probabilities * log_softmax(logits)).sum(axis=-1)
    np.testing.assert_allclose(outputs["example_loss"], losses, rtol=1e-4)
    np.testing.assert_allclose(outputs["total_loss"], losses[labels != 0].mean(), rtol=1e-4)
    np.testing.assert_array_equal(outputs["predictions"], logits.argmax(axis=-1))


def test_padding_changes_nothing(model, features):
    expected = model(features)
    longer = {name: np.pad(ids, [[0, 0], [0, 3]]) for name, ids in features.items()}
    outputs = model(longer)
    np.testing.assert_allclose(outputs["logits"][:, :4], expected["logits"], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(outputs["total_loss"], expected["total_loss"], rtol=1e-5)
    shorter = features | {"input_mask": np.minimum(features["input_mask"], [[1] * 3 + [0] * 7])}
    assert abs(model(shorter)["total_loss"] - expected["total_loss"]) > 1e-3


def test_what_is_missing(model, features):
    del features["target_ids"]
    with pytest.raises(InputError, match="the decoder needs the feature 'target_ids'"):
        model(features)
    with pytest.raises(InputError, match="max_length=9 is more than max_target_positions=8"):
        model.generate(features, max_length=9)


@pytest.mark.parametrize(
    "attention",
    [
        {"name": "tree_fine", "tree_height": 1},
        {"name": "mate_efficient", "global_length": 4, "radius": 4},
        {"name": "learned_mask", "length": tiny_decoder.SOURCE},
    ],
    ids=lambda attention: attention["name"],
)
def test_any_attention_in_the_encoder(features, attention):
    """The target's loss reaches all variables of the encoder but the pooler's."""
    model = EncoderDecoder(tiny_decoder.tiny({"attention": attention}))
    with tf.GradientTape() as tape:
        loss = model(features, training=True)["total_loss"]
    gradients = tape.gradient(loss, model.trainable_variables)
    without = [
        v.name for v, g in zip(model.trainable_variables, gradients, strict=True) if g is None
    ]
    assert without == ["bert/pooler/kernel:0", "bert/pooler/bias:0"]
    assert all(np.isfinite(tf.convert_to_tensor(g)).all() for g in gradients if g is not None)


@pytest.mark.parametrize("beam", [1, 3])
def test_the_cache_changes_no_token(model, features, beam):
    def generate(use_cache):
        options = {"max_length": 7, "min_length": 2, "no_repeat_ngram_size": 2}
        return model.generate(features, beam_size=beam, use_cache=use_cache, **options)

    cached, again = generate(use_cache=True), generate(use_cache=False)
    np.testing.assert_array_equal(cached["ids"], again["ids"])
    np.testing.assert_allclose(cached["scores"], again["scores"], rtol=1e-4)
    assert len(set(map(tuple, cached["ids"].numpy()))) > 1


def test_generates_what_it_was_trained_on(features):
    """In graphs with unknown batch size and lengths, as predictions and exports have them."""
    without = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    model = EncoderDecoder(tiny_decoder.tiny(without | {"initializer_range": 0.1}))
    optimizer = keras.optimizers.Adam(0.01)
    variables = [v for v in model.trainable_variables if "pooler" not in v.name]

    @tf.function(autograph=False)
    def train():
        with tf.GradientTape() as tape:
            loss = model(features, training=True)["total_loss"]
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    losses = [float(train()) for _ in range(60)]
    assert losses[-1] < 0.1 < losses[0]
    signature = {
        name: tf.TensorSpec([None, None], tf.int32) for name in features if name != "target_ids"
    }

    @tf.function(input_signature=[signature], autograph=False)
    def generate(inputs):
        found = [model.generate(inputs, max_length=6, beam_size=beam) for beam in (1, 2)]
        return found[0]["ids"], found[1]["ids"]

    expected = np.pad(features["target_ids"][:, 1:], [[0, 0], [0, 2]])
    for ids in generate({name: features[name] for name in signature}):
        np.testing.assert_array_equal(ids, expected)


def test_mixed_precision(features, bfloat16):
    model = EncoderDecoder(tiny_decoder.tiny())
    outputs = model(features)
    found = model.generate(features, max_length=3, beam_size=2)
    assert outputs["sequence_output"].dtype == tf.bfloat16
    for values in (outputs["logits"], outputs["total_loss"], found["scores"]):
        assert values.dtype == tf.float32
        assert np.isfinite(values).all()


def test_embeddings_are_shared_or_not(model, features):
    table = model.encoder.embeddings.word_embeddings
    assert model.word_embeddings is table
    assert [tuple(v.shape) for v in model.variables].count((12, 16)) == 1
    logits = model(features)["logits"].numpy()
    bias = model.decoder.output_bias
    bias.assign(tf.range(12, dtype=tf.float32))
    np.testing.assert_allclose(model(features)["logits"] - logits, np.tile(bias, [3, 4, 1]), 1e-3)
    bias.assign(tf.zeros([12]))
    apart = EncoderDecoder(tiny_decoder.tiny(share_embeddings=False))
    assert apart.word_embeddings is not apart.encoder.embeddings.word_embeddings
    assert "decoder/embeddings/word_embeddings" in apart.checkpoint_variables()
    twin = EncoderDecoder.from_config(apart.get_config())
    assert twin.get_config() == apart.get_config()
    assert [v.shape for v in twin.variables] == [v.shape for v in apart.variables]
    named = apart.checkpoint_variables()
    assert {id(v) for v in named.values()} == {id(v) for v in apart.variables}


@pytest.mark.parametrize(("number", "chosen"), [(3, [0, 1, 2]), (2, [0, 2])])
def test_start_of_the_decoder(number, chosen):
    """Without cross-attention, the decoder then computes what BERT would under a causal mask."""
    encoder = {"num_hidden_layers": 3, "max_position_embeddings": 6, "disabled_features": []}
    config = tiny_decoder.tiny(encoder, num_decoder_layers=number, share_embeddings=False)
    model = EncoderDecoder(config)
    before = {name: v.numpy() for name, v in model.checkpoint_variables().items()}
    named = model.start_decoder()
    after = {name: v.numpy() for name, v in model.checkpoint_variables().items()}
    changed = {name for name in after if (after[name] != before[name]).any()}
    assert changed <= set(named)
    for layer, source in enumerate(chosen):
        for part in ("attention/self/value/kernel", "output/dense/kernel"):
            ours, theirs = f"decoder/layer_{layer}/{part}", f"bert/encoder/layer_{source}/{part}"
            np.testing.assert_array_equal(after[ours], before[theirs])
            assert ours in changed
    assert not [name for name in named if "cross" in name or name.endswith("output_bias")]
    positions = after["decoder/embeddings/position_embeddings"]
    types = sum(before[f"bert/embeddings/token_type_embeddings_{i}"][0] for i in range(7))
    own = before["bert/embeddings/position_embeddings"] + types
    np.testing.assert_allclose(positions[:6], own, rtol=1e-6)
    kept = before["decoder/embeddings/position_embeddings"][6:]
    np.testing.assert_array_equal(positions[6:], kept)
    np.testing.assert_array_equal(
        after["decoder/embeddings/word_embeddings"], before["bert/embeddings/word_embeddings"]
    )


@pytest.mark.parametrize("of_pretraining", [True, False])
def test_start_from_own_checkpoints(tmp_path, of_pretraining):
    """A pre-trained encoder starts the encoder, a pre-trained encoder-decoder starts both."""
    config = tiny_decoder.tiny()
    if of_pretraining:
        saved = TablePretrainer(PretrainerConfig(encoder=config.encoder))
    else:
        saved = EncoderDecoder(config)
    tf.train.Checkpoint(model=saved, global_step=tf.Variable(1)).save(tmp_path / "ckpt")
    model = EncoderDecoder(config)
    report = checkpoints.load(model, tmp_path)
    assert any("/decoder/" in name for name in report.loaded) == (not of_pretraining)
    assert len(report.loaded) == len((saved.encoder if of_pretraining else saved).variables)
    for ours, theirs in zip(model.encoder.variables, saved.encoder.variables, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    if not of_pretraining:
        for ours, theirs in zip(model.variables, saved.variables, strict=True):
            np.testing.assert_array_equal(ours, theirs)
        fewer = EncoderDecoder(tiny_decoder.tiny(max_target_positions=4))
        with pytest.raises(InputError, match=r"\[8, 16\].*\[4, 16\]: max_target_positions differs"):
            checkpoints.load(fewer, tmp_path)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"end_id": 12}, "end_id=12 is not an id of a piece: encoder.vocab_size is 12"),
        ({"start_id": 0}, "start_id=0 is not an id of a piece"),
        ({"end_id": 1}, "start_id and end_id are both 1"),
        ({"num_decoder_layers": 0}, "num_decoder_layers is 0, expected an integer from 1 to 1000"),
        ({"label_smoothing": 1.0}, "label_smoothing is 1.0, expected a number of 0 or more and"),
    ],
)
def test_config_out_of_range(fields, message):
    with pytest.raises(InputError, match=message):
        EncoderDecoder(tiny_decoder.tiny(**fields))
