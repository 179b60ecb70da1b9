"""Generates targets with a decoder: greedy search and beam search of tf-models.

The score of a target is its log-probability / ((5 + length) / 6) ** length_penalty, where length
counts all tokens with [SEP] (Wu et al., 2016). Log-probabilities are negative, so a higher
penalty prefers longer targets; 0 compares plain probabilities.

A target that reaches the largest length gets [SEP] as its last token, whatever its probability, as
in BART. So it competes with targets that ended before. Otherwise tf-models' beam search would
prefer any target that ended, even with a probability near zero.
"""

from collections.abc import Callable

import tensorflow as tf
from official.nlp.modeling.ops import beam_search, sampling_module

from mate_tf.attention.mask_rows import MASKED_SCORE
from mate_tf.errors import InputError
from mate_tf.layers.shapes import shape_list

PADDING_ID = 0
"""Id of [PAD], which follows the end of a target."""


def search(
    next_logits: Callable,
    cache: dict,
    batch_size,
    *,
    vocab_size: int,
    start_id: int,
    end_id: int,
    max_length: int,
    beam_size: int = 1,
    length_penalty: float = 0.6,
    min_length: int = 0,
    no_repeat_ngram_size: int = 0,
) -> dict:
    """Searches the target with the highest score for each example.

    With a beam of 1 the most probable token is taken at each step (greedy search). Wider beams end
    when no hypothesis can get a higher score than the best finished one.

    Args:
        next_logits: function of ids <int32>[batch * beam, index + 1], [CLS] and the tokens so far;
            index <int32>[], number of tokens so far; and the cache. Returns logits
            <float32>[batch * beam, vocab] of the next token and the new cache.
        cache: nested dict of <float32>[batch, ...], given to the first call of `next_logits` once
            for each hypothesis.
        batch_size: int or <int32>[], number of examples.
        start_id: id of [CLS]. It is never generated, and neither is padding.
        end_id: id of [SEP].
        max_length: largest number of tokens, with [SEP].
        beam_size: number of hypotheses that are kept.
        length_penalty: exponent of the length, see the module.
        min_length: least number of tokens before [SEP], less than `max_length`.
        no_repeat_ngram_size: no sequence of this many tokens occurs twice in a target; 0: any may.

    Returns:
        dict with
        ids: <int32>[batch, max_length], the tokens with [SEP], then 0.
        scores: <float32>[batch].

    Raises:
        InputError: if an argument is out of its range.
    """
    _check(beam_size, length_penalty, max_length, min_length, no_repeat_ngram_size)
    is_end = tf.range(vocab_size) == end_id
    is_special = (tf.range(vocab_size) == PADDING_ID) | (tf.range(vocab_size) == start_id)

    def allowed_logits(ids, index, cache):
        logits, cache = next_logits(ids, index, cache)
        if no_repeat_ngram_size:
            logits = without_repetition(logits, ids[:, 1:], no_repeat_ngram_size)
        banned = (
            is_special | (is_end & (index < min_length)) | (~is_end & (index == max_length - 1))
        )
        return tf.where(banned, MASKED_SCORE, logits), cache

    start = tf.fill([batch_size], start_id)
    if beam_size == 1:
        # tf-models' beam search of width 1 is not greedy: it returns a target that ended with the
        # second most probable token, if that has the higher score.
        greedy = sampling_module.SamplingModule(
            allowed_logits, vocab_size, max_length, end_id, padded_decode=False
        )
        ids, log_probs = greedy.generate(start, cache)
        length = tf.math.count_nonzero(ids[:, 1:], axis=1, dtype=tf.float32)
        scores = log_probs[:, 0] / tf.pow((5 + length) / 6, length_penalty)
    else:
        ids, scores = beam_search.sequence_beam_search(
            allowed_logits,
            start,
            cache,
            vocab_size,
            beam_size,
            length_penalty,
            max_length,
            end_id,
        )
        ids, scores = ids[:, 0], scores[:, 0]
    # [batch, 1 + steps] -> [batch, max_length], without [CLS]
    ids = tf.pad(ids[:, 1:], [[0, 0], [0, max_length + 1 - tf.shape(ids)[1]]])
    return {"ids": tf.ensure_shape(ids, [None, max_length]), "scores": scores}


def _check(beam_size, length_penalty, max_length, min_length, no_repeat_ngram_size):
    """Raises InputError if an argument of `search` is out of its range."""
    for name, value, least in (
        ("beam_size", beam_size, 1),
        ("length_penalty", length_penalty, 0),
        ("max_length", max_length, 1),
        ("min_length", min_length, 0),
        ("no_repeat_ngram_size", no_repeat_ngram_size, 0),
    ):
        if value < least:
            raise InputError(f"{name} is {value}, expected {least} or more")
    if min_length >= max_length:
        raise InputError(f"min_length={min_length} leaves no room for [SEP] in {max_length=}")


def without_repetition(logits: tf.Tensor, ids: tf.Tensor, size: int) -> tf.Tensor:
    """Lowers the logits of tokens that would repeat a sequence of `size` tokens.

    Args:
        logits: <float32>[hypotheses, vocab] of the next token.
        ids: <int32>[hypotheses, length], the tokens so far.
        size: number of tokens of the sequences, 1 or more.

    Returns:
        <float32>[hypotheses, vocab].
    """
    hypotheses, length = shape_list(ids)
    number = tf.maximum(length - size + 1, 0)  # of sequences of this size in ids
    # [hypotheses, number]: whether the sequence begins with the last size - 1 tokens of ids
    begins = tf.ones([hypotheses, number], tf.bool)
    for position in range(size - 1):
        last = length - size + 1 + position
        begins &= ids[:, position : position + number] == ids[:, last : last + 1]
    starts = tf.where(begins)
    ends = tf.gather_nd(ids, starts + tf.constant([0, size - 1], tf.int64))
    indices = tf.stack([tf.cast(starts[:, 0], tf.int32), ends], axis=1)
    return tf.tensor_scatter_nd_add(logits, indices, tf.fill([tf.size(ends)], MASKED_SCORE))
