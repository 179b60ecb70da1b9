"""Sequences without a table: their interactions, tokens and examples."""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mate_tf.data import interactions
from mate_tf.data.converters.example_features import (
    Conversion,
    Rebuilt,
    complete,
    example_features,
    to_example,
)
from mate_tf.data.converters.tokenizer import (
    CLS,
    REQUIRED_PIECES,
    SEP,
    Tokenizer,
    read_vocabulary,
)
from mate_tf.data.features import SEQUENCE, TARGET
from mate_tf.errors import InputError
from mate_tf.files.atomic import write_text
from mate_tf.protos import interaction_pb2, second_text_pb2
from mate_tf.tables.linearize import ConversionError, Cut

if TYPE_CHECKING:
    import tensorflow as tf

NO_TEXT = "No text"
NO_PAIR = "No pair of texts"
NO_CHOICES = "Another number of choices"
CUT, TARGET_CUT = "sequence tokens", "target tokens"

WORD_PIECES, BYTES, SYMBOLS = "word_pieces", "bytes", "symbols"
"""Kinds of tokens."""

BYTE_PIECES = tuple(f"<0x{value:02X}>" for value in range(256))
"""Names of the bytes in a vocabulary."""

_PER_TOKEN = [feature.name for feature in SEQUENCE if feature.per_token]
_SECOND = second_text_pb2.SecondText.second_text_ext
_SPECIAL = 2  # [CLS] and [SEP] of a target


def interaction(
    name: str,
    texts: Sequence[str],
    *,
    class_index: int | None = None,
    value: float | None = None,
) -> interaction_pb2.Interaction:
    """Makes the interaction of one sequence, of a pair, or of a text with choices.

    Args:
        name: unique name in the data set; the ids are made from it.
        texts: one text, two texts, or a text and its choices. Symbols are separated by spaces.
        class_index: the gold class; None if it is unknown.
        value: the gold number, in regression tasks.
    """
    first, *second = texts
    result = interaction_pb2.Interaction(id=interactions.create_interaction_id(name))
    question = result.questions.add(
        id=interactions.create_question_id(result.id, 0), original_text=first
    )
    if second:
        question.Extensions[_SECOND].text.extend(second)
    question.answer.SetInParent()
    if class_index is not None:
        question.answer.class_index = class_index
    if value is not None:
        question.answer.float_value = value
    return result


def texts(question: interaction_pb2.Question) -> list[str]:
    """Returns the texts of a question made by `interaction`."""
    second = question.Extensions[_SECOND].text if question.HasExtension(_SECOND) else []
    return [question.original_text, *second]


class WordPieces:
    """BERT's uncased word pieces; see `data.converters.tokenizer`.

    Args:
        vocab_file: vocabulary, one piece per line.

    Attributes:
        vocab_file: path of the vocabulary.
        pieces: the vocabulary.
        ends_with_sep: True if there is a [SEP] after each text, as in BERT.

    Raises:
        InputError: if the vocabulary cannot be used.
    """

    ends_with_sep = True

    def __init__(self, vocab_file: str | os.PathLike):
        self.vocab_file = os.fspath(vocab_file)
        self._tokenizer = Tokenizer(vocab_file)
        self.pieces = self._tokenizer.pieces

    def encode(self, texts: Sequence[str]) -> list[np.ndarray]:
        """Returns the ids <int32>[num_pieces] of each text."""
        ids, row_splits, _ = self._tokenizer.encode(texts)
        return np.split(ids, row_splits[1:-1])


class Bytes:
    """Bytes of the text in UTF-8; arguments, attributes and errors as for `WordPieces`."""

    ends_with_sep = False

    def __init__(self, vocab_file: str | os.PathLike):
        self.vocab_file = os.fspath(vocab_file)
        self.pieces = read_vocabulary(vocab_file)
        ids = {piece: index for index, piece in enumerate(self.pieces)}
        missing = [piece for piece in BYTE_PIECES if piece not in ids]
        if missing:
            raise InputError(f"{vocab_file}: is not a byte vocabulary: it lacks {missing[0]}")
        self._ids = np.array([ids[piece] for piece in BYTE_PIECES], np.int32)

    def encode(self, texts: Iterable[str]) -> list[np.ndarray]:
        """Returns the ids <int32>[num_bytes] of each text."""
        return [self._ids[np.frombuffer(text.encode("utf-8"), np.uint8)] for text in texts]


class Symbols:
    """Symbols separated by spaces; arguments, attributes and errors as for `WordPieces`.

    A symbol that is not in the vocabulary becomes [UNK].
    """

    ends_with_sep = False

    def __init__(self, vocab_file: str | os.PathLike):
        self.vocab_file = os.fspath(vocab_file)
        self.pieces = read_vocabulary(vocab_file)
        self._ids = {piece: index for index, piece in enumerate(self.pieces)}
        self._unknown = self._ids["[UNK]"]

    def encode(self, texts: Iterable[str]) -> list[np.ndarray]:
        """Returns the ids <int32>[num_symbols] of each text."""
        return [
            np.array([self._ids.get(symbol, self._unknown) for symbol in text.split()], np.int32)
            for text in texts
        ]


TOKENS = {WORD_PIECES: WordPieces, BYTES: Bytes, SYMBOLS: Symbols}
"""Kinds of tokens, by their name in `conversion.tokens`. A vocabulary has one piece per line."""


def make_vocabulary(path: str | os.PathLike, pieces: Iterable[str]) -> None:
    """Writes a vocabulary: the special pieces, then `pieces`, one per line."""
    text = "".join(f"{piece}\n" for piece in (*REQUIRED_PIECES, *pieces))
    write_text(path, text)


class SequenceConverter(Rebuilt):
    """Converts sequences and pairs of sequences to examples.

    A single sequence is [CLS] and its tokens. A pair is [CLS], the tokens of the first text with
    segment id 0 and those of the second with segment id 1. With word pieces there is a [SEP] after
    each text, as in BERT. Texts that are too long lose their last tokens; in a pair the longer text
    is cut first.

    With two towers the model encodes each text separately: each text has half of the length and its
    own [CLS]. With choices the model encodes each choice separately: each choice is a pair with the
    first text, and has an equal part of the length.

    The converter has the methods of `ExampleConverter` that `data.records.create_data` calls, and
    it can be pickled.

    Args:
        vocab_file: vocabulary, one piece per line.
        max_seq_length: length of every feature per token; shorter sequences are padded.
        tokens: kind of tokens, a key of `TOKENS`.
        num_towers: 1 or 2.
        num_choices: number of texts that may follow the first one; 1 for single texts and pairs.

    Raises:
        InputError: if the vocabulary cannot be used, `tokens` is unknown, or the length cannot be
            divided among towers or choices.
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
            raise InputError(f"conversion.tokens: {tokens!r} is not one of {', '.join(TOKENS)}")
        for number, of_what in ((num_towers, "towers"), (num_choices, "choices")):
            if number < 1 or max_seq_length % number:
                raise InputError(
                    f"max_seq_length={max_seq_length} cannot be divided among {number} {of_what}"
                )
        super().__init__(
            vocab_file,
            max_seq_length=max_seq_length,
            tokens=tokens,
            num_towers=num_towers,
            num_choices=num_choices,
        )
        self.max_seq_length = max_seq_length
        self._num_towers, self._num_choices = num_towers, num_choices
        self._length = max_seq_length // (num_towers * num_choices)
        self._tokens = TOKENS[tokens](vocab_file)
        ids = {piece: index for index, piece in enumerate(self._tokens.pieces)}
        self._start = np.array([ids[CLS]], np.int32)
        self._end = np.array([ids[SEP]] if self._tokens.ends_with_sep else [], np.int32)

    def convert(
        self, interaction: interaction_pb2.Interaction, question_index: int = 0
    ) -> "tf.train.Example":
        """Converts one question.

        Returns:
            example with all features of `features.SEQUENCE`; features per token have the shape
            [max_seq_length].

        Raises:
            ConversionError: if a text has no tokens, if there is no pair for two towers, if the
                number of choices differs, or if the id is too long.
        """
        question = interaction.questions[question_index]
        return self._conversion(question, self._tokens.encode(self._texts(question))).example

    def convert_all(
        self, *found: interaction_pb2.Interaction
    ) -> Iterator[Conversion | ConversionError]:
        """Converts all questions of the interactions; yields a conversion or an error for each."""
        questions = [question for interaction in found for question in interaction.questions]
        read = [self._texts(question) for question in questions]
        encoded = iter(self._tokens.encode([text for each in read for text in each]))
        for question, its_texts in zip(questions, read, strict=True):
            try:
                yield self._conversion(question, [next(encoded) for _ in its_texts])
            except ConversionError as error:
                yield error

    def _texts(self, question) -> list[str]:
        """Returns the texts of a question, in the order in which `_conversion` gets their ids."""
        return texts(question)

    def empty_example(self) -> "tf.train.Example":
        """Returns an example of one token, [CLS], to fill up batches."""
        return to_example(self._empty())

    def _empty(self) -> dict[str, np.ndarray]:
        question = interaction_pb2.Question(id=interactions.PADDING_QUESTION_ID)
        return self._values(question, [[self._start]])

    def _conversion(self, question, encoded: Sequence[np.ndarray]) -> Conversion:
        """Converts a question with the ids <int32>[tokens] of its texts."""
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
        return Conversion(self._values(question, parts), (Cut(CUT, lost),) if lost else ())

    def _fitted(self, texts: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Cuts the tokens of one or two texts so that they fit into a sequence."""
        room = self._length - len(self._start) - len(self._end) * len(texts)
        if len(texts) == 1:
            return [texts[0][:room]]
        first, second = texts
        # Each text has at least half of the room, and more if the other text is shorter.
        first = first[: max(room - len(second), room - room // 2)]
        return [first, second[: room - len(first)]]

    def _delimited(self, texts: Sequence[np.ndarray]) -> list[np.ndarray]:
        first, *others = (np.concatenate([ids, self._end]) for ids in texts)
        return [np.concatenate([self._start, first]), *others]

    def _values(self, question, sequences: Sequence[Sequence[np.ndarray]]) -> dict[str, np.ndarray]:
        """Makes the features of sequences of texts, each padded to its part of the length.

        Segment ids are positions of texts in their sequence, or with towers those of sequences.
        """
        values = {name: np.zeros(self.max_seq_length, np.int32) for name in _PER_TOKEN}
        for number, parts in enumerate(sequences):
            begin = number * self._length
            for position, ids in enumerate(parts):
                tokens = slice(begin, begin + len(ids))
                values["input_ids"][tokens] = ids
                values["input_mask"][tokens] = 1
                values["segment_ids"][tokens] = number if self._num_towers > 1 else position
                begin += len(ids)
        return complete(values | example_features(question), self.max_seq_length, SEQUENCE)


def _num_tokens(sequences: Sequence[Sequence[np.ndarray]]) -> int:
    return sum(len(ids) for texts in sequences for ids in texts)


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
        self._options = {
            "max_seq_length": max_seq_length,
            "max_target_length": max_target_length,
            "tokens": tokens,
        }
        self.max_target_length = max_target_length
        # Targets of all kinds of tokens end with [SEP], by which a decoder knows that they end.
        self._target_end = np.array([self._tokens.pieces.index(SEP)], np.int32)

    def _empty(self) -> dict[str, np.ndarray]:
        return self._with_target(super()._empty(), [])

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
            self._with_target(made.values, np.concatenate([self._start, kept, self._target_end])),
            (*made.cuts, Cut(TARGET_CUT, lost)) if lost else made.cuts,
        )

    def _with_target(self, values, ids: Sequence[int] | np.ndarray) -> dict[str, np.ndarray]:
        padded = np.zeros(self.max_target_length, np.int32)
        padded[: len(ids)] = ids
        return values | {TARGET.name: padded}
