"""What the written pages show: fenced blocks, shell commands, code spans and links."""

import dataclasses
import pathlib
import re
import shlex

PROJECT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [
    *(PROJECT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((PROJECT / "docs").rglob("*.md")),
]
RESULTS = sorted((PROJECT / "results").rglob("*.md"))

_FENCE = re.compile(r"^```([\w+-]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\(([^()\s]+)\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
_COMMENT = re.compile(r"(^|\s)#[^'\"\n]*$", re.MULTILINE)
_ASSIGNMENT = re.compile(r"[A-Z_]+=")
_SEPARATORS = ";&|\n"


@dataclasses.dataclass(frozen=True)
class Command:
    """One command of a shell block: the page's path in the project; the program and its arguments,
    with the variables of `for` replaced."""

    page: str
    words: tuple[str, ...]

    def __str__(self):
        return f"{self.page}: {shlex.join(self.words)}"


def name(path: pathlib.Path) -> str:
    """Returns the path relative to the project."""
    return path.relative_to(PROJECT).as_posix()


def blocks(path: pathlib.Path, *languages: str) -> list[str]:
    """Returns the contents of the fenced blocks in one of the languages."""
    found = _FENCE.findall(path.read_text(encoding="utf-8"))
    return [content for language, content in found if language in languages]


def without_blocks(path: pathlib.Path) -> str:
    """Returns the text of a page outside of its fenced blocks."""
    return _FENCE.sub("", path.read_text(encoding="utf-8"))


def code_spans(path: pathlib.Path) -> list[str]:
    """Returns what stands between single backticks."""
    return _SPAN.findall(without_blocks(path))


def links(path: pathlib.Path) -> list[tuple[str, str]]:
    """Returns the targets of links and pictures and their anchors, without web addresses."""
    targets = [target for target in _LINK.findall(without_blocks(path)) if "://" not in target]
    return [(target.partition("#")[0] or path.name, target.partition("#")[2]) for target in targets]


def anchors(path: pathlib.Path) -> set[str]:
    """Returns the anchors of the headings, as Python-Markdown and GitHub make them."""
    found = set()
    for title in _HEADING.findall(without_blocks(path)):
        title, _, own = title.partition("{ #")
        words = re.sub(r"[^\w\s-]", "", title).strip().lower()
        found.add(own.rstrip(" }") or re.sub(r"[-\s]+", "-", words))
    return found


def commands(path: pathlib.Path) -> list[Command]:
    """Returns the commands of all shell blocks, those in a `for` once for each value."""
    return [
        Command(name(path), words) for block in blocks(path, "sh", "bash") for words in parse(block)
    ]


def parse(block: str) -> list[tuple[str, ...]]:
    """Splits a shell block into simple commands; assignments before a command are dropped.

    Raises:
        ValueError: the block is not shell code that this parser knows.
    """
    text = _COMMENT.sub("", block.replace("\\\n", " "))
    lexer = shlex.shlex(text, posix=True, punctuation_chars=_SEPARATORS)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t", True, ""
    simple, words = [], []
    for token in [*lexer, "\n"]:
        if set(token) <= set(_SEPARATORS):
            simple += [words] if words else []
            words = []
        elif words or not _ASSIGNMENT.match(token):
            words.append(token)
    found, values = [], {}
    for words in simple:
        if words[0] == "for":
            if words[2] != "in":
                raise ValueError(f"not a loop: {shlex.join(words)}")
            values[words[1]] = words[3:]
            continue
        if words == ["done"]:
            values.clear()
            continue
        words = words[1:] if words[0] == "do" else words
        expanded = [words]
        for variable, of_variable in values.items():
            expanded = [
                [word.replace(f"${variable}", value) for word in each]
                for each in expanded
                for value in of_variable
            ]
        found += [tuple(each) for each in expanded if each]
    return found
