"""Baseline classifier for statements, by the overlap of the words of a statement and its table.

It is a logistic regression (scikit-learn) over the words of the statement and a few shares and
counts. The order of words is not used, and nothing is computed except the number of matching rows.
"""

import re
from collections.abc import Iterable

import numpy as np

from mate_tf.errors import InputError
from mate_tf.evaluation.predictions import Prediction
from mate_tf.protos.interaction_pb2 import Interaction
from mate_tf.tables.pruning import STOP_WORDS

_TOKEN = re.compile(r"\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|[^\W\d_]+", re.ASCII)

_NUMBER_WORDS = {
    word: str(number)
    for number, word in enumerate(
        _TOKEN.findall("zero one two three four five six seven eight nine ten")
    )
}
_CUES = tuple(
    frozenset(_TOKEN.findall(cues))
    for cues in (
        "not no never none neither nor without cannot",
        "more less few fewer than high higher low lower large larger small smaller before after",
        "most least highest lowest largest smallest best worst first last latest earliest",
        "all every each both only just",
    )
)
_REGULARIZATION = 0.01


class LexicalClassifier:
    """Classifier of statements about tables.

    Args:
        interactions: training data; questions without a gold class are not used.

    Raises:
        InputError: if the training questions have fewer than two classes.
    """

    def __init__(self, interactions: Iterable[Interaction]):
        from sklearn.compose import make_column_transformer
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        questions, features = _described(interactions)
        known = [i for i, q in enumerate(questions) if q.answer.HasField("class_index")]
        classes = [questions[i].answer.class_index for i in known]
        if len(set(classes)) < 2:
            raise InputError("lexical classifier: training questions of fewer than two classes")
        self._model = make_pipeline(
            make_column_transformer(
                (CountVectorizer(binary=True), 0), (StandardScaler(), slice(1, None))
            ),
            LogisticRegression(C=_REGULARIZATION, max_iter=1000),
        )
        self._model.fit(features[known], classes)

    def __call__(self, interactions: Iterable[Interaction]) -> dict[str, Prediction]:
        """Returns predictions by question id, with the probabilities of the classes."""
        questions, features = _described(interactions)
        if not questions:
            return {}
        classes = self._model.classes_
        probabilities = np.zeros([len(questions), max(classes) + 1])
        probabilities[:, classes] = self._model.predict_proba(features)
        return {
            question.id: Prediction(
                question.id,
                (),
                class_index=int(row.argmax()),
                class_probabilities=tuple(row.tolist()),
            )
            for question, row in zip(questions, probabilities, strict=True)
        }


class _Words:
    """Sets of the words of each row, of all cells, around the table, and of its header."""

    def __init__(self, table):
        self.rows = [_words(cell.text for cell in row.cells) for row in table.rows]
        self.cells = set().union(*self.rows)
        self.around = _words([table.document_title, table.caption])
        self.header = _words(cell.text for cell in table.columns)


def _described(interactions):
    """Returns the questions and <object>[questions, 1 + features]: text and overlap of each."""
    questions, features, last, table = [], [], None, None
    for interaction in interactions:
        if last is None or interaction.table != last:
            last, table = interaction.table, _Words(interaction.table)
        for question in interaction.questions:
            text = question.original_text or question.text
            questions.append(question)
            features.append([text, *_overlap(_tokens(text), table)])
    return questions, np.array(features, object)


def _overlap(said, table):
    """Computes the features of a statement with the words `said`, a list of numbers."""
    numbers = {word for word in said if word[0].isdigit()}
    names = set(said) - numbers - STOP_WORDS
    anywhere = table.cells | table.header | table.around
    both = names | numbers
    in_rows = [len(both & row) for row in table.rows]
    names_in_rows = [len(names & row) for row in table.rows]
    best, best_names = max(in_rows, default=0), max(names_in_rows, default=0)
    named = [r for r, n in zip(table.rows, names_in_rows, strict=True) if n == best_names > 0]
    counts = numbers | {_NUMBER_WORDS[word] for word in said if word in _NUMBER_WORDS}
    one_row = best == len(both & table.cells)
    negated = bool(_CUES[0].intersection(said))
    return [
        _share(names, table.cells),
        _share(names, table.header),
        _share(names, table.around),
        _share(names, anywhere),
        len(names - anywhere),
        _share(numbers, table.cells),
        len(numbers - anywhere),
        _share(numbers, set().union(*named)),
        best / max(len(both), 1),
        best / max(len(both & table.cells), 1),
        one_row,
        one_row and negated,
        str(len(named)) in counts,
        str(len(table.rows)) in counts,
        len(said),
        *(bool(cue.intersection(said)) for cue in _CUES),
    ]


def _words(texts):
    """Returns the set of words of several texts."""
    return {word for text in texts for word in _tokens(text)}


def _tokens(text):
    """Splits a text into lower-cased words and numbers, with "1000" for "1,000.0"."""
    return [_plain(token) for token in _TOKEN.findall(text.lower())]


def _share(words, present):
    """Returns the share of `words` that are in `found`; 1 without words."""
    return len(words & present) / len(words) if words else 1.0


def _plain(token):
    """Returns a number without commas and trailing zeros; other tokens unchanged."""
    return f"{float(token.replace(',', '')):.15g}" if token[0].isdigit() else token
