"""docs/private-apis.md lists the private names of other libraries in use, and no others."""

import ast
import re

import pytest

NAMEDTUPLE = {"_asdict", "_fields", "_replace"}
"""Documented parts of NamedTuples, in spite of the underscore."""

OF_PYTHON = {"_exit"}
"""os._exit is documented."""

FOLDERS = ("mate_tf", "benchmarks")
PRIVATE_MODULE = re.compile(r"tensorflow\.(?:python|core)\.[\w.]+")


@pytest.fixture(scope="module")
def page(project):
    text = (project / "docs" / "private-apis.md").read_text(encoding="utf-8")
    return " ".join(re.findall(r"`([^`]+)`", text))


@pytest.fixture(scope="module")
def trees(project):
    paths = [path for folder in FOLDERS for path in sorted((project / folder).rglob("*.py"))]
    return [
        ast.parse(path.read_text(encoding="utf-8"))
        for path in paths
        if not path.name.endswith("_pb2.py")
    ]


@pytest.fixture(scope="module")
def attributes(trees):
    """Private attributes that are used and never defined in the project."""
    defined, used = set(), set()
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            defined.add(node.id)
        elif isinstance(node, ast.Attribute):
            of_self = isinstance(node.value, ast.Name) and node.value.id == "self"
            if isinstance(node.ctx, ast.Store) and of_self:
                defined.add(node.attr)
            elif re.match("_[a-z]", node.attr, re.IGNORECASE):
                used.add(node.attr)
    return used - defined


@pytest.fixture(scope="module")
def imports(trees):
    """Pairs of a private module of TensorFlow and a name that is imported from it."""
    return {
        (node.module, alias.name)
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and PRIVATE_MODULE.match(node.module or "")
        for alias in node.names
    }


def test_attributes_are_listed(attributes, page):
    used = attributes - NAMEDTUPLE - OF_PYTHON
    assert "_create_all_weights" in used
    assert sorted(name for name in used if not re.search(rf"\b{name}\b", page)) == []


def test_modules_are_listed(imports, page):
    assert ("tensorflow.python.ops", "control_flow_util") in imports
    missing = [
        (module, name)
        for module, name in imports
        if f"{module}.{name}" not in page and not (module in page and name in page)
    ]
    assert missing == []


def test_listed_modules_are_imported(imports, page):
    imported = {module for module, _ in imports} | {".".join(each) for each in imports}
    assert set(PRIVATE_MODULE.findall(page)) <= imported


def test_no_private_module_is_imported_otherwise(trees):
    """The tests above see `from ... import`."""
    names = [
        alias.name
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    ]
    assert [name for name in names if PRIVATE_MODULE.match(name)] == []


def test_listed_names_are_used(project, page):
    listed = set(re.findall(r"(?<![A-Za-z_])_[a-z]\w+", page, re.IGNORECASE))
    paths = [path for folder in FOLDERS for path in (project / folder).rglob("*.py")]
    code = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    assert sorted(name for name in listed if not re.search(rf"\b{name}\b", code)) == []


def test_the_page_on_keras_3_has_every_class_that_builds_on_keras(project, trees):
    page = (project / "docs" / "keras-3.md").read_text(encoding="utf-8")
    table = "\n".join(line for line in page.splitlines() if line.startswith("| `"))
    classes = {
        node.name: ast.unparse(base).removeprefix("keras.")
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for base in node.bases
        if ast.unparse(base).startswith("keras.")
    }
    listed = {
        name: line.split("`")[1]
        for line in table.splitlines()
        for name in re.findall(r"`([^`]+)`", line)[1:]
    }
    assert listed == classes
    assert f"**{NUMBERS[len(classes)]} classes build on Keras 2**" in page
    assert "eleven of them layers" in page
    assert sum(base.startswith("layers.") for base in classes.values()) == 11


NUMBERS = {14: "Fourteen", 15: "Fifteen", 16: "Sixteen"}
