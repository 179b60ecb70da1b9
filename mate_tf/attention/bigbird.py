"""BigBird's block-sparse attention, computed by tf-models (Zaheer et al., 2020).

Of tf-models the function that computes it is used, not the layer: this one has projections of its
own names, takes lengths that are multiples of the block only and none below the 1024 tokens that
its random blocks come from, and seeds all of NumPy. Its last block is global too; here that is
always one of padding, or what is seen would depend on how far a batch is padded.
"""

import dataclasses

import numpy as np
import tensorflow as tf

from mate_tf.attention import masks
from mate_tf.attention.base import AttentionPattern, TableAttention, shape_list
from mate_tf.errors import InputError

LEAST_BLOCKS = 4
"""tf-models computes the first and the last two by themselves."""

ROWS = 256
"""Blocks with random ones of their own, beyond those that random ones are drawn from."""


@dataclasses.dataclass(frozen=True)
class BigBirdOptions:
    """Options of `bigbird`, the first two with the defaults of tf-models.

    Attributes:
        block_size: tokens of a block, of which each sees its own, the two beside it and the first.
        num_random: random blocks that a block sees as well, others in each head.
        random_within: random blocks come from the first tokens of the input, so many. Those that an
            input does not have are not seen.
        seed: of the random blocks, which are the same in all layers.
    """

    block_size: int = 64
    num_random: int = 3
    random_within: int = 1024
    seed: int = 0


class BigBirdPattern(AttentionPattern):
    """The masks of tf-models' function and the random blocks of each head.

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
        blocked = tf.reshape(real, [batch, num_blocks, block])
        rows = tf.minimum(tf.range(num_blocks - 2), self.random_blocks.shape[1] - 1)
        chosen = tf.gather(tf.constant(self.random_blocks), rows, axis=1)
        return {
            "band_mask": bigbird_attention.create_band_mask_from_inputs(blocked, blocked),
            "from_mask": real[:, None, :, None],
            "to_mask": real[:, None, None, :],
            "blocked_mask": blocked,
            # the last block, of padding, in place of those that are not there
            "rand_attn": tf.minimum(chosen, num_blocks - 1),
        }


class BigBird(TableAttention):
    """Blocks of queries with a few blocks of keys: time and memory linear in the length."""

    @classmethod
    def flops(cls, config, num_heads, hidden_size, length):
        """First and last block with all; the others with both of them, three and random ones."""
        block, random = config.block_size, config.num_random
        blocks = max(-(-length // block) + 1, LEAST_BLOCKS)  # the last one is of padding
        pairs = 2 * blocks + 2 * (4 + random) + (blocks - 4) * (5 + random)
        return 4 * hidden_size * block**2 * pairs

    def attend(self, query, key, value, pattern, training=None):
        from official.nlp.modeling.layers import bigbird_attention

        batch, seq, _, _ = shape_list(query)
        length = shape_list(pattern["to_mask"])[-1]
        filling = [[0, 0], [0, length - seq], [0, 0], [0, 0]]
        query, key, value = (
            tf.pad(x, filling)
            for x in (query / self.softmax_temperature, key, self.drop_keys(value, training))
        )
        context = bigbird_attention.bigbird_block_sparse_attention(
            query,
            key,
            value,
            pattern["band_mask"],
            pattern["from_mask"],
            pattern["to_mask"],
            pattern["blocked_mask"],
            pattern["blocked_mask"],
            pattern["rand_attn"],
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
    """Random blocks as tf-models draws them, the same ones whatever the length of an input.

    Args:
        config: the AttentionConfig.
        num_heads: how many heads draw.

    Returns:
        <int32>[heads, blocks, num_random], for blocks 1, 2, …; those behind the last take its own.
        Never the first block, nor the query's own or one beside it, and none twice.

    Raises:
        InputError: an option out of range.
    """
    from official.nlp.modeling.layers import bigbird_attention

    block, count, within = config.block_size, config.num_random, config.random_within
    if block < 1 or count < 1:
        raise InputError(f"block_size={block} and num_random={count} must be 1 or more")
    if within < (count + 4) * block:
        raise InputError(
            f"random_within={within} leaves no {count} random blocks of {block} to each block; "
            f"it must be {(count + 4) * block} or more"
        )
    length = (within // block + ROWS) * block
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
