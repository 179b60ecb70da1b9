"""Words that the project's texts do not use: those that a native engineer would not write."""

import pathlib
import re

import pytest

PACKAGE = pathlib.Path(__file__).parents[1] / "mate_tf"

# "is no file" for "is not a file"; "there is no file", "is no longer" and the like are English.
KEPT = r"(?:longer|shorter|more|less|better|faster|slower|larger|smaller|worse|one|other|such)"
WORDS = {
    "say 'is not a'": re.compile(rf"(?<![Tt]here )\bis no (?!{KEPT}\b)\w+"),
    "say 'are not'": re.compile(rf"(?<![Tt]here )\bare no (?!{KEPT}\b)\w+"),
    "say 'matmul'": re.compile(r"\bmatrix products?\b"),
}


def found(text: str) -> list[str]:
    """Returns the words in a text, with what to write."""
    text = re.sub(r"\s*\n\s*#?\s*", " ", text)  # a sentence goes on in the next line
    return [
        f"{each[0]!r}: {advice}" for advice, words in WORDS.items() for each in words.finditer(text)
    ]


@pytest.mark.parametrize("folder", sorted(p.name for p in PACKAGE.iterdir() if p.is_dir()))
def test_words(folder):
    texts = {path: path.read_text() for path in (PACKAGE / folder).rglob("*.py")}
    wrong = {path.name: words for path, text in texts.items() if (words := found(text))}
    assert not wrong


def test_words_are_found():
    assert found("a folder is no\n    file") == ["'is no file': say 'is not a'"]
    assert not found("there is no file, and it is no longer needed")
