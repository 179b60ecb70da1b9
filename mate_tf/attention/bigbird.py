"""BigBird's block-sparse attention, computed by tf-models (Zaheer et al., 2020).

Only the function of tf-models that computes it is used, not the layer. The layer has projections
under other names, needs lengths that are multiples of the block and at least the 1024 tokens
that its random blocks come from, and seeds NumPy's global generator. Its last block is global too;
here that is always a block of padding, or the mask would depend on how far a batch is padded.
"""

import dataclasses
from typing import Annotated, NamedTuple

import numpy as np
import tensorflow as tf

from mate_tf.attention import masks
from mate_tf.attention.base import AttentionPattern, TableAttention
from mate_tf.errors import InputError
from mate_tf.field_types import CountOrZero, Range, Tokens
from mate_tf.layers.shapes import shape_list

LEAST_BLOCKS = 4
"""Least number of blocks: tf-models computes the first and the last two separately."""

BLOCKS_WITH_RANDOM = 256
"""Blocks with their own random blocks, beyond the blocks that random ones are drawn from."""


@dataclasses.dataclass(frozen=True)
class BigBirdOptions:
    """Options of `bigbird`, the first two with the defaults of tf-models.

    Attributes:
        block_size: tokens of a block. A block attends to itself, to its two neighbours and
            to the first one.
        num_random: random blocks that a block also attends to; they differ between heads.
        random_within: number of tokens at the start of the input that random blocks come from.
            Blocks behind the end of an input have no effect.
        seed: seed of the random blocks, which all layers share.
    """

    block_size: Tokens = 64
    num_random: Annotated[int, Range(0, 1_000_000)] = 3
    random_within: Tokens = 1024
    seed: CountOrZero = 0


class BigBirdTensors(NamedTuple):
    """Tensors of `BigBirdPattern`, named as the arguments of tf-models' function.

    Attributes:
        band_mask: <float>[batch, 1, blocks - 4, block, 3 * block].
        from_mask: <float>[batch, 1, padded seq, 1], 0 for padding.
        to_mask: <float>[batch, 1, 1, padded seq], 0 for padding.
        blocked_mask: <float>[batch, blocks, block], 0 for padding.
        rand_attn: <int32>[heads, blocks - 2, num_random], the random blocks.
    """

    band_mask: tf.Tensor
    from_mask: tf.Tensor
    to_mask: tf.Tensor
    blocked_mask: tf.Tensor
    rand_attn: tf.Tensor


class BigBirdPattern(AttentionPattern):
    """Pattern of the masks of tf-models' function and the random blocks of each head.

    Raises:
        InputError: an option out of range.
    """

    def __init__(self, config, num_heads, **kwargs):
        super().__init__(config, num_heads, **kwargs)
        self.random_blocks = random_blocks(self.config, num_heads)

    def mask(self, context):
        return masks.bigbird(context, self.random_blocks, self.config.block_size)

    def call(self, context, training=None):
        from official.nlp.modeling.layers import bigbird_attention

        block = self.config.block_size
        real = tf.cast(masks.real_tokens(context), self.compute_dtype)
        batch, seq = shape_list(real)
        num_blocks = -(-seq // block) + 1
        least = max if isinstance(seq, int) else tf.maximum
        num_blocks = least(num_blocks, LEAST_BLOCKS)
        real = tf.pad(real, [[0, 0], [0, num_blocks * block - seq]])
        # [batch, blocks * block] -> [batch, blocks, block]
        blocked = tf.reshape(real, [batch, num_blocks, block])
        indices = tf.minimum(tf.range(num_blocks - 2), self.random_blocks.shape[1] - 1)
        # [heads, blocks - 2, random]
        chosen = tf.gather(tf.constant(self.random_blocks), indices, axis=1)
        return BigBirdTensors(
            band_mask=bigbird_attention.create_band_mask_from_inputs(blocked, blocked),
            from_mask=real[:, None, :, None],
            to_mask=real[:, None, None, :],
            blocked_mask=blocked,
            # The last block, which is padding, replaces blocks behind the end of the input.
            rand_attn=tf.minimum(chosen, num_blocks - 1),
        )


class BigBird(TableAttention):
    """Attention of each block to a few blocks: time and memory linear in the length."""

    has_pair_probabilities = True

    @classmethod
    def flops(cls, config, num_heads, hidden_size, length):
        """Counts the first and last block with all keys, others with five and random blocks."""
        block, random = config.block_size, config.num_random
        blocks = max(-(-length // block) + 1, LEAST_BLOCKS)  # the last one is of padding
        pairs = 2 * blocks + 2 * (4 + random) + (blocks - 4) * (5 + random)
        return 4 * hidden_size * block**2 * pairs

    def attend(self, query, key, value, pattern: BigBirdTensors, training=None):
        from official.nlp.modeling.layers import bigbird_attention

        batch, seq, _, _ = shape_list(query)
        length = shape_list(pattern.to_mask)[-1]
        # [batch, seq, heads, head_size] -> [batch, length, heads, head_size]
        paddings = [[0, 0], [0, length - seq], [0, 0], [0, 0]]
        query, key, value = (
            tf.pad(x, paddings)
            for x in (query / self.softmax_temperature, key, self.drop_keys(value, training))
        )
        context = bigbird_attention.bigbird_block_sparse_attention(
            query,
            key,
            value,
            pattern.band_mask,
            pattern.from_mask,
            pattern.to_mask,
            pattern.blocked_mask,
            pattern.blocked_mask,
            pattern.rand_attn,
            self.num_heads,
            self.config.num_random,
            self.head_size,
            batch,
            length,
            length,
            self.config.block_size,
            self.config.block_size,
        )
        return context[:, :seq]


def random_blocks(config, num_heads: int) -> np.ndarray:
    """Draws random blocks as tf-models does, the same ones for inputs of any length.

    Args:
        num_heads: number of heads; each has its own draw.

    Returns:
        <int32>[heads, blocks, num_random], for blocks 1, 2, …; blocks behind the last one have its
        random blocks. They are distinct, and never the first block, the query's own or its
        neighbours.

    Raises:
        InputError: an option out of range.
    """
    from official.nlp.modeling.layers import bigbird_attention

    block, count, within = config.block_size, config.num_random, config.random_within
    if count < 1:
        raise InputError(f"num_random={count} must be 1 or more")
    if within < (count + 4) * block:
        raise InputError(
            f"random_within={within} leaves no {count} random blocks of {block} to each block; "
            f"it must be {(count + 4) * block} or more"
        )
    length = (within // block + BLOCKS_WITH_RANDOM) * block
    state = np.random.get_state()  # tf-models draws from NumPy's global generator
    try:
        np.random.seed(config.seed)
        heads = [
            bigbird_attention.bigbird_block_rand_mask(length, length, block, block, count, within)
            for _ in range(num_heads)
        ]
    finally:
        np.random.set_state(state)
    return np.stack(heads)
