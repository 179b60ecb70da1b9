"""Exact match and F1 of texts, as the official scripts of SQuAD and HybridQA compute them."""

import collections
import re
import string

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalize_answer(text: str) -> str:
    """Puts a text in lower case, without punctuation and then articles, with single spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def exact_match(gold: str, predicted: str) -> int:
    """Returns 1 if both are the same answer, otherwise 0."""
    return int(normalize_answer(gold) == normalize_answer(predicted))


def f1(gold: str, predicted: str) -> float:
    """Returns the harmonic mean of the shares of words that the answers have in common.

    Two answers without words are equal; one without words has nothing in common with any other.
    """
    gold_words, words = (normalize_answer(text).split() for text in (gold, predicted))
    if not gold_words or not words:
        return float(gold_words == words)
    common = sum((collections.Counter(gold_words) & collections.Counter(words)).values())
    if not common:
        return 0.0
    precision, recall = common / len(words), common / len(gold_words)
    return 2 * precision * recall / (precision + recall)
