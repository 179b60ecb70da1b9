"""Packed examples of `mate_efficient`: in blocks of their own, with the outputs they have alone."""

import types

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from mate_tf.attention import AttentionConfig, TableContext
from mate_tf.attention.mate_heads import window_length
from mate_tf.attention.mate_packed import SHORT_BLOCKS, ChunkTensors, attention_by_chunks
from mate_tf.models.packing import Packing

HIDDEN = 16


def packed_batch(tables, seed, seq, questions, columns=3, num_sequences=None, shortest=1):
    """Tables of all lengths, some with padding within, and the same in shared sequences."""
    rng = np.random.default_rng(seed)
    alone = tables.random_context(rng, seq, questions, columns)
    lengths = rng.integers(shortest, seq + 1, len(questions))
    own = np.arange(seq) < lengths[:, None]
    own[:, shortest:] &= rng.random([len(questions), seq - shortest]) < rng.choice([0.9, 1.0])
    alone = alone.map(lambda part: tf.where(own, part, 0))
    packing = Packing(alone.input_mask, num_sequences)
    context = TableContext.from_features(
        {name: packing.pack(part) for name, part in alone.tensors.items()}
        | {"starts": packing.starts}
    )._replace(examples=packing.examples(alone))
    x = tf.constant(rng.normal(size=[len(questions), seq, HIDDEN]), tf.float32)
    together = tf.reshape(tf.pad(tf.reshape(x, [-1, HIDDEN]), [[0, 1], [0, 0]]), [-1, HIDDEN])
    together = tf.gather(together, context.examples.come_from)
    return types.SimpleNamespace(
        alone=alone, context=context, packing=packing, x=x, together=together
    )


def check_equals_alone(batch, run):
    """Outputs and gradients, both times by buckets if nothing overflows."""
    found = []
    real = tf.cast(batch.alone.input_mask, tf.float32)[:, :, None]
    for x, context, unpack in (
        (batch.x, batch.alone, tf.identity),
        (batch.together, batch.context, batch.packing.unpack),
    ):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = unpack(run(x, context)) * real
            loss = tf.reduce_sum(y**3)
        found.append((y, unpack(tape.gradient(loss, x)) * real))
    for alone, packed in zip(*found, strict=True):
        atol = 1e-5 * max(1, np.abs(alone).max())
        np.testing.assert_allclose(packed, alone, atol=atol, rtol=0)


SIZES = {
    "columns": st.integers(1, 6),
    "global_length": st.integers(0, 12),
    "row_radius": st.integers(1, 5),
    "column_radius": st.integers(1, 5),
    "row_heads_ratio": st.sampled_from([0.0, 0.25, 1.0]),
}


@settings(max_examples=8)
@given(
    seed=st.integers(0, 2**31 - 1),
    questions=st.lists(st.integers(1, 14), min_size=1, max_size=6),
    **SIZES,
)
def test_packed_is_as_alone(tables, seed, questions, columns, **options):
    """With any sizes, and with questions that are longer than the global part."""
    batch = packed_batch(tables, seed, 48, questions, columns)
    check_equals_alone(batch, tables.layer_pair(AttentionConfig(name="mate_efficient", **options)))


OPTIONS = {"global_length": 8, "radius": 3}


@pytest.fixture(scope="module")
def batch(tables):
    return packed_batch(tables, 3, 64, [5, 8, 3, 1, 7, 6, 2, 4], num_sequences=5)


def test_without_the_diagonal(tables):
    """Each token has another one, as the option says: two question tokens."""
    two = packed_batch(tables, 4, 48, [2, 8, 3, 7], shortest=2)
    config = AttentionConfig(name="mate_efficient", diagonal=False, **OPTIONS)
    check_equals_alone(two, tables.layer_pair(config))


def test_no_pairs_but_those_of_blocks_chunks_and_groups(tables, batch):
    """As many blocks and chunks as long examples need, groups of short ones, no other mask."""
    pattern = tables.layer_pair(AttentionConfig(name="mate_efficient", **OPTIONS)).pattern
    found = pattern(batch.context)
    assert not found.by_masks
    assert all(bias.shape[2:] == [0, 0] for bias in found.biases)
    lengths = batch.alone.input_mask.numpy().sum(axis=1)
    window, block = window_length(8, pattern.head_types), 6
    assert window == 8 + 4 * 3
    long = lengths[lengths > 8 + SHORT_BLOCKS * block]
    chunks = -(-long // window)
    assert len(set(chunks)) > 1
    np.testing.assert_array_equal(
        found.packed.chunks.examples, np.repeat(np.arange(len(long)), chunks)
    )
    sizes = [8, 14, 20, 26, 32]
    short = np.histogram(lengths, [1, *np.add(sizes, 1)])[0]
    assert len(long) + short.sum() == len(lengths)
    assert sum(short > 0) > 1
    for part in found.packed.head_types:
        assert part.long.shape == [(-(-(long - 8) // block)).sum(), 2, block]
        assert part.full.shape == [chunks.sum(), 2, window]
        assert [group.indices.shape for group in part.short] == [
            [number, 2, size] for size, number in zip(sizes, short, strict=True)
        ]


def test_by_xla(tables, batch):
    """With as many blocks and chunks as the sequences can need."""
    run = tables.layer_pair(AttentionConfig(name="mate_efficient", row_heads_ratio=1.0, **OPTIONS))

    def packed(x, context):
        return run.layer(x, run.pattern(context))

    compiled = tf.function(packed, jit_compile=True, autograph=False)
    expected = packed(batch.together, batch.context)
    found = compiled(batch.together, batch.context)
    np.testing.assert_allclose(found, expected, atol=1e-5, rtol=0)


def test_a_context_without_examples_is_computed_under_its_mask(tables, batch):
    run = tables.layer_pair(AttentionConfig(name="mate_efficient", **OPTIONS))
    context = batch.context._replace(examples=None)
    assert run.pattern(context).packed is None
    expected = run(batch.together, batch.context)
    np.testing.assert_allclose(run(batch.together, context), expected, atol=1e-5, rtol=0)


def test_dropout_of_chunks_is_that_of_the_probabilities(tables):
    """Of three examples, whose keys are in 2, 1 and 3 chunks; in one nothing may be attended to."""
    run = tables.layer_pair(AttentionConfig(name="mate_efficient", **OPTIONS), dropout_rate=0.4)
    examples, seed = [0, 0, 1, 2, 2, 2], [7, 11]
    rng = np.random.default_rng(0)
    query = rng.normal(size=[3, 2, 5, 4]).astype(np.float32)
    key, value = rng.normal(size=[2, 6, 2, 9, 4]).astype(np.float32)
    bias = np.where(rng.random([6, 1, 5, 9]) < 0.3, -1e9, 0).astype(np.float32)
    bias[4] = -1e9
    chunks = ChunkTensors(tf.constant(examples), 3)
    found = attention_by_chunks(run.layer, chunks, query[examples], key, value, bias, True, seed)
    kept = tf.nn.experimental.stateless_dropout(tf.ones([6, 2, 5, 9]), 0.4, seed).numpy()
    assert 0.3 < (kept == 0).mean() < 0.5
    for example in range(3):
        own = np.equal(examples, example)
        # [heads, queries, keys of all chunks]
        scores = np.einsum("hqd,chkd->hqck", query[example], key[own]) / 2
        scores += bias[own].transpose(1, 2, 0, 3)
        weights = np.exp(scores - scores.max(axis=(2, 3), keepdims=True))
        weights /= weights.sum(axis=(2, 3), keepdims=True)
        weights *= kept[own].transpose(1, 2, 0, 3)
        expected = np.einsum("hqck,chkd->hqd", weights, value[own])
        np.testing.assert_allclose(found[example], expected, atol=1e-5)
