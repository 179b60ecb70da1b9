"""Docstrings of the package: all public names have one, with a plain beginning and shapes.

The source is parsed, not imported, so the test needs neither TensorFlow nor optional packages.
"""

import ast
import functools
import pathlib
import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest

ROOT = pathlib.Path(__file__).parents[1]
PACKAGE = ROOT / "mate_tf"
GENERATED = "_pb2.py"
BEGINNING = re.compile(r"(Of|Those|What|As|Whether|That|Which|Where|When|How)\b")
ARRAY = re.compile(r"\b(tf\.Tensor|np\.ndarray)\b")
SHAPE = re.compile(r"\[[^\]]*\]")


class Definition(NamedTuple):
    """A module, class or function of the package, with the path of its file in the repository, its
    name within the module ("" for the module itself), and the class that defines it."""

    path: str
    name: str
    node: ast.AST
    parent: ast.ClassDef | None = None

    def __str__(self):
        return f"{self.path}:{getattr(self.node, 'lineno', 1)} {self.name or 'module'}"

    @property
    def docstring(self) -> str:
        """The docstring, or ""."""
        return ast.get_docstring(self.node) or ""

    @property
    def is_public(self) -> bool:
        """True if no part of the name is private. Special methods such as __call__ are private."""
        return not any(part.startswith("_") for part in self.name.split("."))

    @property
    def is_function(self) -> bool:
        """True for functions and methods."""
        return isinstance(self.node, ast.FunctionDef | ast.AsyncFunctionDef)


def definitions(path: str, body: list, prefix: str = "", parent=None) -> Iterator[Definition]:
    """Yields the classes and functions of a module. Functions within functions are left out: they
    are not public, and the function around them explains what they do. So are overloads, which
    the function after them explains."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield Definition(path, prefix + node.name, node, parent)
            yield from definitions(path, node.body, f"{prefix}{node.name}.", node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if "overload" not in map(ast.unparse, node.decorator_list):
                yield Definition(path, prefix + node.name, node, parent)
        elif isinstance(node, ast.If | ast.Try | ast.With):
            yield from definitions(path, node.body, prefix, parent)


@functools.cache
def all_definitions() -> tuple[Definition, ...]:
    """Returns all modules, classes and functions of the package, without generated files."""
    found = []
    for file in sorted(PACKAGE.rglob("*.py")):
        if not file.name.endswith(GENERATED):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            path = str(file.relative_to(ROOT))
            found += [Definition(path, "", tree), *definitions(path, tree.body)]
    return tuple(found)


@functools.cache
def documented_methods() -> dict[str, set[str]]:
    """Returns name of a class -> names of its methods that have a docstring."""
    found = {}
    for each in all_definitions():
        if isinstance(each.node, ast.ClassDef):
            found.setdefault(each.node.name, set())
        elif each.parent is not None and each.docstring:
            found.setdefault(each.parent.name, set()).add(each.node.name)
    return found


@functools.cache
def bases() -> dict[str, list[str]]:
    """Returns name of a class -> names of its base classes, without their modules."""
    return {
        each.node.name: [ast.unparse(base).rpartition(".")[2] for base in each.node.bases]
        for each in all_definitions()
        if isinstance(each.node, ast.ClassDef)
    }


def overrides_documented(method: Definition) -> bool:
    """Returns whether a base class in the package documents the method. Such an override needs no
    docstring: mkdocstrings and `inspect.getdoc` show that of the base."""
    queue = list(bases()[method.parent.name]) if method.parent else []
    seen = set()
    while queue:
        base = queue.pop()
        if base in seen or base not in bases():
            continue
        seen.add(base)
        if method.node.name in documented_methods()[base]:
            return True
        queue += bases()[base]
    return False


def array_arguments(function: ast.FunctionDef) -> list[str]:
    """Returns the names of arguments with tf.Tensor or np.ndarray in their annotation."""
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return [
        argument.arg
        for argument in arguments
        if argument.annotation is not None and ARRAY.search(ast.unparse(argument.annotation))
    ]


def test_public_names_have_docstrings():
    missing = [
        str(each)
        for each in all_definitions()
        if each.is_public and not each.docstring and not overrides_documented(each)
    ]
    assert not missing, "\n".join(missing)


def test_docstrings_begin_with_a_verb_or_a_noun():
    """Private names too: their docstrings are read with the code."""
    found = [
        f"{each}: {each.docstring.splitlines()[0]}"
        for each in all_definitions()
        if BEGINNING.match(each.docstring)
    ]
    assert not found, "\n".join(found)


def test_public_array_arguments_have_shapes():
    """A docstring of the base class counts for an override without one."""
    missing = [
        f"{each}({', '.join(array_arguments(each.node))})"
        for each in all_definitions()
        if each.is_public and each.is_function and array_arguments(each.node)
        if not SHAPE.search(each.docstring) and not (not each.docstring and each.parent)
    ]
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("Of a file.", True),
        ("Whether it is so.", True),
        ("How it is done.", True),
        ("Returns a file.", False),
        ("Offsets of tokens.", False),
        ("Assigns examples.", False),
    ],
)
def test_beginnings(text, is_found):
    assert bool(BEGINNING.match(text)) == is_found


def test_rules_find_what_they_should():
    source = '''
class Base:
    """A base."""

    def call(self, x: "np.ndarray"):
        """Computes a number."""

    def plain(self):
        pass
'''
    found = list(definitions("x.py", ast.parse(source).body))
    assert [each.name for each in found] == ["Base", "Base.call", "Base.plain"]
    assert [bool(each.docstring) for each in found] == [True, True, False]
    assert array_arguments(found[1].node) == ["x"]
    assert not SHAPE.search(found[1].docstring)
