"""Exact match and F1 of texts, by the rules of the official scripts of SQuAD and HybridQA."""

import collections
import re
import string

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalize_answer(text: str) -> str:
    """Normalizes an answer: lower case, punctuation and articles removed, single spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def exact_match(gold: str, predicted: str) -> int:
    """Returns 1 if both texts have the same normal form, otherwise 0."""
    return int(normalize_answer(gold) == normalize_answer(predicted))


def f1(gold: str, predicted: str) -> float:
    """Computes F1 of the words of two normalized answers, from 0 to 1.

    It is 1 for two answers without words, and 0 if only one of them has no words.
    """
    gold_words, words = (normalize_answer(text).split() for text in (gold, predicted))
    if not gold_words or not words:
        return float(gold_words == words)
    common = sum((collections.Counter(gold_words) & collections.Counter(words)).values())
    if not common:
        return 0.0
    precision, recall = common / len(words), common / len(gold_words)
    return 2 * precision * recall / (precision + recall)
