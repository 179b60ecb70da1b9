"""Interactions without a table to tf.train.Examples."""

import os
from collections.abc import Iterator, Sequence

import numpy as np
import tensorflow as tf

from mate_tf.data import interactions
from mate_tf.data.converters.example_features import example_features, to_example
from mate_tf.data.converters.examples import Conversion
from mate_tf.data.converters.sequences.sequence import texts
from mate_tf.data.converters.sequences.tokens import TOKENS
from mate_tf.data.converters.tokenizer import CLS, SEP
from mate_tf.data.features import SEQUENCE
from mate_tf.errors import InputError
from mate_tf.protos import interaction_pb2
from mate_tf.tables.linearize import ConversionError, Cut

NO_TEXT = "No text"
NO_PAIR = "No pair of texts"
NO_CHOICES = "Another number of choices"
CUT = "sequence tokens"

_PER_TOKEN = [feature.name for feature in SEQUENCE if feature.per_token]


class SequenceConverter:
    """Converts sequences and pairs of them to examples.

    A sequence is [CLS] and its tokens, a pair [CLS], the first one's and the second one's, told
    apart by segment ids 0 and 1. Word pieces have a [SEP] behind each text, as in BERT. What is too
    long loses its last tokens, of a pair the longer one first.

    With two towers each text has half of the length and a [CLS] for itself, because a model
    encodes them one by one. So it does with choices: each of them is a pair with the first text,
    and has its share of the length.

    It has what `data.records.create_data` calls of an `ExampleConverter`, and can be sent to other
    processes.

    Args:
        vocab_file: one piece a line.
        max_seq_length: length of every feature per token; shorter sequences are padded.
        tokens: what a text is cut into, a key of `TOKENS`.
        num_towers: 1 or 2.
        num_choices: texts that go with the first one; 1: it stands alone or in a pair.

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
        num_choices: int = 1,
    ):
        if tokens not in TOKENS:
            raise InputError(f"conversion.tokens: {tokens!r} is none of {', '.join(TOKENS)}")
        for number, of_what in ((num_towers, "towers"), (num_choices, "choices")):
            if number < 1 or max_seq_length % number:
                raise InputError(
                    f"max_seq_length={max_seq_length} cannot be divided among {number} {of_what}"
                )
        self._state = (
            (os.fspath(vocab_file), max_seq_length),
            {
                "tokens": tokens,
                "num_towers": num_towers,
                "num_choices": num_choices,
            },
        )
        self.max_seq_length = max_seq_length
        self._num_towers, self._num_choices = num_towers, num_choices
        self._length = max_seq_length // (num_towers * num_choices)
        self._tokens = TOKENS[tokens](vocab_file)
        ids = {piece: index for index, piece in enumerate(self._tokens.pieces)}
        self._start = np.array([ids[CLS]], np.int32)
        self._end = np.array([ids[SEP]] if self._tokens.ends_with_sep else [], np.int32)

    @property
    def vocab_file(self) -> str:
        """The vocabulary."""
        return self._state[0][0]

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
            ConversionError: a text has no tokens, two towers have no pair, there are more or fewer
                choices, or the id is too long.
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
        return self._example(question, [[self._start]])

    def _conversion(self, question, encoded: Sequence[np.ndarray]) -> Conversion:
        where = f"question {question.id}"
        if not all(len(ids) for ids in encoded):
            raise ConversionError(NO_TEXT, "", where)
        if len(encoded) < self._num_towers:
            raise ConversionError(NO_PAIR, "", where)
        if self._num_choices not in (1, len(encoded) - 1):
            raise ConversionError(NO_CHOICES, f"{len(encoded) - 1}", where)
        first, *others = encoded
        if self._num_towers > 1:
            sequences = [[ids] for ids in encoded]
        elif self._num_choices > 1:
            sequences = [[first, ids] for ids in others]
        else:
            sequences = [encoded]
        cut = [self._fitted(texts) for texts in sequences]
        lost = _num_tokens(sequences) - _num_tokens(cut)
        parts = [self._delimited(texts) for texts in cut]
        return Conversion(self._example(question, parts), (Cut(CUT, lost),) if lost else ())

    def _fitted(self, texts: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The tokens of one or two texts that fit into a sequence."""
        room = self._length - len(self._start) - len(self._end) * len(texts)
        if len(texts) == 1:
            return [texts[0][:room]]
        first, second = texts
        # Each may have what the other leaves, and half in any case.
        first = first[: max(room - len(second), room - room // 2)]
        return [first, second[: room - len(first)]]

    def _delimited(self, texts: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The texts of a sequence with the special tokens around them."""
        first, *others = (np.concatenate([ids, self._end]) for ids in texts)
        return [np.concatenate([self._start, first]), *others]

    def _example(self, question, sequences: Sequence[Sequence[np.ndarray]]) -> tf.train.Example:
        """The example of these sequences, each padded to its share of the length.

        A text's segment is its place in the sequence, or with towers that of the sequence.
        """
        values = {name: np.zeros(self.max_seq_length, np.int32) for name in _PER_TOKEN}
        for number, parts in enumerate(sequences):
            begin = number * self._length
            for place, ids in enumerate(parts):
                tokens = slice(begin, begin + len(ids))
                values["input_ids"][tokens] = ids
                values["input_mask"][tokens] = 1
                values["segment_ids"][tokens] = number if self._num_towers > 1 else place
                begin += len(ids)
        return to_example(values | example_features(question), self.max_seq_length, SEQUENCE)


def _num_tokens(sequences: Sequence[Sequence[np.ndarray]]) -> int:
    return sum(len(ids) for texts in sequences for ids in texts)
