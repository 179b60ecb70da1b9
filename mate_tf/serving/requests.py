"""Checks of the questions that a model is asked."""

from collections.abc import Iterable

from mate_tf.errors import InputError


def question(text: str) -> str:
    """Checks a question and returns it.

    Raises:
        InputError: if it is not text, or empty.
    """
    if not isinstance(text, str):
        raise InputError(f"a question must be text, not {text!r}")
    if not text.strip():
        raise InputError("the question is empty")
    return text


def questions(texts: Iterable[str]) -> list[str]:
    """Checks questions and returns them as a list.

    Raises:
        InputError: if it is not a list, or a question is not text, or empty.
    """
    if not isinstance(texts, Iterable):
        raise InputError(f"a question must be text, not {texts!r}")
    return [question(text) for text in texts]
