"""Words for cells that are a mark, which word pieces do not have: ✓, ✗, +, –, •, stars, emoji."""

import unicodedata
from functools import lru_cache

_WORDS = {
    **dict.fromkeys("✓✔☑✅√•●■⬤🗸", "yes"),
    **dict.fromkeys("✗✘☒❌×✕✖❎○◯□🗴", "no"),
    **dict.fromkeys("-−–—‐‑", "none"),
    "+": "plus",
}
_STAR = "★⭐"
_EMPTY_STAR = "☆"
_IGNORED = "\ufe0e\ufe0f\u200d"  # variants of emoji, and what joins them
_LONGEST = 16


@lru_cache(maxsize=4096)
def in_words(text: str) -> str:
    """Returns a cell's text, or words for it if it has no letter and no digit.

    A row of stars is their number, other symbols have the name that Unicode gives them. Texts of
    punctuation only stay as they are.
    """
    marks = [each for each in text if not each.isspace() and each not in _IGNORED]
    if not marks or len(marks) > _LONGEST or any(each.isalnum() for each in marks):
        return text
    if set(marks) <= {*_STAR, _EMPTY_STAR}:
        return f"{sum(each in _STAR for each in marks)} stars"
    words = [_word(each) for each in dict.fromkeys(marks)]
    return " ".join(words) if all(words) else text


def _word(mark: str) -> str:
    """Returns the word for a mark; "" if it is punctuation."""
    if mark in _WORDS:
        return _WORDS[mark]
    if unicodedata.category(mark) in ("So", "Sm"):
        return unicodedata.name(mark, "").lower().removesuffix(" sign")
    return ""
