"""Converts texts with a text to write, such as a summary, to tf.train.Examples."""

import os
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from mate_tf.data.converters.examples import Conversion
from mate_tf.data.converters.sequences.converter import SequenceConverter
from mate_tf.data.converters.sequences.sequence import texts
from mate_tf.data.features import TARGET
from mate_tf.errors import InputError
from mate_tf.tables.linearize import Cut

CUT = "target tokens"

_SPECIAL = 2  # [CLS] and [SEP]


class TargetConverter(SequenceConverter):
    """Converts a text and, as its target, the first of its answer's texts.

    The input is that of `SequenceConverter` for a single text. `target_ids` are [CLS], the tokens
    of the target and [SEP], then 0. A target that is too long loses its last tokens and keeps its
    [SEP]. A question without an answer, as in a test set without gold texts, has an empty target.

    Args:
        vocab_file: vocabulary, one piece per line.
        max_seq_length: length of every feature per token; shorter sequences are padded.
        max_target_length: length of `target_ids`.
        tokens: kind of tokens, a key of `TOKENS`.

    Raises:
        InputError: if the vocabulary cannot be used, `tokens` is unknown, or there is no room for
            a token of the target.
    """

    def __init__(
        self,
        vocab_file: str | os.PathLike,
        max_seq_length: int = 512,
        *,
        max_target_length: int = 256,
        tokens: str = "word_pieces",
    ):
        super().__init__(vocab_file, max_seq_length, tokens=tokens)
        if max_target_length <= _SPECIAL:
            raise InputError(
                f"max_target_length={max_target_length}: must be more than {_SPECIAL}, the number "
                "of special tokens"
            )
        options = {"max_target_length": max_target_length, "tokens": tokens}
        self._state = (self._state[0], options)
        self.max_target_length = max_target_length
        # Targets of all kinds of tokens end with [SEP], by which a decoder knows that they end.
        self._target_end = np.array([self._tokens.pieces.index("[SEP]")], np.int32)

    def empty_example(self) -> tf.train.Example:
        """Returns an example of one token, [CLS], with nothing to write, to fill up batches."""
        return self._with_target(super().empty_example(), [])

    def _texts(self, question) -> list[str]:
        """Returns the text and the target; only the text if there is no target."""
        return [*texts(question), *question.answer.answer_texts[:1]]

    def _conversion(self, question, encoded: Sequence[np.ndarray]) -> Conversion:
        """Converts a question with the ids <int32>[tokens] of its text and its target."""
        source, *targets = encoded
        made = super()._conversion(question, [source])
        target = targets[0] if targets else np.zeros([0], np.int32)
        kept = target[: self.max_target_length - _SPECIAL]
        lost = len(target) - len(kept)
        return Conversion(
            self._with_target(made.example, np.concatenate([self._start, kept, self._target_end])),
            (*made.cuts, Cut(CUT, lost)) if lost else made.cuts,
        )

    def _with_target(self, example, ids: Sequence[int]) -> tf.train.Example:
        """Adds `target_ids` to an example."""
        padded = np.zeros(self.max_target_length, int)
        padded[: len(ids)] = ids
        example.features.feature[TARGET.name].int64_list.value.extend(padded.tolist())
        return example
