"""Words that the package and its pages do not use: those that a native engineer would not write."""

import ast
import io
import pathlib
import re
import tokenize

import pytest

from .docs import pages

PACKAGE = pathlib.Path(__file__).parents[1] / "mate_tf"

# "is no file" for "is not a file"; "there is no file", "is no longer" and the like are English.
KEPT = r"(?:longer|shorter|more|less|better|faster|slower|larger|smaller|worse|one|other|such)"
WORDS = {
    "say 'is not a'": re.compile(rf"(?<![Tt]here )\bis no (?!{KEPT}\b)\w+"),
    "say 'are not'": re.compile(rf"(?<![Tt]here )\bare no (?!{KEPT}\b)\w+"),
    "say 'matmul'": re.compile(
        r"\bmatrix products?\b|\bproducts? in (?:b?float|it\b)|float(?:16|32) products?\b"
    ),
    "say 'is not one of'": re.compile(r"\bis none of\b"),
    "say 'does not'": re.compile(r"\b(?:answers|reads|writes) no (?:questions?|tables?|texts?)\b"),
    "say 'next to' or 'besides'": re.compile(r"\b[Bb]eside\b(?!`)"),
    "say 'its own'": re.compile(r"\b(?:a|an|each|in|with) \w+ of (?:its|their) own\b(?! \w)"),
    "say 'detected'": re.compile(r"\bfound out\b"),
    "say 'a training run'": re.compile(r"\ba training[,.;:)]"),
    "say 'does not import' or 'does not need'": re.compile(r"\b[a-z]+ no TensorFlow\b", re.I),
    "say 'or … if there is none'": re.compile(r"; None without (?:one|them)\b"),
    "say 'for lack of memory'": re.compile(r"\bmemory is not enough\b"),
    "say 'the printed token'": re.compile(r"\bthe token that is printed\b"),
    "say 'wait until it ends'": re.compile(r"\bwait for its end\b"),
    "say 'has neither … nor'": re.compile(r"\bhas no [^.;]{1,40}' and no '"),
}
# In messages only: a line of an error says what is missing without "there is".
MESSAGES = {
    "say 'no such file'": re.compile(r"[:|] there (?:is|are) no\b"),
    "say 'it has: a, b'": re.compile(r"; there are: "),
    "say 'not a'": re.compile(r"\}: is not (?:an?) (?:\S+ )?text\b"),
    "say what was removed": re.compile(r"\bsomebody has\b"),
    "say 'separated by'": re.compile(r"\bwith a comma\b"),
}
NAMES = {
    "name a class by a noun": re.compile(
        r"_?(?:Asked|Chosen|Computed|Converted|Counted|Exported|Found|Given|Graded|Kept|Limited"
        r"|Made|Read|Scored|Shown|Timed|Trained)"
    ),
    "name a function by a verb": re.compile(r"_?of(?:_\w+)?"),
}


def found(text: str, words: dict[str, re.Pattern] = WORDS) -> list[str]:
    """Returns the words in a text, with what to write."""
    text = re.sub(r"\s*\n\s*#?\s*", " ", text)  # a sentence goes on in the next line
    return [
        f"{each[0]!r}: {advice}" for advice, words in words.items() for each in words.finditer(text)
    ]


def texts_of(source: str) -> str:
    """Returns the comments and texts of a module, without the names in its code."""
    kinds = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", None)}
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return "\n".join(token.string for token in tokens if token.type in kinds)


def messages(tree: ast.AST) -> list[str]:
    """Returns the texts that are not docstrings."""
    others = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    strings = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    others |= {id(part) for node in strings for part in ast.walk(node) if part is not node}
    nodes = [node for node in ast.walk(tree) if id(node) not in others]
    texts = [ast.unparse(node) for node in nodes if isinstance(node, ast.JoinedStr)]
    plain = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return texts + [each for each in plain if isinstance(each, str)]


def named(tree: ast.Module) -> list[str]:
    """Returns the names of a module's classes and functions that should be others."""
    wrong = []
    for node in tree.body:
        is_class = isinstance(node, ast.ClassDef)
        advice = f"name a {'class by a noun' if is_class else 'function by a verb'}"
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and NAMES[advice].fullmatch(node.name):
            wrong.append(f"{node.name!r}: {advice}")
    return wrong


def wrong_in(source: str) -> list[str]:
    """Returns all that a module should say otherwise."""
    tree = ast.parse(source)
    words = found(texts_of(source)) + named(tree)
    return words + [each for text in messages(tree) for each in found(text, MESSAGES)]


@pytest.mark.parametrize("folder", ["", *sorted(p.name for p in PACKAGE.iterdir() if p.is_dir())])
def test_words(folder):
    paths = (PACKAGE / folder).rglob("*.py") if folder else PACKAGE.glob("*.py")
    modules = {path.relative_to(PACKAGE).as_posix(): path.read_text() for path in paths}
    wrong = {name: wrong_in(text) for name, text in modules.items()}
    assert not {name: words for name, words in wrong.items() if words}


@pytest.mark.parametrize("path", pages.PAGES, ids=pages.name)
def test_pages(path):
    assert not found(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("source", "advice"),
    [
        ("# a folder is no\n#    file", "'is no file': say 'is not a'"),
        ("# they are no files", "'are no files': say 'are not'"),
        ("# without products in bfloat16", "'products in bfloat': say 'matmul'"),
        ("x = f'{y!r} is none of {z}'", "'is none of': say 'is not one of'"),
        ("# a task that answers no questions", "'answers no questions': say 'does not'"),
        ("def f():\n    'A file beside it.'", "'beside': say 'next to' or 'besides'"),
        ("# each has a name of its own.", "'a name of its own': say 'its own'"),
        ("x = 'by default found out'", "'found out': say 'detected'"),
        ("# It resumes a training.", "'a training.': say 'a training run'"),
        ("# Imports no TensorFlow.", "say 'does not import' or 'does not need'"),
        ("def f():\n    'Returns it; None without one.'", "say 'or … if there is none'"),
        ("x = 'as when the memory is not enough'", "say 'for lack of memory'"),
        ("x = 'the token that is printed'", "say 'the printed token'"),
        ("x = 'wait for its end'", "say 'wait until it ends'"),
        ("x = f\"{y}: has no {' and no '.join(z)}\"", "say 'has neither … nor'"),
        ("x = f'{y}: there is no such file'", "': there is no': say 'no such file'"),
        ("x = f'no sheet {y}; there are: {z}'", "'; there are: ': say 'it has: a, b'"),
        ("x = f'{y}: is not a text file'", "say 'not a'"),
        ("x = 'somebody has removed it'", "'somebody has': say what was removed"),
        ("x = 'or both with a comma'", "say 'separated by'"),
        ("class Made: pass", "'Made': name a class by a noun"),
        ("def of_cells(): pass", "'of_cells': name a function by a verb"),
    ],
)
def test_words_are_found(source, advice):
    (word,) = wrong_in(source)
    assert word.endswith(advice)


def test_english_is_not_found():
    """Nor names in code, and in docstrings "there is" may say what raises an error."""
    assert not wrong_in("# there is no file, and it is no longer needed; it has no name of its own")
    assert not wrong_in("beside = matrix_products(of_cells)")
    assert not wrong_in("def load():\n    'Raises InputError: there is no such file.'")
