"""Pairs of segments: everything is used once and in order, what fits, how many are random."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.data.converters.tokenizer import Tokenizer
from mate_tf.data.pretraining.documents import Document
from mate_tf.data.pretraining.sentence_pairs import NEXT, RANDOM, Packer
from mate_tf.errors import InputError

LENGTH = 16
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


@pytest.fixture(scope="module")
def tokenizer(vocabulary_file):
    return Tokenizer(vocabulary_file([*SPECIAL, "w", *(f"##{digit}" for digit in range(10))]))


def corpus(counts):
    """Documents of sentences with so many words, all words of the corpus being different."""
    number = itertools.count()
    return [
        Document("x", tuple(" ".join(f"w{next(number)}" for _ in range(n)) for n in sentences))
        for sentences in counts
    ]


def words(texts):
    return [word for text in texts for word in text.split()]


COUNTS = st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=6), min_size=2, max_size=8)


@given(counts=COUNTS, seed=st.integers(0, 5), short=st.sampled_from([0.0, 0.5]))
def test_everything_is_there_once_and_in_order(tokenizer, counts, seed, short):
    documents = corpus(counts)
    packer = Packer(documents, tokenizer, LENGTH, short_seq_prob=short)
    home = {w: i for i, document in enumerate(documents) for w in words(document.sentences)}
    used = []
    for (first, second), label in packer.pairs(seed):
        ids = [int(word[1:]) for word in words([first, second])]
        own, other = home[first.split()[0]], home[second.split()[0]]
        assert (label == RANDOM) == (own != other)
        used += words([first])
        if label == NEXT:
            used += words([second])
            assert ids == list(range(ids[0], ids[0] + len(ids)))
        for text in (first, second):
            numbers = [int(word[1:]) for word in text.split()]
            assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert used == words(s for document in documents for s in document.sentences)


@given(counts=COUNTS, seed=st.integers(0, 5))
def test_without_next_sentences(tokenizer, counts, seed):
    documents = corpus(counts)
    packer = Packer(documents, tokenizer, LENGTH, next_sentence=False, short_seq_prob=0.0)
    found = list(packer.pairs(seed))
    assert {pair.label for pair in found} == {NEXT}
    assert words(text for (text,), _ in found) == words(
        s for document in documents for s in document.sentences
    )


def test_what_fits(tokenizer):
    """Sentences of the single piece "w": 13 of them beside [CLS] and two [SEP]."""
    documents = [Document("x", ("w",) * 100), Document("y", ("w",) * 100)]
    packer = Packer(documents, tokenizer, LENGTH, random_next_prob=0.0, short_seq_prob=0.0)
    sizes = [[len(text.split()) for text in texts] for texts, _ in packer.pairs(0)]
    assert [sum(each) for each in sizes] == [13] * 7 + [9] + [13] * 7 + [9]
    assert len({first for first, _ in sizes}) > 3  # where A ends is random
    packer = Packer(documents, tokenizer, LENGTH, random_next_prob=1.0, short_seq_prob=0.0)
    # What A leaves, the next one begins with; B is as long as there is room and text.
    assert all(sum(len(text.split()) for text in texts) <= 13 for texts, _ in packer.pairs(0))
    short = Packer(documents, tokenizer, LENGTH, random_next_prob=0.0, short_seq_prob=1.0)
    sizes = [sum(len(text.split()) for text in texts) for texts, _ in short.pairs(0)]
    assert min(sizes) <= 4
    assert max(sizes) >= 10


def test_long_sentences_are_cut(tokenizer):
    documents = [Document("x", (" ".join(["w"] * 30),)), Document("y", ("w w",))]
    packer = Packer(documents, tokenizer, LENGTH, random_next_prob=0.0, short_seq_prob=0.0)
    found = [(label, [len(text.split()) for text in texts]) for texts, label in packer.pairs(0)]
    # Of five parts the last one has no next one, nor has the other document's only sentence.
    assert found == [(NEXT, [6, 6]), (NEXT, [6, 6]), (RANDOM, [6, 2]), (RANDOM, [2, 6])]


def test_half_of_them_are_random(tokenizer):
    """Though a third of the documents has a single sentence, which has no next one."""
    documents = corpus([[2] * n for n in (1, 4, 7)] * 300)
    share = [pair.label for pair in Packer(documents, tokenizer, 64).pairs(1)]
    assert 0.47 < sum(share) / len(share) < 0.53
    single = Packer(corpus([[2]] * 9), tokenizer, 64, random_next_prob=0.0)
    assert {pair.label for pair in single.pairs(0)} == {RANDOM}


def test_seeds(tokenizer):
    packer = Packer(corpus([[2] * 30] * 5), tokenizer, LENGTH)
    once = list(packer.pairs(3))
    assert once == list(packer.pairs(3))
    assert once != list(packer.pairs(4))


def test_a_single_document(tokenizer):
    documents = corpus([[3, 3]])
    with pytest.raises(InputError, match="need another document"):
        Packer(documents, tokenizer, LENGTH)
    assert list(Packer(documents, tokenizer, LENGTH, next_sentence=False).pairs(0))
