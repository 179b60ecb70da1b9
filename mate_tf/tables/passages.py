"""Passages that cells link to (MATE paper, section 4).

The module splits passages into sentences, ranks sentences by similarity to a question, and finds
the cells that contain an answer. A passage has an identifier, such as the path of a Wikipedia page.
Passages are words separated by spaces, so sentences end at punctuation that stands alone.
"""

import functools
import re
import string
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mate_tf.tables.conversion import NUM_SENTENCES

_MAX_SHARE = 0.9  # terms in a larger share of the documents are ignored
_DECIMALS = 12  # scores are rounded, so that rounding errors do not change the order

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation, " "))

# End of a sentence: ".", "!" or "?" that stands alone or follows a long lower-case word or a year;
# then closing quotation marks, brackets and references like [ a ]; then white space.
_END = re.compile(
    r"(?:(?<!\S)[.!?]+|(?<=[a-z]{4})[.!?]|(?<=\b\d{4})[.!?])"
    r"(?:\s+(?:''|[)\]”’]|\[\s[^\[\]]{1,30}\s\]))*\s+(?=\S)"
)
_LAST_WORD = re.compile(r"(\S+)\s*$")
_CONTINUES = re.compile(r"[a-z,;:.!?)\]%]|'s?\s")
_OPENING_WORD = re.compile(
    r"(?:A|After|An|As|At|By|During|For|From|He|Her|His|In|It|Its|On|She|Since|Some|The|Their|"
    r"There|These|They|This|Under|When|While|With)\b"
)
_NUMBERED = frozenset({"no", "nos", "vol", "vols", "p", "pp", "op", "ch", "fig", "art", "c", "ca"})
_ABBREVIATED = frozenset(
    {"dr", "mr", "mrs", "ms", "st", "ft", "mt", "sgt", "lt", "col", "gen", "capt", "prof", "rev"}
    | {"hon", "messrs", "mohd", "bn", "assoc", "transl", "lit"}
)


def split_sentences(text: str) -> list[str]:
    """Splits a passage into sentences; each keeps the punctuation at its end.

    No sentence ends after an initial ("J . Bell"), after an abbreviation such as a title
    ("Dr . No"), after an abbreviation before a number ("No . 1"), between digits, or before a
    lower-case word or a comma.
    """
    sentences, begin = [], 0
    for end in _END.finditer(text):
        if _is_end(text[begin : end.start()], text[end.end() : end.end() + 40]):
            sentences.append(text[begin : end.end()].strip())
            begin = end.end()
    sentences.append(text[begin:].strip())
    return [sentence for sentence in sentences if sentence]


def _is_end(before: str, after: str) -> bool:
    """Returns True if a sentence ends between the texts before and after a punctuation mark."""
    last = _LAST_WORD.search(before)
    if last is None or _CONTINUES.match(after):
        return False
    word = last[1]
    if after[0].isdigit():
        return not (word.isdigit() or word.lower() in _NUMBERED)
    if word.lower() in _ABBREVIATED:
        return False
    is_initial = len(word) == 1 and word.isupper()
    return not is_initial or bool(_OPENING_WORD.match(after))


class TextIndex:
    """Index of texts that ranks them by the cosine of TF-IDF vectors with a question.

    Terms are words and pairs of words. Terms in more than 90 % of the texts are ignored, unless no
    other terms are left, as with a single text.
    """

    def __init__(self, texts: Sequence[str]):
        self.texts = tuple(texts)
        self._vectorizer, self._vectors = _fit(self.texts)

    def scores(self, question: str) -> np.ndarray:
        """Computes <float64>[texts], the similarity of each text to a question, from 0 to 1."""
        if self._vectorizer is None or self._vectors is None:
            return np.zeros(len(self.texts))
        query = self._vectorizer.transform([question])
        return np.round((self._vectors @ query.T).toarray()[:, 0], _DECIMALS)

    def top(self, question: str, limit: int) -> list[tuple[str, float]]:
        """Returns the `limit` most similar texts with their scores, best first.

        Texts with score 0 are left out. Texts with equal scores keep their order.
        """
        scores = self.scores(question)
        order = np.argsort(-scores, kind="stable")[: max(limit, 0)]
        return [(self.texts[i], float(scores[i])) for i in order if scores[i] > 0]


def _fit(texts):
    """Returns a vectorizer and vectors <float64>[texts, terms]; None twice if there is no term."""
    # Imported here since it takes a second, and most programs that read tables do not need it.
    from sklearn.feature_extraction.text import TfidfVectorizer

    for max_share in (_MAX_SHARE, 1.0):
        vectorizer = TfidfVectorizer(ngram_range=(1, 2), max_df=max_share)
        try:
            return vectorizer, vectorizer.fit_transform(texts)
        except ValueError:  # scikit-learn raises this if there are no terms
            continue
    return None, None


class Passages:
    """Passages of a table, with a search for the sentences relevant to a question.

    Args:
        texts: identifier -> passage. Sentences with equal scores are taken in this order.

    Attributes:
        sentences: identifier -> list of the sentences of its passage.
    """

    def __init__(self, texts: Mapping[str, str]):
        self.sentences = {name: split_sentences(text) for name, text in texts.items()}

    @functools.cached_property
    def _index(self) -> TextIndex:
        """Index of all sentences."""
        return TextIndex([each for sentences in self.sentences.values() for each in sentences])

    def top(self, question: str, limit: int = NUM_SENTENCES) -> list[tuple[str, float]]:
        """Returns the sentences most similar to a question with their scores, best first.

        Each sentence is a document of the `TextIndex`, also in passages that only headers link to.
        """
        return self._index.top(question, limit)

    def relevant(self, question: str, limit: int = NUM_SENTENCES) -> dict[str, list[str]]:
        """Returns identifier -> its sentences among the `top` ones, in the passage's order."""
        best = {sentence for sentence, _ in self.top(question, limit)}
        by_name = {
            name: [sentence for sentence in sentences if sentence in best]
            for name, sentences in self.sentences.items()
        }
        return {name: sentences for name, sentences in by_name.items() if sentences}


def expand(
    text: str,
    links: Iterable[str],
    sentences: Mapping[str, Sequence[str]],
    use_entity_title: bool = False,
) -> str:
    """Appends sentences about linked entities to the text of a cell: "text ( s1 s2 ) ( s3 )".

    Args:
        text: text of the cell.
        links: identifiers of the passages that the cell links to.
        sentences: identifier -> its sentences to append; may lack identifiers.
        use_entity_title: begin each group with the entity's name, "text ( Name : s1 s2 )".
    """
    parts = [text] if text else []
    for link in links:
        if sentences.get(link):
            title = f"{entity_name(link)} : " if use_entity_title else ""
            parts.append(f"( {title}{' '.join(sentences[link])} )")
    return " ".join(parts)


def entity_name(identifier: str) -> str:
    """Returns the name in the path of a Wikipedia page: "Alpha Peak" for "/wiki/Alpha_Peak"."""
    return identifier.removeprefix("/wiki/").replace("_", " ")


def normalize_for_search(text: str) -> str:
    """Lower-cases text, replaces punctuation by spaces, removes articles and collapses spaces.

    Differs from `answers.text_match.normalize_answer`, which joins the parts of "so-called".
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


class AnswerMatches(NamedTuple):
    """Cells and passages that contain an answer.

    Attributes:
        cells: (row, column) of cells with the answer in their text or in a passage they link to.
        in_table: (row, column) of cells with the answer in their text.
        passages: identifier of a passage with the answer -> number of cells that link to it and do
            not have the answer in their text.
    """

    cells: list[tuple[int, int]]
    in_table: list[tuple[int, int]]
    passages: dict[str, int]


class AnswerFinder:
    """Finds answers in the cells of a table and in the passages that they link to.

    Texts and answers are normalized by `normalize_for_search`. Only whole words match.

    Args:
        rows: for each row, its cells as (text, identifiers of linked passages).
        texts: identifier -> passage.
    """

    def __init__(
        self, rows: Iterable[Iterable[tuple[str, Collection[str]]]], texts: Mapping[str, str]
    ):
        self._passages = {name: _searchable(text) for name, text in texts.items()}
        self._cells = [
            ((row_index, column_index), _searchable(text), links)
            for row_index, row in enumerate(rows)
            for column_index, (text, links) in enumerate(row)
        ]

    def find(self, answer: str) -> AnswerMatches:
        """Finds an answer. An answer that is empty after normalization, as "the", is not found."""
        wanted = _searchable(answer)
        matches = AnswerMatches([], [], {})
        if not wanted.strip():
            return matches
        having = {name for name, text in self._passages.items() if wanted in text}
        for coordinate, text, links in self._cells:
            if wanted in text:
                matches.cells.append(coordinate)
                matches.in_table.append(coordinate)
            elif linked := having.intersection(links):
                matches.cells.append(coordinate)
                for name in sorted(linked):
                    matches.passages[name] = matches.passages.get(name, 0) + 1
        return matches


def _searchable(text: str) -> str:
    """Returns the normalized text between spaces, so that only whole words match."""
    return f" {normalize_for_search(text)} "
