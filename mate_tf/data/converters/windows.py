"""Converts questions about a text to examples, with several windows for a long text.

The text is the only cell of a table, and spans are predicted as in the cells of POINTR.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mate_tf.data import interactions
from mate_tf.data.converters.example_features import (
    Rebuilt,
    complete,
    example_features,
    to_example,
)
from mate_tf.data.converters.offsets import Offsets
from mate_tf.data.converters.tokenizer import Tokenizer
from mate_tf.errors import InputError
from mate_tf.protos import answer_spans_pb2, interaction_pb2
from mate_tf.tables.linearize import ConversionError, Cut

if TYPE_CHECKING:
    import tensorflow as tf

CUT = "question tokens"

_NUM_SPECIAL = 3  # [CLS] and two [SEP]
_SPANS = answer_spans_pb2.AnswerSpans.answer_spans_ext
_WINDOW_ID = re.compile(r"(?P<example>.+)/(?P<start>\d+)(?P<end>-[^-]+_\d+)", re.DOTALL)


def text_of(interaction: interaction_pb2.Interaction) -> str:
    """Returns the text that the questions are about."""
    return interaction.table.rows[0].cells[0].text


def window_id(question_id: str, start: int) -> str:
    """Returns the id of a window: "4e5f/128-0_0" for question "4e5f-0_0" and first token 128."""
    example, annotator, position = interactions.parse_question_id(question_id)
    return f"{example}/{start}-{annotator}_{position}"


def parse_window_id(text: str) -> tuple[str, int]:
    """Splits a `window_id` into question id and first token.

    Raises:
        InputError: if the text is not a window id.
    """
    match = _WINDOW_ID.fullmatch(text)
    if match is None:
        raise InputError(f"question id {text!r} is not <example>/<first token>-<annotator>_<n>")
    return match["example"] + match["end"], int(match["start"])


class Windows(NamedTuple):
    """The examples of one question, one per window, and the parts of the question they lack.

    Attributes:
        values: all features of each example, name -> array; see `example_features.complete`.
        cuts: descriptions of the missing parts.
    """

    values: tuple[Mapping[str, np.ndarray], ...]
    cuts: tuple[Cut, ...] = ()

    @property
    def examples(self) -> tuple["tf.train.Example", ...]:
        """The examples, made anew each time."""
        return tuple(map(to_example, self.values))


class WindowConverter(Rebuilt):
    """Converts questions about texts to examples.

    An example is [CLS], the question, [SEP], a window of the text, [SEP]. The segment id is 0 for
    the question and 1 for the window. The window is the cell in row 1 and column 1. Each window
    begins `doc_stride` tokens after the previous one, and the last window ends with the text.

    Labels are 1 for the tokens of the first answer with a known position, in windows that contain
    all of it. In other windows, and for questions without an answer, [CLS] is labelled. If there
    are answers but no position is known, nothing is labelled.

    The converter has the methods of `ExampleConverter` that `data.records.create_data` calls, and
    it can be pickled.

    Args:
        vocab_file: WordPiece vocabulary, see `Tokenizer`.
        max_seq_length: length of every feature per token; shorter sequences are padded.
        doc_stride: tokens from the beginning of one window to the beginning of the next.
        max_question_length: largest number of tokens of a question; further ones are cut.

    Raises:
        InputError: if the vocabulary cannot be used, or windows would leave tokens out.
    """

    def __init__(
        self,
        vocab_file: str | os.PathLike,
        max_seq_length: int = 384,
        *,
        doc_stride: int = 128,
        max_question_length: int = 64,
    ):
        smallest = max_seq_length - max_question_length - _NUM_SPECIAL
        if max_question_length < 1 or not 1 <= doc_stride <= smallest:
            raise InputError(
                f"conversion: max_seq_length={max_seq_length} and max_question_length="
                f"{max_question_length} leave windows of {smallest} tokens, too few for "
                f"doc_stride={doc_stride} tokens between windows"
            )
        super().__init__(
            vocab_file,
            max_seq_length=max_seq_length,
            doc_stride=doc_stride,
            max_question_length=max_question_length,
        )
        self.max_seq_length = max_seq_length
        self._stride, self._max_question_length = doc_stride, max_question_length
        self._tokenizer = Tokenizer(vocab_file)
        self._offsets = Offsets(self._tokenizer)

    def convert_all(
        self, *found: interaction_pb2.Interaction
    ) -> Iterator[Windows | ConversionError]:
        """Converts all questions of the interactions; yields windows or an error for each."""
        texts = [text_of(interaction) for interaction in found]
        questions = [
            [each.original_text for each in interaction.questions] for interaction in found
        ]
        encoded = self._tokenizer.encode_groups([*([text] for text in texts), *questions])
        every_range = self._offsets.all_ranges(texts)
        for interaction, text, encoded_questions, ranges in zip(
            found, encoded[: len(found)], encoded[len(found) :], every_range, strict=True
        ):
            question_ids = np.split(encoded_questions.ids, encoded_questions.row_splits[1:-1])
            for question, ids in zip(interaction.questions, question_ids, strict=False):
                gold = _gold_tokens(question, ranges)
                table_id = interaction.table.table_id
                try:
                    yield self._conversion(question, table_id, ids, text.ids, gold)
                except ConversionError as error:
                    yield error

    def empty_example(self) -> "tf.train.Example":
        """Returns an example of one token, [CLS], to fill up batches."""
        question = interaction_pb2.Question(id=interactions.PADDING_QUESTION_ID)
        values = {"input_ids": [self._tokenizer.cls_id], "input_mask": [1]}
        return to_example(complete(values | example_features(question), self.max_seq_length))

    def _conversion(self, question, table_id, question_ids, text_ids, gold) -> Windows:
        """Makes the windows of a question; ids are <int32>[tokens], `gold` is of `_gold_tokens`."""
        kept = question_ids[: self._max_question_length]
        lost = len(question_ids) - len(kept)
        room = self.max_seq_length - len(kept) - _NUM_SPECIAL
        beyond = max(len(text_ids) - room, 0)
        values = tuple(
            self._window(question, table_id, kept, text_ids[start : start + room], start, gold)
            for start in range(0, beyond + self._stride, self._stride)
        )
        return Windows(values, (Cut(CUT, lost),) if lost else ())

    def _window(self, question, table_id, question_ids, window, start: int, gold):
        """Makes the features of the window that begins with token `start` of the text."""
        cls, sep = self._tokenizer.cls_id, self._tokenizer.sep_id
        own = np.array([cls, *question_ids, sep, *window, sep])
        begin = len(question_ids) + 2
        inside = slice(begin, begin + len(window))
        in_window, labels, segments = (np.zeros(len(own), int) for _ in range(3))
        in_window[inside] = 1
        segments[begin:] = 1
        if gold is not None:
            first, last = gold
            if start <= first <= last < start + len(window):
                labels[begin + first - start : begin + last + 1 - start] = 1
            else:
                labels[0] = 1
        values = {
            "input_ids": own,
            "input_mask": np.ones(len(own), int),
            "segment_ids": segments,
            "row_ids": in_window,
            "column_ids": in_window,
            "label_ids": labels,
        }
        named = interaction_pb2.Question(id=window_id(question.id, start), answer=question.answer)
        return complete(values | example_features(named, table_id), self.max_seq_length)


_NOWHERE = (-1, -1)


def _gold_tokens(question, ranges: np.ndarray) -> Sequence[int] | None:
    """Finds the first and last token of the first answer with a known position.

    `ranges` <int64>[tokens, 2] are of the text. Returns `_NOWHERE` without an answer; None if there
    are answers but no position is known.
    """
    if not question.answer.answer_texts:
        return _NOWHERE
    for span in question.Extensions[_SPANS].spans if question.HasExtension(_SPANS) else ():
        # All tokens with at least one character of the span.
        first = int(np.searchsorted(ranges[:, 1], span.begin_index, side="right"))
        last = int(np.searchsorted(ranges[:, 0], span.end_index, side="left")) - 1
        if first <= last:
            return first, last
    return None
