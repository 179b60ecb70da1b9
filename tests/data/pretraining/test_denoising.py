"""BART's noise: shares and lengths of spans, [MASK]s, order of sentences, and examples of it."""

import pickle

import numpy as np
import pytest

from mate_tf.data.converters import sequences
from mate_tf.data.pretraining import denoising
from mate_tf.data.pretraining.denoising import DenoisingConverter, NoiseConfig
from mate_tf.errors import InputError

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{i}" for i in range(60)), "##x"]
PAD, UNK, CLS, SEP, MASK = range(5)
X = PIECES.index("##x")


@pytest.fixture(scope="module")
def drawn():
    """Spans of 2,000 texts of 100 words."""
    config = NoiseConfig()
    return [denoising.spans(100, config, np.random.default_rng(seed)) for seed in range(2000)]


def test_lengths_of_spans(drawn):
    """They are Poisson's, but for the one that is cut, which any place has."""
    lengths = np.array([end - begin for spans in drawn for begin, end in spans])
    # Of a sum that is cut at 30, the mean length is a little less than 3.
    assert 2.6 < lengths.mean() < 3.0
    assert np.mean(lengths == 0) == pytest.approx(np.exp(-3), abs=0.01)
    assert np.mean(lengths == 3) == pytest.approx(0.224, abs=0.02)
    longer = [end - begin for begin, end in denoising.spans(
        10_000, NoiseConfig(span_length=6.0), np.random.default_rng(0))]  # fmt: skip
    assert np.mean(longer) == pytest.approx(6, abs=0.4)
    assert {sum(end - begin for begin, end in spans) for spans in drawn} == {30}


def test_places_of_spans(drawn):
    covered = np.zeros(100)
    for spans in drawn:
        ends = [0, *(end for _, end in spans)]
        assert all(begin >= before for (begin, _), before in zip(spans, ends, strict=False))
        assert ends[-1] <= 100
        for begin, end in spans:
            covered[begin:end] += 1
    # Words at the ends are in fewer spans, as spans are around their other neighbours only.
    assert abs(covered[10:-10] / len(drawn) - 0.3).max() < 0.05
    assert covered.min() / len(drawn) > 0.08


def test_no_words_and_all_words():
    draw = np.random.default_rng(0)
    assert denoising.spans(0, NoiseConfig(), draw) == []
    assert denoising.spans(10, NoiseConfig(masked_share=0.0), draw) == []
    spans = denoising.spans(10, NoiseConfig(masked_share=1.0), draw)
    assert sum(end - begin for begin, end in spans) == 10


def test_infilling(monkeypatch):
    """A span is one [MASK], with all pieces of its words; one without words is put in."""
    monkeypatch.setattr(denoising, "spans", lambda *_: [(0, 0), (1, 3), (4, 4)])
    ids = np.array([10, 11, X, X, 12, X, 13], np.int32)
    found = denoising.infill(ids, ids != X, MASK, NoiseConfig(), None)
    assert found.tolist() == [MASK, 10, MASK, 13, MASK]
    assert found.dtype == np.int32


@pytest.fixture
def make(vocabulary_file):
    """make(length, **noise): a converter."""
    path = vocabulary_file(PIECES)

    def converter(length=128, **noise):
        return DenoisingConverter(path, length, max_target_length=length, noise=noise)

    return converter


SENTENCES = [" ".join(f"w{10 * i + j}" for j in range(10)) for i in range(6)]
ORIGINAL = list(range(5, 65))


def ids(example, name):
    values = np.array(example.features.feature[name].int64_list.value)
    return values[values != PAD].tolist()


def test_examples(make):
    example = make().convert(sequences.interaction("a", SENTENCES))
    assert ids(example, "target_ids") == [CLS, *ORIGINAL, SEP]
    noisy = ids(example, "input_ids")
    assert (noisy[0], noisy[-1]) == (CLS, SEP)
    kept = [each for each in noisy if each > MASK]
    assert len(kept) == 60 - 18
    assert len(set(kept)) == len(kept)
    assert set(example.features.feature["segment_ids"].int64_list.value) == {0}
    # The sentences come in another order, each with its words in order.
    by_sentence = [(each - 5) // 10 for each in kept]
    changes = [after for before, after in zip([-1, *by_sentence], by_sentence, strict=False)
               if before != after]  # fmt: skip
    assert len(changes) == len(set(changes))
    assert changes != sorted(changes)


def test_order_of_sentences(make):
    found = make(masked_share=0.0).convert(sequences.interaction("a", SENTENCES))
    assert sorted(ids(found, "input_ids")[1:-1]) == ORIGINAL
    assert ids(found, "input_ids")[1:-1] != ORIGINAL
    kept = make(masked_share=0.0, permute_sentences=False)
    assert ids(kept.convert(sequences.interaction("a", SENTENCES)), "input_ids")[1:-1] == ORIGINAL


def test_seeds(make):
    text, other = (sequences.interaction(name, SENTENCES) for name in "ab")
    first = make().convert(text)
    assert pickle.loads(pickle.dumps(make())).convert(text) == first
    assert make().convert(text) == first
    assert ids(make(seed=1).convert(text), "input_ids") != ids(first, "input_ids")
    assert ids(make().convert(other), "input_ids") != ids(first, "input_ids")


def test_a_vocabulary_without_mask(vocabulary_file):
    with pytest.raises(InputError, match=r"the vocabulary lacks \[MASK\]"):
        DenoisingConverter(vocabulary_file(PIECES[:4]))
