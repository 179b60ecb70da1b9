"""Makes pairs of segments for masked words and next sentence prediction (BERT, appendix A.2)."""

import itertools
import random
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from mate_tf.data.converters.tokenizer import Tokenizer
from mate_tf.data.pretraining.documents import Document
from mate_tf.errors import InputError

NEXT, RANDOM = 0, 1
"""Classes of segment B: the next sentences, or sentences of another document."""

_SENTENCES_AT_ONCE = 20_000
_SPECIAL = 3  # [CLS] A [SEP] B [SEP]


class Pair(NamedTuple):
    """Texts of an example.

    Attributes:
        texts: segments A and B; only A without next sentence prediction.
        label: NEXT or RANDOM.
    """

    texts: tuple[str, ...]
    label: int


class Packer:
    """Packs the sentences of documents into segments, as many as fit.

    Sentences are taken from a document while they fit into `max_seq_length` (or a random part of
    it, in `short_seq_prob` of the examples). A random number of them is segment A. Segment B is the
    rest. In some pairs, and if there is no rest, B consists of sentences from a random position of
    another document; the rest then begins the next pair. A sentence that is longer than half an
    example is cut into equal parts. Examples do not continue beyond the end of a document.

    All documents are in memory.

    Args:
        documents: the documents; at least two for next sentence prediction.
        tokenizer: tokenizer that counts word pieces.
        max_seq_length: length of examples, with special tokens.
        next_sentence: make segment B. False: only segment A, with all sentences that fit.
        random_next_prob: share of pairs with B from another document. This includes pairs without a
            next sentence. If there are many of these, the share is larger.
        short_seq_prob: share of shorter examples.

    Raises:
        InputError: if there is only one document.
    """

    def __init__(
        self,
        documents: Iterable[Document],
        tokenizer: Tokenizer,
        max_seq_length: int,
        *,
        next_sentence: bool = True,
        random_next_prob: float = 0.5,
        short_seq_prob: float = 0.1,
    ):
        self._room = max_seq_length - (_SPECIAL if next_sentence else _SPECIAL - 1)
        self._longest = max(1, self._room // 2)
        self._next_sentence, self._random_next_prob = next_sentence, random_next_prob
        self._short_seq_prob = short_seq_prob
        self._documents = self._measured(documents, tokenizer)
        if next_sentence and len(self._documents) < 2:
            raise InputError("random next sentences need another document, but there is only one")

    def pairs(self, seed: int) -> Iterator[Pair]:
        """Yields the pairs of one pass through all documents; the same seed gives equal pairs."""
        if not self._next_sentence:
            for sentences in self.segments(seed):
                yield Pair((" ".join(sentences),), NEXT)
            return
        draw = random.Random(seed)
        # Number of pairs without a next sentence that were drawn as NEXT. As many pairs drawn as
        # RANDOM become NEXT, so that the share stays as configured.
        owed = 0
        for index, (sentences, lengths) in enumerate(self._documents):
            begin = 0
            while begin < len(sentences):
                room = self._drawn_room(draw)
                end = _end(lengths, begin, room)
                # At least two sentences: they always fit into an example of full length.
                end = max(end, min(begin + 2, len(sentences)))
                cut = draw.randint(begin + 1, end - 1) if end - begin > 1 else end
                second, label = sentences[cut:end], NEXT
                is_random = draw.random() < self._random_next_prob
                if not second and not is_random:
                    is_random, owed = True, owed + 1
                elif second and is_random and owed:
                    is_random, owed = False, owed - 1
                if is_random:
                    left = room - int(sum(lengths[begin:cut]))
                    second = _from_random_position(*self._another(index, draw), left, draw)
                    end, label = cut, RANDOM
                yield Pair((" ".join(sentences[begin:cut]), " ".join(second)), label)
                begin = end

    def segments(self, seed: int) -> Iterator[list[str]]:
        """Yields the sentences of each segment A that has all sentences which fit.

        One pass through all documents; the same seed gives equal segments.
        """
        draw = random.Random(seed)
        for sentences, lengths in self._documents:
            begin = 0
            while begin < len(sentences):
                end = _end(lengths, begin, self._drawn_room(draw))
                yield sentences[begin:end]
                begin = end

    def _drawn_room(self, draw) -> int:
        """Returns the number of tokens of an example, which is random in some examples."""
        short = draw.random() < self._short_seq_prob
        return draw.randint(2, self._room) if short else self._room

    def _another(self, index: int, draw):
        """Returns sentences and lengths of a random other document."""
        other = draw.randrange(len(self._documents) - 1)
        return self._documents[other + (other >= index)]

    def _measured(self, documents, tokenizer) -> list[tuple[list[str], np.ndarray]]:
        """Returns, for each document, its sentences, cut if needed, and their lengths in pieces."""
        result = []
        documents = iter(documents)
        while chunk := _chunk(documents):
            encoded = tokenizer.encode_groups(document.sentences for document in chunk)
            for document, encoding in zip(chunk, encoded, strict=True):
                sentences, lengths = [], []
                for text, length in zip(
                    document.sentences, np.diff(encoding.row_splits), strict=True
                ):
                    parts = self._parts(text, int(length))
                    sentences += parts
                    # An estimate, as if all words had the same length. Small errors do no harm.
                    lengths += [-(-int(length) // len(parts))] * len(parts)
                result.append((sentences, np.array(lengths)))
        return result

    def _parts(self, text: str, length: int) -> list[str]:
        """Cuts a sentence of `length` pieces into parts of at most half an example."""
        count = -(-length // self._longest)
        if count == 1:
            return [text]
        words = text.split()
        ends = [len(words) * part // count for part in range(count + 1)]
        return [" ".join(words[a:b]) for a, b in itertools.pairwise(ends) if a < b]


def _chunk(documents) -> list[Document]:
    """Returns the next documents, with some thousand sentences in all; [] at the end."""
    result, count = [], 0
    for document in documents:
        result.append(document)
        count += len(document.sentences)
        if count >= _SENTENCES_AT_ONCE:
            break
    return result


def _end(lengths, begin: int, room: int) -> int:
    """Returns the end of the sentences that fit; at least one sentence is taken."""
    return begin + max(1, int(np.searchsorted(np.cumsum(lengths[begin:]), room, side="right")))


def _from_random_position(sentences, lengths, room: int, draw) -> list[str]:
    """Returns the sentences from a random one on that fit."""
    begin = draw.randrange(len(sentences))
    return sentences[begin : _end(lengths, begin, room)]
