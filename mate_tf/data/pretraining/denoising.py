"""BART's noise (Lewis et al., 2020): text infilling and sentence permutation."""

import dataclasses
import os
import zlib
from collections.abc import Sequence
from typing import Annotated

import numpy as np
from official.modeling.hyperparams import base_config

from mate_tf.data.converters.example_features import Conversion
from mate_tf.data.converters.sequences import TargetConverter, texts
from mate_tf.data.converters.tokenizer import CONTINUATION, MASK
from mate_tf.errors import InputError
from mate_tf.field_types import CountOrZero, Range, Share


@dataclasses.dataclass
class NoiseConfig(base_config.Config):
    """Options of the noise; the defaults are those of BART's large model (its section 3).

    Attributes:
        masked_share: share of the words in spans that are masked.
        span_length: mean of the Poisson distribution of the words in a span. A span without words
            is a [MASK] between two words.
        permute_sentences: whether sentences come in random order.
        seed: seed of the noise.
    """

    masked_share: Share = 0.3
    span_length: Annotated[float, Range(1, 1_000)] = 3.0
    permute_sentences: bool = True
    seed: CountOrZero = 0


def spans(words: int, config: NoiseConfig, draw: np.random.Generator) -> list[tuple[int, int]]:
    """Draws the spans of words to mask.

    Lengths are drawn until they add up to the share of the words, rounded; the last one is cut to
    it. All places of the spans among the other words are equally probable.

    Args:
        config: share and mean length.

    Returns:
        list of (first word, word after the last one), in the order of the text. Both are equal for
        a span without words. Spans do not overlap, but may touch.
    """
    budget, lengths = round(words * config.masked_share), []
    while budget:
        lengths.append(min(int(draw.poisson(config.span_length)), budget))
        budget -= lengths[-1]
    draw.shuffle(lengths)
    kept = words - sum(lengths)
    # Places of the spans in the sequence of spans and words that are kept.
    places = np.sort(draw.choice(kept + len(lengths), size=len(lengths), replace=False))
    result, masked = [], 0
    for number, (place, length) in enumerate(zip(places.tolist(), lengths, strict=True)):
        begin = place - number + masked
        result.append((begin, begin + length))
        masked += length
    return result


def infill(
    ids: np.ndarray, starts: np.ndarray, mask_id: int, config: NoiseConfig, draw
) -> np.ndarray:
    """Replaces spans of words by one [MASK] each (text infilling).

    Args:
        ids: <int32>[tokens].
        starts: <bool>[tokens], true for the first token of a word.
        mask_id: id of [MASK].
        config: see `spans`.

    Returns:
        <int32>[tokens of the noisy text].
    """
    bounds = np.append(np.flatnonzero(starts), len(ids))
    parts, end = [], 0
    for first, last in spans(len(bounds) - 1, config, draw):
        parts += [ids[end : bounds[first]], [mask_id]]
        end = bounds[last]
    return np.concatenate([*parts, ids[end:]]).astype(np.int32)


class DenoisingConverter(TargetConverter):
    """Converts the sentences of a text to an example: the noisy text, and the text as its target.

    The texts of a question are its sentences. Each question has its own noise, which depends on its
    id and the seed only. So all runs, with any number of processes, give the same examples.

    Args:
        vocab_file: WordPiece vocabulary, one piece per line, with [MASK].
        max_seq_length: length of every feature per token.
        max_target_length: length of `target_ids`.
        noise: fields of a `NoiseConfig`.

    Raises:
        InputError: if the vocabulary cannot be used, or it lacks [MASK].
    """

    def __init__(
        self,
        vocab_file: str | os.PathLike,
        max_seq_length: int = 512,
        *,
        max_target_length: int = 512,
        noise: dict | None = None,
    ):
        super().__init__(vocab_file, max_seq_length, max_target_length=max_target_length)
        self._noise = NoiseConfig(**noise or {})
        pieces = self._tokens.pieces
        if MASK not in pieces:
            raise InputError(f"{vocab_file}: the vocabulary lacks {MASK}")
        self._mask_id = pieces.index(MASK)
        self._starts = np.array([not piece.startswith(CONTINUATION) for piece in pieces])
        del self._options["tokens"]
        self._options["noise"] = noise

    def _texts(self, question) -> list[str]:
        return texts(question)

    def _conversion(self, question, encoded: Sequence[np.ndarray]) -> Conversion:
        """Converts a question with the ids <int32>[tokens] of its sentences."""
        draw = np.random.default_rng([self._noise.seed, zlib.crc32(question.id.encode())])
        order = np.arange(len(encoded))
        if self._noise.permute_sentences:
            draw.shuffle(order)
        ids = np.concatenate([encoded[index] for index in order.tolist()])
        starts = self._starts[ids]
        starts[0] = True
        noisy = infill(ids, starts, self._mask_id, self._noise, draw)
        return super()._conversion(question, [noisy, np.concatenate(list(encoded))])
