"""Interactions without a table to tf.train.Examples."""

import os
from collections.abc import Iterator, Sequence

import numpy as np
import tensorflow as tf

from mate_tf.data import interactions
from mate_tf.data.examples import Conversion
from mate_tf.data.features import SEQUENCE
from mate_tf.data.packing import example_features, to_example
from mate_tf.data.sequences.sequence import texts
from mate_tf.data.sequences.tokens import TOKENS
from mate_tf.data.tokenizer import CLS, SEP
from mate_tf.errors import InputError
from mate_tf.protos import interaction_pb2
from mate_tf.tables.linearize import ConversionError, Cut

NO_TEXT = "No text"
NO_PAIR = "No pair of texts"
CUT = "sequence tokens"

_PER_TOKEN = [feature.name for feature in SEQUENCE if feature.per_token]


class SequenceConverter:
    """Converts sequences and pairs of them to examples.

    A sequence is [CLS] and its tokens, a pair [CLS], the first one's and the second one's, told
    apart by segment ids 0 and 1. Word pieces have a [SEP] behind each text, as in BERT. What is too
    long loses its last tokens, of a pair the longer one first.

    With two towers each text has half of the length and a [CLS] for itself, because a model
    encodes them one by one.

    It has what `data.create_data` calls of an `ExampleConverter`, and can be sent to other
    processes.

    Args:
        vocab_file: one piece a line.
        max_seq_length: length of every feature per token; shorter sequences are padded.
        tokens: what a text is cut into, a key of `TOKENS`.
        num_towers: 1 or 2.

    Raises:
        InputError: the vocabulary cannot be used, or an argument makes no sense.
    """

    def __init__(
        self,
        vocab_file: str | os.PathLike,
        max_seq_length: int = 512,
        *,
        tokens: str = "word_pieces",
        num_towers: int = 1,
    ):
        if tokens not in TOKENS:
            raise InputError(f"conversion.tokens: {tokens!r} is none of {', '.join(TOKENS)}")
        if max_seq_length % num_towers:
            raise InputError(
                f"max_seq_length={max_seq_length} cannot be divided among {num_towers} towers"
            )
        self._state = (
            (os.fspath(vocab_file), max_seq_length),
            {
                "tokens": tokens,
                "num_towers": num_towers,
            },
        )
        self.max_seq_length = max_seq_length
        self._num_towers = num_towers
        self._tokens = TOKENS[tokens](vocab_file)
        ids = {piece: index for index, piece in enumerate(self._tokens.pieces)}
        self._start = np.array([ids[CLS]], np.int32)
        self._end = np.array([ids[SEP]] if self._tokens.ends_with_sep else [], np.int32)

    def __getstate__(self):
        return self._state

    def __setstate__(self, state):
        arguments, options = state
        self.__init__(*arguments, **options)

    def convert(
        self, interaction: interaction_pb2.Interaction, question_index: int = 0
    ) -> tf.train.Example:
        """The example of one question.

        Returns:
            example with all features of `features.SEQUENCE`, those per token [max_seq_length] long.

        Raises:
            ConversionError: a text has no tokens, two towers have no pair, or the id is too long.
        """
        question = interaction.questions[question_index]
        return self._conversion(question, self._tokens.encode(texts(question))).example

    def convert_all(
        self, *found: interaction_pb2.Interaction
    ) -> Iterator[Conversion | ConversionError]:
        """For each question of the interactions its conversion, or why there is none."""
        questions = [question for interaction in found for question in interaction.questions]
        encoded = iter(self._tokens.encode([text for each in questions for text in texts(each)]))
        for question in questions:
            try:
                yield self._conversion(question, [next(encoded) for _ in texts(question)])
            except ConversionError as error:
                yield error

    def empty_example(self) -> tf.train.Example:
        """An example of one token, [CLS], to fill up batches."""
        question = interaction_pb2.Question(id=interactions.PADDING_QUESTION_ID)
        return self._example(question, [self._start], [0])

    def _conversion(self, question, encoded: Sequence[np.ndarray]) -> Conversion:
        where = f"question {question.id}"
        if not all(len(ids) for ids in encoded):
            raise ConversionError(NO_TEXT, "", where)
        if len(encoded) < self._num_towers:
            raise ConversionError(NO_PAIR, "", where)
        lengths = [len(ids) for ids in encoded]
        kept = self._kept(lengths)
        parts = [[ids[:count], self._end] for ids, count in zip(encoded, kept, strict=True)]
        if self._num_towers == 1:
            parts[0].insert(0, self._start)
            padded = len(parts) * [0]
        else:
            parts = [[self._start, *part] for part in parts]
            padded = len(parts) * [self.max_seq_length // self._num_towers]
        example = self._example(question, [np.concatenate(part) for part in parts], padded)
        lost = sum(lengths) - sum(kept)
        return Conversion(example, (Cut(CUT, lost),) if lost else ())

    def _kept(self, lengths: Sequence[int]) -> list[int]:
        """How many tokens of each text fit."""
        room = self.max_seq_length // self._num_towers - len(self._start)
        if self._num_towers > 1:
            return [min(length, room - len(self._end)) for length in lengths]
        room -= len(self._end) * len(lengths)
        if len(lengths) == 1:
            return [min(lengths[0], room)]
        first, second = lengths
        # Each may have what the other leaves, and half in any case.
        first = min(first, max(room - second, room - room // 2))
        return [first, min(second, room - first)]

    def _example(self, question, parts: Sequence[np.ndarray], padded: Sequence[int]):
        """The example of these parts, the first one of segment 0, each padded to a length."""
        values = {name: np.zeros(self.max_seq_length, np.int32) for name in _PER_TOKEN}
        begin = 0
        for segment, (ids, length) in enumerate(zip(parts, padded, strict=True)):
            place = slice(begin, begin + len(ids))
            values["input_ids"][place] = ids
            values["input_mask"][place] = 1
            values["segment_ids"][place] = segment
            begin += max(len(ids), length)
        return to_example(values | example_features(question), self.max_seq_length, SEQUENCE)
