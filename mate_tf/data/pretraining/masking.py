"""Masks words for pre-training. Masks are drawn for each batch, so they differ in each epoch."""

import dataclasses
import os

import numpy as np
import tensorflow as tf
from official.modeling.hyperparams import base_config

from mate_tf.data import padding
from mate_tf.data.converters.tokenizer import CLS, CONTINUATION, MASK, PAD, SEP, read_vocabulary
from mate_tf.errors import InputError
from mate_tf.field_types import Share, Tokens
from mate_tf.layers.shapes import shape_list

MASK_SHARE, RANDOM_SHARE = 0.8, 0.1
"""Shares of the chosen tokens that become [MASK] and a random piece; others are kept (BERT)."""


@dataclasses.dataclass
class MaskingConfig(base_config.Config):
    """Options of masking; the defaults are those of BERT and google-research/tapas.

    Attributes:
        masked_lm_prob: share of the tokens to mask; at least one token is masked.
        max_predictions_per_seq: largest number of masked tokens in an example.
        mask_whole_cells: mask cells of the table as a whole (TAPAS paper), not word by word.
    """

    masked_lm_prob: Share = 0.15
    max_predictions_per_seq: Tokens = 20
    mask_whole_cells: bool = False


class Masking:
    """Masks random words of each example.

    ```
    masking = Masking("vocab.txt", MaskingConfig())
    masked = masking(batch, seed=[0, step])
    ```

    A word is masked with all its pieces or not at all. Words are taken in random order until no
    other word fits into the number of tokens to mask. The replacement is drawn for each token.
    Special tokens, padding and padding examples are never masked.

    Args:
        vocab_file: WordPiece vocabulary, one piece per line.
        config: a MaskingConfig.

    Raises:
        InputError: if the vocabulary cannot be read or lacks [MASK].
    """

    def __init__(self, vocab_file: str | os.PathLike, config: MaskingConfig):
        pieces = read_vocabulary(vocab_file)
        if MASK not in pieces:
            raise InputError(f"{vocab_file}: the vocabulary lacks {MASK}")
        self._config = config
        self._mask_id = pieces.index(MASK)
        self._continues = np.array([piece.startswith(CONTINUATION) for piece in pieces])
        self._special = np.array([piece in (PAD, CLS, SEP) for piece in pieces])
        # [UNK], [unused12] and the like are not words, so they are not replacements.
        self._ordinary = np.array(
            [i for i, p in enumerate(pieces) if not (p.startswith("[") and p.endswith("]"))],
            np.int32,
        )

    def __call__(self, batch: dict, seed, real=None) -> dict:
        """Masks a batch; the same seed gives the same masks.

        Args:
            batch: dict with input_ids, input_mask, column_ids and row_ids, <int32>[batch, seq].
            seed: <int>[2].
            real: <bool>[batch], the example mask. None: `padding.table_example_mask`.

        Returns:
            the batch with new input_ids, and with masked_lm_positions and masked_lm_ids
            <int32>[batch, max_predictions_per_seq], in the order of the sequence, and
            masked_lm_weights <float32>[batch, max_predictions_per_seq], 0 for unused entries.
        """
        seeds = tf.unstack(tf.random.experimental.stateless_split(seed, 3), num=3)
        if real is None:
            real = padding.table_example_mask(batch)
        chosen = self._choose(batch, real, seeds[0])
        positions, weights = self._positions(chosen)
        return {
            **batch,
            "input_ids": tf.where(
                chosen, self._replacements(batch["input_ids"], *seeds[1:]), batch["input_ids"]
            ),
            "masked_lm_positions": positions,
            "masked_lm_ids": tf.gather(batch["input_ids"], positions, axis=1, batch_dims=1)
            * tf.cast(weights, tf.int32),
            "masked_lm_weights": weights,
        }

    def _choose(self, batch, real, seed):
        """Draws the tokens to mask, <bool>[batch, seq], in the examples of `real` <bool>[batch]."""
        size, length = shape_list(batch["input_ids"])
        eligible = padding.real_tokens(batch["input_mask"])
        eligible &= ~tf.gather(self._special, batch["input_ids"])
        eligible &= real[:, None]
        begins = eligible & ~(self._continues_word(batch) & _shifted(eligible))
        # <int32>[batch, seq]: number of the token's word; 0 for tokens before the first word.
        word = tf.maximum(tf.cumsum(tf.cast(begins, tf.int32), axis=1) - 1, 0)
        flat = word + tf.range(size)[:, None] * length
        lengths = tf.math.unsorted_segment_sum(tf.cast(eligible, tf.int32), flat, size * length)
        lengths = tf.reshape(lengths, [size, length])
        budget = self._num_to_mask(batch["input_mask"])
        order = tf.argsort(tf.random.stateless_uniform([size, length], seed), axis=1)
        taken = _take_while_they_fit(tf.gather(lengths, order, axis=1, batch_dims=1), budget)
        taken = tf.gather(taken, tf.argsort(order, axis=1), axis=1, batch_dims=1)
        return eligible & tf.gather(taken, word, axis=1, batch_dims=1)

    def _continues_word(self, batch):
        """Returns <bool>[batch, seq], true for tokens masked together with the previous one."""
        rows, columns = batch["row_ids"], batch["column_ids"]
        same_cell = tf.equal(rows, _shifted(rows)) & tf.equal(columns, _shifted(columns))
        continues = tf.gather(self._continues, batch["input_ids"])
        if self._config.mask_whole_cells:
            continues |= columns > 0
        return continues & same_cell

    def _num_to_mask(self, input_mask):
        """Returns <int32>[batch], the number of tokens to mask, for <int32>[batch, seq]."""
        tokens = tf.cast(tf.reduce_sum(input_mask, axis=1), tf.float32)
        wanted = tf.cast(tf.round(tokens * self._config.masked_lm_prob), tf.int32)
        return tf.clip_by_value(wanted, 1, self._config.max_predictions_per_seq)

    def _positions(self, chosen):
        """Lists the positions of the chosen tokens <bool>[batch, seq].

        Returns <int32>[batch, max_predictions_per_seq] and weights <float32>, 0 for unused entries.
        """
        size, count = shape_list(chosen)[0], self._config.max_predictions_per_seq
        chosen = tf.concat([chosen, tf.zeros([size, count], tf.bool)], axis=1)
        positions = tf.argsort(tf.cast(~chosen, tf.int32), axis=1, stable=True)[:, :count]
        real = tf.gather(chosen, positions, axis=1, batch_dims=1)
        return tf.where(real, positions, 0), tf.cast(real, tf.float32)

    def _replacements(self, input_ids, seed, piece_seed):
        """Draws the replacement <int32>[batch, seq] of each token, used if it is chosen."""
        draw = tf.random.stateless_uniform(tf.shape(input_ids), seed)
        others = tf.gather(
            self._ordinary,
            tf.random.stateless_uniform(
                tf.shape(input_ids), piece_seed, 0, len(self._ordinary), tf.int32
            ),
        )
        kept = tf.where(draw < MASK_SHARE + RANDOM_SHARE, others, input_ids)
        return tf.where(draw < MASK_SHARE, self._mask_id, kept)


def _shifted(x):
    """Shifts <dtype>[batch, seq] by one token to the right; the first value is 0 or False."""
    return tf.pad(x[:, :-1], [[0, 0], [1, 0]])


def _take_while_they_fit(lengths, budget):
    """Takes the words of each example in order, each if it still fits: <bool>[batch, words].

    Args are <int32>[batch, words], the tokens of each word or 0, and <int32>[batch], the room.
    """

    def a_run(taken, open_, left):
        # All words before the first one that does not fit are taken. That one never fits later.
        fits = open_ & (lengths <= left[:, None])
        total = tf.cumsum(tf.where(fits, lengths, 0), axis=1)
        now = fits & (total <= left[:, None])
        spent = tf.reduce_sum(tf.where(now, lengths, 0), axis=1)
        return taken | now, fits & ~now, left - spent

    taken, _, _ = tf.while_loop(
        lambda taken, open_, left: tf.reduce_any(open_),
        a_run,
        (tf.zeros_like(lengths, tf.bool), lengths > 0, budget),
    )
    return taken
