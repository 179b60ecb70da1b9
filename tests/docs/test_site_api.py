"""The API reference has every public name. Sources are read here in another way: by line."""

import re

import pytest
import site_api
import yaml

import mate_tf

DEFINITION = re.compile(r"^(?:async )?(?:def|class) ([a-zA-Z]\w*)[(:]", re.MULTILINE)
EXPORTED = re.compile(r"^__all__ = [\[(](.*?)[\])]$", re.MULTILINE | re.DOTALL)
CONSTANT = re.compile(r"^([A-Z][A-Z0-9_]*)(?:: [^=\n]+)? = ", re.MULTILINE)
DIRECTIVE = re.compile(r"^::: (\S+)\n    options:\n((?: {6}.*\n?)*)", re.MULTILINE)
LINK = re.compile(r"\[`([\w.]+)`\]\[([\w.]+)\]")


@pytest.fixture(scope="module")
def pages():
    return site_api.build_pages()


@pytest.fixture(scope="module")
def documented(pages):
    """Module -> the names that its directive lists."""
    found = {}
    for text in pages.values():
        for module, options in DIRECTIVE.findall(text):
            assert module not in found, f"{module} is on two pages"
            members = yaml.safe_load(options)["members"] or []
            assert all(isinstance(name, str) for name in members), f"{module}: {members}"
            found[module] = members
    return found


def sources(project):
    paths = sorted((project / "mate_tf").rglob("*.py"))
    for path in paths:
        if "protos" not in path.parts:
            parts = path.relative_to(project).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            yield name, path.read_text(encoding="utf-8")


def test_names_of_mate_tf(pages):
    overview = pages["reference/api/mate_tf.md"]
    for name in mate_tf.__all__:
        assert f"[`mate_tf.{name}`]" in overview, name


def test_functions_and_classes_of_all_modules(project, documented):
    missing = [
        f"{module}.{name}"
        for module, text in sources(project)
        for name in DEFINITION.findall(text)
        if module != "mate_tf" and name not in documented.get(module, [])
    ]
    assert missing == []


def test_constants_of_all_modules(project, pages):
    text = "\n".join(pages.values())
    for module, source in sources(project):
        section = text.partition(f"::: {module}\n")[2].partition("\n:::")[0]
        for name in CONSTANT.findall(source):
            assert f'- "{name}"\n' in f"{section}\n" or f"`{name}`" in section, f"{module}.{name}"


def test_exports_of_packages(project, pages):
    exported = {
        module: re.findall(r'"(\w+)"', match[1])
        for module, text in sources(project)
        if module != "mate_tf" and (match := EXPORTED.search(text))
    }
    assert "mate_tf.attention" in exported
    for module, names in exported.items():
        page = next(text for text in pages.values() if f"::: {module}\n" in text)
        for name in names:
            listed = f"[`{name}`][" in page or f"- `{name}`" in page or f"- {name}\n" in page
            assert listed, f"{module}.{name}"


def test_links_lead_to_what_is_documented(pages, documented):
    anchors = set(documented) | {
        f"{module}.{name}" for module, names in documented.items() for name in names
    }
    for page, text in pages.items():
        broken = [target for _, target in LINK.findall(text) if target not in anchors]
        assert broken == [], page


def test_pages_are_in_import_order(pages):
    packages = [path.rpartition("/")[2].removesuffix(".md") for path in pages]
    assert packages[0] == "mate_tf"
    top = [name for name in packages[1:] if "." not in name]
    assert top.index("tables") < top.index("attention") < top.index("models") < top.index("cli")


def test_docstrings_have_sections_that_mkdocstrings_knows(project):
    """It reads `Examples:`, and shows `Example:` as a quotation."""
    wrong = [name for name, text in sources(project) if re.search(r"^ *Example:$", text, re.M)]
    assert wrong == []
