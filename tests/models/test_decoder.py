"""Decoder: a decoder in numpy, the causal mask, padding, single steps, names of variables."""

import numpy as np
import pytest
import tensorflow as tf

from mate_tf.errors import InputError
from mate_tf.layers.framework import keras
from mate_tf.models.decoder import Decoder
from tests.models import tiny_decoder

BATCH, TARGET, SOURCE, HIDDEN, HEADS = 3, 5, 6, 16, 2


@pytest.fixture(scope="module")
def config():
    return tiny_decoder.tiny(num_decoder_layers=2)


@pytest.fixture(scope="module")
def decoder(config):
    # Of 150 draws four in a hundred differ by more than the tolerance, from rounding alone.
    keras.utils.set_random_seed(1)
    made = Decoder(config)
    made.build()
    rng = np.random.default_rng(0)
    for variable in made.variables:  # also biases and layer norms, which start with 0 and 1
        variable.assign(variable + rng.normal(0, 0.3, variable.shape))
    return made


def test_layers_are_rebuilt_from_their_configs(decoder):
    for layer in (decoder, decoder.blocks[0]):
        again = type(layer).from_config(layer.get_config())
        assert again.get_config() == layer.get_config()
        assert again.config == layer.config
        again.build()
        assert [v.shape for v in again.variables] == [v.shape for v in layer.variables]


@pytest.fixture(scope="module")
def inputs(config):
    rng = np.random.default_rng(1)
    mask = (np.arange(SOURCE) < np.array([[6], [4], [1]])).astype(np.int32)
    return {
        "ids": rng.integers(0, config.encoder.vocab_size, [BATCH, TARGET]).astype(np.int32),
        "encoded": rng.normal(0, 1, [BATCH, SOURCE, HIDDEN]).astype(np.float32),
        "mask": mask,
        "words": rng.normal(0, 1, [config.encoder.vocab_size, HIDDEN]).astype(np.float32),
    }


def decoded(decoder, inputs, **changed):
    """Returns the outputs for whole targets, <float32>[batch, target, hidden]."""
    given = inputs | changed
    memories = decoder.memories(tf.constant(given["encoded"]), tf.constant(given["mask"]))
    return decoder(tf.constant(given["ids"]), memories, tf.constant(given["words"])).numpy()


class NumpyDecoder:
    """The same computation in float64, for one example at a time without padding."""

    def __init__(self, decoder, words):
        self.values = {
            name.removeprefix("decoder/"): variable.numpy().astype(np.float64)
            for name, variable in decoder.checkpoint_variables().items()
        }
        self.words = words.astype(np.float64)

    def dense(self, name, x):
        return x @ self.values[f"{name}/kernel"] + self.values[f"{name}/bias"]

    def norm(self, name, x):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-12)
        return x * self.values[f"{name}/gamma"] + self.values[f"{name}/beta"]

    def attend(self, name, x, keys, causal):
        query, key, value = (
            self.dense(f"{name}/self/{part}", y).reshape(len(y), HEADS, HIDDEN // HEADS)
            for part, y in (("query", x), ("key", keys), ("value", keys))
        )
        mixed = np.zeros_like(query)
        for head in range(HEADS):
            for row in range(len(x)):
                last = row + 1 if causal else len(keys)
                scores = key[:last, head] @ query[row, head] / np.sqrt(HIDDEN // HEADS)
                weights = np.exp(scores - scores.max())
                mixed[row, head] = weights / weights.sum() @ value[:last, head]
        y = self.dense(f"{name}/output/dense", mixed.reshape(len(x), HIDDEN))
        return self.norm(f"{name}/output/LayerNorm", x + y)

    def __call__(self, ids, encoded):
        positions = self.values["embeddings/position_embeddings"][: len(ids)]
        x = self.norm("embeddings/LayerNorm", self.words[ids] + positions)
        for layer in ("layer_0", "layer_1"):
            x = self.attend(f"{layer}/attention", x, x, causal=True)
            x = self.attend(f"{layer}/crossattention", x, encoded, causal=False)
            y = self.dense(f"{layer}/intermediate/dense", x)
            y = 0.5 * y * (1 + np.tanh(np.sqrt(2 / np.pi) * (y + 0.044715 * y**3)))
            x = self.norm(f"{layer}/output/LayerNorm", x + self.dense(f"{layer}/output/dense", y))
        return x

    def logits(self, x):
        return x @ self.words.T + self.values["output_bias"]


def test_equals_numpy(decoder, inputs):
    expected = NumpyDecoder(decoder, inputs["words"])
    found = decoded(decoder, inputs)
    for example in range(BATCH):
        real = inputs["encoded"][example, inputs["mask"][example] > 0]
        x = expected(inputs["ids"][example], real)
        np.testing.assert_allclose(found[example], x, rtol=1e-5, atol=1e-5)
        logits = decoder.logits(tf.constant(found[example]), tf.constant(inputs["words"]))
        np.testing.assert_allclose(logits, expected.logits(x), rtol=1e-5, atol=1e-4)


def test_a_token_depends_on_itself_and_those_before(decoder, inputs):
    before = decoded(decoder, inputs)
    ids = inputs["ids"].copy()
    ids[:, 3] = (ids[:, 3] + 1) % 12
    after = decoded(decoder, inputs, ids=ids)
    np.testing.assert_array_equal(after[:, :3], before[:, :3])
    assert (np.abs(after - before)[:, 3:].max(axis=-1) > 1e-3).all()


def test_padding_of_the_source_does_not_matter(decoder, inputs):
    before = decoded(decoder, inputs)
    padding = inputs["mask"][..., None] == 0
    changed = np.where(padding, 7.0, inputs["encoded"]).astype(np.float32)
    np.testing.assert_allclose(decoded(decoder, inputs, encoded=changed), before, atol=1e-6)
    other = np.where(padding, inputs["encoded"], 7.0).astype(np.float32)
    assert np.abs(decoded(decoder, inputs, encoded=other) - before).max() > 0.1


@pytest.mark.parametrize("beam", [1, 2])
def test_steps_are_the_whole(decoder, inputs, beam):
    """Each hypothesis of a beam attends to the memory of its own example, and to its own past."""
    rng = np.random.default_rng(2)
    ids = rng.integers(0, 12, [BATCH * beam, TARGET]).astype(np.int32)
    repeated = {name: np.repeat(inputs[name], beam, axis=0) for name in ("encoded", "mask")}
    expected = decoded(decoder, inputs, ids=ids, **repeated)
    memories = decoder.memories(tf.constant(inputs["encoded"]), tf.constant(inputs["mask"]))
    cache = decoder.empty_cache(BATCH * beam, TARGET + 1)
    words = tf.constant(inputs["words"])
    for index in range(TARGET):
        x, cache = decoder.step(tf.constant(ids[:, index]), index, cache, memories, words)
        np.testing.assert_allclose(x, expected[:, index], rtol=1e-5, atol=1e-5)


def test_targets_that_are_too_long(decoder, inputs):
    ids = np.ones([BATCH, tiny_decoder.POSITIONS + 1], np.int32)
    with pytest.raises(InputError, match=r"max_target_positions.* 8 tokens, but .* longer: 9"):
        decoded(decoder, inputs, ids=ids)


def test_each_variable_has_a_name(decoder):
    named = decoder.checkpoint_variables()
    assert {id(v) for v in named.values()} == {id(v) for v in decoder.variables}
    assert "decoder/layer_1/crossattention/output/LayerNorm/gamma" in named
    block = decoder.blocks[1]
    own = set(block.checkpoint_variables()) - set(block.variables_of_encoder())
    assert own
    assert all(name.startswith("crossattention/") for name in own)
