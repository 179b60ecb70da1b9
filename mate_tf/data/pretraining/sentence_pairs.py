"""Sentences to pairs of segments for masked words and next sentences (BERT, appendix A.2)."""

import itertools
import random
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from mate_tf.data.converters.tokenizer import Tokenizer
from mate_tf.data.pretraining.documents import Document
from mate_tf.errors import InputError

NEXT, RANDOM = 0, 1
"""What follows segment A: its own next sentences, or some of another document."""

_SENTENCES_AT_ONCE = 20_000
_SPECIAL = 3  # [CLS] A [SEP] B [SEP]


class Pair(NamedTuple):
    """What becomes an example.

    Attributes:
        texts: segments A and B; only A without next sentences.
        label: NEXT or RANDOM.
    """

    texts: tuple[str, ...]
    label: int


class Packer:
    """Packs the sentences of documents into segments, as many as fit.

    Sentences are taken from a document as long as they fit into `max_seq_length` (or a random part
    of it, in `short_seq_prob` of the examples). A random number of them is segment A. B is the
    rest or, by chance and where nothing is left, sentences from a random place of another
    document; what A leaves then begins the next pair. A sentence that is longer than half an
    example is cut into equal parts. Examples do not go over the end of a document.

    All documents are in memory.

    Args:
        documents: at least two, for random next sentences.
        tokenizer: counts word pieces.
        max_seq_length: of examples, special tokens included.
        next_sentence: False: there is only segment A, with all sentences that fit.
        random_next_prob: share of pairs whose B is from another document. Those that have no next
            sentence count; there may be so many of them that the share comes out larger.
        short_seq_prob: see above.

    Raises:
        InputError: there is only one document.
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
        """The pairs of one pass through all documents; the same seed gives the same ones."""
        draw = random.Random(seed)
        owed = 0  # pairs that are to have their next sentence, for those that had none
        for index, (sentences, lengths) in enumerate(self._documents):
            begin = 0
            while begin < len(sentences):
                room = self._room
                if draw.random() < self._short_seq_prob:
                    room = draw.randint(2, room)
                end = _end(lengths, begin, room)
                if not self._next_sentence:
                    yield Pair((" ".join(sentences[begin:end]),), NEXT)
                    begin = end
                    continue
                # Two sentences always fit into a whole example.
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
                    second = _from_random_place(*self._another(index, draw), left, draw)
                    end, label = cut, RANDOM
                yield Pair((" ".join(sentences[begin:cut]), " ".join(second)), label)
                begin = end

    def _another(self, index: int, draw):
        """Sentences and lengths of another document."""
        other = draw.randrange(len(self._documents) - 1)
        return self._documents[other + (other >= index)]

    def _measured(self, documents, tokenizer) -> list[tuple[list[str], np.ndarray]]:
        """Sentences that are short enough, and their numbers of word pieces, by document."""
        found = []
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
                    # Of words as long as each other; a little more than that does no harm.
                    lengths += [-(-int(length) // len(parts))] * len(parts)
                found.append((sentences, np.array(lengths)))
        return found

    def _parts(self, text: str, length: int) -> list[str]:
        count = -(-length // self._longest)
        if count == 1:
            return [text]
        words = text.split()
        ends = [len(words) * part // count for part in range(count + 1)]
        return [" ".join(words[a:b]) for a, b in itertools.pairwise(ends) if a < b]


def _chunk(documents) -> list[Document]:
    """Documents with some thousand sentences together; none at the end."""
    found, count = [], 0
    for document in documents:
        found.append(document)
        count += len(document.sentences)
        if count >= _SENTENCES_AT_ONCE:
            break
    return found


def _end(lengths, begin: int, room: int) -> int:
    """Behind the last sentence that fits; at least one is taken."""
    return begin + max(1, int(np.searchsorted(np.cumsum(lengths[begin:]), room, side="right")))


def _from_random_place(sentences, lengths, room: int, draw) -> list[str]:
    begin = draw.randrange(len(sentences))
    return sentences[begin : _end(lengths, begin, room)]
