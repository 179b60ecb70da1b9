"""Modules are not long, and the tests of a package stand in the folder of its name."""

import ast
import re

import pytest

LONGEST = 400
"""Lines of a module."""

OTHER_FOLDERS = {"training": ("estimator", "tpu"), "demo": ("faults",)}
"""Package -> folders with more of its tests: in interpreters of their own, and attacks."""

COMMON_TEST = {"tasks": "test_registry.py"}
"""Package -> file whose tests take all of its modules from a registry."""


@pytest.fixture(scope="module")
def modules(project):
    """Path of a module below mate_tf/ -> its text; without generated ones."""
    package = project / "mate_tf"
    return {
        path.relative_to(package): path.read_text("utf-8")
        for path in package.rglob("*.py")
        if path.parent.name != "protos"
    }


@pytest.fixture(scope="module")
def tests(project):
    """Folder of tests -> all their words."""
    return {
        folder.name: {
            word
            for path in folder.rglob("*.py")
            for word in (
                path.stem.removeprefix("test_"),
                *re.findall(r"\w+", path.read_text("utf-8")),
            )
        }
        for folder in (project / "tests").iterdir()
        if folder.is_dir()
    }


def test_lines(modules):
    lines = {str(path): len(text.splitlines()) for path, text in modules.items()}
    assert {path: number for path, number in lines.items() if number > LONGEST} == {}


def test_each_module_is_tested_in_the_folder_of_its_package(project, modules, tests):
    """Its tests name the module, or a function, class or constant that it makes public."""
    missing = []
    for path, text in modules.items():
        package = path.parts[0]
        if len(path.parts) == 1 or path.stem == "__init__":
            continue
        if package in COMMON_TEST:
            assert (project / "tests" / package / COMMON_TEST[package]).exists()
            continue
        folders = (package, *OTHER_FOLDERS.get(package, ()))
        words = set().union(*(tests.get(folder, ()) for folder in folders))
        if not words & {path.stem, *_public(text)}:
            missing.append(str(path))
    assert missing == []


def _public(text: str) -> set[str]:
    found = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found.update(each.id for each in node.targets if isinstance(each, ast.Name))
    return {name for name in found if not name.startswith("_")}
