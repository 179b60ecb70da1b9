"""Imports within mate_tf run downwards, in the order of docs/architecture.md, and in no cycle.

Sources are read with `ast`; nothing is imported, so that heavy packages cost no time.
"""

import ast
import graphlib
import re

import pytest

ROW = re.compile(r"^\| `(\w+)/` \|", re.MULTILINE)
BELOW_ALL = ("lazy", "", "errors", "interrupts", "field_types")
"""The package itself, which imports nothing before a name is asked for, and modules beside it."""


@pytest.fixture(scope="module")
def order(project):
    """Packages, the lowest first, as docs/architecture.md lists them."""
    return ROW.findall((project / "docs" / "architecture.md").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def imports(project):
    """Module -> the modules of mate_tf that it imports, anywhere in its text."""
    paths = {}
    for path in sorted((project / "mate_tf").rglob("*.py")):
        parts = path.relative_to(project).with_suffix("").parts
        paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return {
        module: {name for name in _imported(path, paths) if name.startswith("mate_tf")}
        for module, path in paths.items()
    }


def _imported(path, modules):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if path.name == "__init__.py":  # what `__getattr__` finds, for type checkers
        tree.body = [node for node in tree.body if not isinstance(node, ast.If)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: a relative import"
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in modules else node.module


def package(module):
    return module.split(".")[1] if "." in module else ""


def test_the_order_has_every_package(project, order):
    folders = {path.parent.name for path in (project / "mate_tf").glob("*/__init__.py")}
    assert sorted(order) == sorted(folders)


def test_imports_run_downwards(imports, order):
    rank = {name: number for number, name in enumerate([*BELOW_ALL, *order])}
    upwards = [
        f"{module} imports {other}"
        for module, others in imports.items()
        for other in sorted(others)
        if rank[package(other)] > rank[package(module)]
    ]
    assert not upwards


def test_no_cycles(imports):
    graph = {module: others - {module} for module, others in imports.items()}
    assert list(graphlib.TopologicalSorter(graph).static_order())
