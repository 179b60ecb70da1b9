"""The passages that cells link to: their sentences, which of them a question is about, and cells
that hold an answer (MATE paper, section 4).

A passage is known by an identifier, such as the path of a Wikipedia page. Sentences are told
apart by signs that stand alone, because passages come as words separated by spaces.
"""

import functools
import re
import string
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

NUM_SENTENCES = 5
"""How many sentences expand the cells of a table (the paper's k)."""

_MAX_SHARE = 0.9  # a term that more documents have tells nothing
_DECIMALS = 12  # scores that differ by rounding only are the same

_WIKI_PATH = re.compile(r"^/wiki/")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation, " "))

# A sign by itself with what closes a quotation or bracket and references like [ a ], or a sign at
# the end of a long word in lower case or of a year; then white space.
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
    """The sentences of a passage, each with the sign at its end.

    No sentence ends after an initial ("J . Bell"), a title or the like ("Dr . No"), an
    abbreviation before a number ("No . 1"), between digits, or before a word in lower case or a
    comma.
    """
    sentences, begin = [], 0
    for end in _END.finditer(text):
        if _is_end(text[begin : end.start()], text[end.end() : end.end() + 40]):
            sentences.append(text[begin : end.end()].strip())
            begin = end.end()
    sentences.append(text[begin:].strip())
    return [sentence for sentence in sentences if sentence]


def _is_end(before: str, after: str) -> bool:
    """Whether a sentence ends at a sign between these two."""
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
    """Texts compared with questions by the cosine of their TF-IDF vectors.

    Terms are words and pairs of words, other than those in more than nine out of ten texts. Where
    no other terms are left, as with a single text, all count.

    Args:
        texts: the documents.
    """

    def __init__(self, texts: Sequence[str]):
        self.texts = tuple(texts)
        self._vectorizer, self._vectors = _fit(self.texts)

    def scores(self, question: str) -> np.ndarray:
        """<float64>[texts]: from 0, nothing in common, to 1."""
        if self._vectors is None:
            return np.zeros(len(self.texts))
        query = self._vectorizer.transform([question])
        return np.round((self._vectors @ query.T).toarray()[:, 0], _DECIMALS)

    def top(self, question: str, limit: int) -> list[tuple[str, float]]:
        """The `limit` best texts that have anything in common with the question, best first.

        Of equally good ones the first come first.
        """
        scores = self.scores(question)
        order = np.argsort(-scores, kind="stable")[: max(limit, 0)]
        return [(self.texts[i], float(scores[i])) for i in order if scores[i] > 0]


def _fit(texts):
    """A vectorizer and the texts' vectors <float64>[texts, terms]; None without any term."""
    # Imported here: most programs that read tables need none of it, and it takes a second.
    from sklearn.feature_extraction.text import TfidfVectorizer

    for max_share in (_MAX_SHARE, 1.0):
        vectorizer = TfidfVectorizer(ngram_range=(1, 2), max_df=max_share)
        try:
            return vectorizer, vectorizer.fit_transform(texts)
        except ValueError:  # how scikit-learn says that there are no terms
            continue
    return None, None


class Passages:
    """The passages of a table by identifier, and what of them a question is about.

    Args:
        texts: identifier -> passage, in the order in which equally good sentences are taken.
    """

    def __init__(self, texts: Mapping[str, str]):
        self.sentences = {name: split_sentences(text) for name, text in texts.items()}

    @functools.cached_property
    def _index(self) -> TextIndex:
        return TextIndex([each for sentences in self.sentences.values() for each in sentences])

    def top(self, question: str, limit: int = NUM_SENTENCES) -> list[tuple[str, float]]:
        """The sentences that have most to do with a question; see `TextIndex.top`.

        Each sentence of each passage is a document, also of passages that only headers link to.
        """
        return self._index.top(question, limit)

    def relevant(self, question: str, limit: int = NUM_SENTENCES) -> dict[str, list[str]]:
        """Identifier -> those of its sentences that are among the `top` ones, in their order."""
        best = {sentence for sentence, _ in self.top(question, limit)}
        found = {
            name: [sentence for sentence in sentences if sentence in best]
            for name, sentences in self.sentences.items()
        }
        return {name: sentences for name, sentences in found.items() if sentences}


def expand(
    text: str,
    links: Iterable[str],
    sentences: Mapping[str, Sequence[str]],
    use_entity_title: bool = False,
) -> str:
    """A cell with what is said about the entities it links to: "text ( s1 s2 ) ( s3 )".

    Args:
        text: of the cell.
        links: identifiers of its passages.
        sentences: identifier -> those to show; an identifier without any shows nothing.
        use_entity_title: start each with the entity's name, "text ( Name : s1 s2 )".
    """
    parts = [text] if text else []
    for link in links:
        if sentences.get(link):
            title = f"{entity_name(link)} : " if use_entity_title else ""
            parts.append(f"( {title}{' '.join(sentences[link])} )")
    return " ".join(parts)


def entity_name(identifier: str) -> str:
    """The name in the path of a Wikipedia page: "Alpha Peak" of "/wiki/Alpha_Peak"."""
    return _WIKI_PATH.sub("", identifier).replace("_", " ")


def normalize_answer(text: str) -> str:
    """In lower case, without punctuation and articles, with single spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


class Found(NamedTuple):
    """Where an answer is.

    Attributes:
        cells: (row, column) of the cells whose text, or a passage they link to, has it.
        in_table: those of them whose own text has it.
        passages: identifier -> how many cells have the answer through this passage.
    """

    cells: list[tuple[int, int]]
    in_table: list[tuple[int, int]]
    passages: dict[str, int]


class AnswerFinder:
    """Finds answers in the cells of a table and in the passages that they link to.

    Texts and answers are compared as `normalize_answer` leaves them, whole words only.

    Args:
        rows: for each row the cells' texts and the identifiers that they link to.
        texts: identifier -> passage.
    """

    def __init__(
        self,
        rows: Iterable[Iterable[tuple[str, Collection[str]]]],
        texts: Mapping[str, str],
    ):
        self._passages = {name: _searchable(text) for name, text in texts.items()}
        self._cells = [
            ((row_index, column_index), _searchable(text), links)
            for row_index, row in enumerate(rows)
            for column_index, (text, links) in enumerate(row)
        ]

    def find(self, answer: str) -> Found:
        """All places of an answer. One of which nothing is left is nowhere, such as "the"."""
        wanted = _searchable(answer)
        found = Found([], [], {})
        if not wanted.strip():
            return found
        having = {name for name, text in self._passages.items() if wanted in text}
        for place, text, links in self._cells:
            if wanted in text:
                found.cells.append(place)
                found.in_table.append(place)
            elif linked := having.intersection(links):
                found.cells.append(place)
                for name in sorted(linked):
                    found.passages[name] = found.passages.get(name, 0) + 1
        return found


def _searchable(text: str) -> str:
    return f" {normalize_answer(text)} "
