"""Checks of the questions that a model is asked."""

from collections.abc import Iterable

from mate_tf.errors import InputError


def question(text: str) -> str:
    """Returns the question.

    Raises:
        InputError: it is no text, or empty.
    """
    if not isinstance(text, str):
        raise InputError(f"a question must be text, not {text!r}")
    if not text.strip():
        raise InputError("the question is empty")
    return text


def questions(texts: Iterable[str]) -> list[str]:
    """Returns a list of questions.

    Raises:
        InputError: it is no list, or one of them is no text or empty.
    """
    if not isinstance(texts, Iterable):
        raise InputError(f"a question must be text, not {texts!r}")
    return [question(text) for text in texts]
