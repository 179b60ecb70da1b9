"""API reference: the public names of mate_tf, found by reading its sources, not by importing them.

A page for each package, and for each package within one, lists the names that the package exports,
then documents its modules with mkdocstrings. Public are the functions, classes and constants of a
module that have no leading underscore, and whatever `__all__` exports.
"""

import ast
import dataclasses
import itertools
import pathlib
import re

from site_links import ROOT

FOLDER = "reference/api/"
PACKAGE = "mate_tf"
GENERATED = ("protos",)
"""Packages without docstrings: protoc wrote them. Their messages are those of protos/."""

_LAYOUT = "docs/architecture.md"
_LAYOUT_ROW = re.compile(r"^\| `(\w+)/` \|", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Module:
    """A module and what is public in it.

    Attributes:
        name: dotted name.
        summary: first line of its docstring.
        names: its own public functions, classes and constants with a description, in the order of
            the file.
        others: its other public constants, whose names say enough.
        exports: what `__all__` names: name to the dotted name of where it is defined.
    """

    name: str
    summary: str
    names: tuple[str, ...]
    others: tuple[str, ...]
    exports: dict[str, str]


def read_module(path: pathlib.Path) -> Module:
    """Reads a module of mate_tf without importing it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parts = path.relative_to(ROOT).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    exports = _exports(tree, name)
    public = {own: shown for own, shown in _defined(tree).items() if not own.startswith("_")}
    names = tuple(own for own, shown in public.items() if shown)
    others = tuple(own for own, shown in public.items() if not shown)
    summary = (ast.get_docstring(tree) or "").partition("\n")[0]
    return Module(name, summary, names, others, exports)


def packages() -> list[str]:
    """Lists the packages of mate_tf in import order, by the table of docs/architecture.md.

    Returns:
        names such as "data" and "data.datasets", packages before what is in them.
    """
    top = ROOT / PACKAGE
    found = [path.parent for pattern in ("*", "*/*") for path in top.glob(f"{pattern}/__init__.py")]
    names = [".".join(path.relative_to(top).parts) for path in found]
    order = _LAYOUT_ROW.findall((ROOT / _LAYOUT).read_text(encoding="utf-8"))

    def position(name):
        package = name.partition(".")[0]
        return order.index(package) if package in order else len(order), name

    return sorted((name for name in names if name not in GENERATED), key=position)


def modules(package: str) -> list[Module]:
    """Reads the modules on the page of a package, packages before their modules."""
    others = [ROOT / PACKAGE / other.replace(".", "/") for other in packages() if other != package]
    folder = ROOT / PACKAGE / package.replace(".", "/")
    inner = [other for other in others if folder in other.parents]
    paths = [
        path for path in folder.rglob("*.py") if not any(other in path.parents for other in inner)
    ]
    return sorted(map(read_module, paths), key=lambda module: module.name.split("."))


def build_pages() -> dict[str, str]:
    """Writes the pages.

    Returns:
        dict from the path on the site to Markdown, in the order of the navigation.
    """
    pages = {f"{FOLDER}{PACKAGE}.md": _overview()}
    for package in packages():
        pages[f"{FOLDER}{package}.md"] = _package_page(modules(package))
    return pages


def _overview() -> str:
    top = read_module(ROOT / PACKAGE / "__init__.py")
    rows = ["| name | |", "|---|---|"]
    for name, target in top.exports.items():
        if name in packages():
            summary = read_module(ROOT / PACKAGE / name / "__init__.py").summary
            rows.append(f"| [`{PACKAGE}.{name}`]({name}.md) | {_cell(summary)} |")
        else:
            rows.append(f"| [`{PACKAGE}.{name}`][{target}] | {_cell(_summary(target))} |")
    single = [read_module(path) for path in sorted((ROOT / PACKAGE).glob("*.py"))]
    texts = [
        f"# {PACKAGE}",
        top.summary,
        f"`import {PACKAGE}` gives these names. A name is imported when it is first used.",
        "\n".join(rows),
        *(_module_section(module) for module in single if module.name != PACKAGE),
    ]
    return "\n\n".join(texts) + "\n"


def _package_page(found: list[Module]) -> str:
    package = found[0]
    texts = [f"---\ntitle: {package.name}\n---", _directive(package, level=1)]
    if package.exports:
        texts.append(f"`{package.name}` exports:")
        texts.append(_export_list(package))
    texts += [_others(package)] if package.others else []
    texts += [_module_section(module) for module in found[1:]]
    return "\n\n".join(texts) + "\n"


def _module_section(module: Module) -> str:
    text = _directive(module, level=2)
    text += f"\n\n{_others(module)}" if module.others else ""
    if module.exports and set(module.exports) - set(module.names):
        text += f"\n\n`{module.name}` exports:\n\n{_export_list(module)}"
    return text


def _directive(module: Module, level: int) -> str:
    # Quoted, since YAML reads a bare NO as false.
    members = "".join(f'\n        - "{name}"' for name in module.names) or " false"
    return f"::: {module.name}\n    options:\n      heading_level: {level}\n      members:{members}"


def _others(module: Module) -> str:
    return "Constants: " + ", ".join(f"`{name}`" for name in module.others) + "."


def _export_list(module: Module) -> str:
    items = (
        f"[`{name}`][{target}]" if _is_documented(target) else f"`{name}`"
        for name, target in module.exports.items()
    )
    return "\n".join(f"- {item}" for item in items)


def _is_documented(target: str) -> bool:
    """Whether the name stands in a module of mate_tf: it may be another library's."""
    module, _, name = target.rpartition(".")
    return bool(_source(target)) or name in read_module(_source(module)).names


def _defined(tree: ast.Module) -> dict[str, bool]:
    """Names that a module defines, and whether they are documented: constants may not be."""
    names = {}
    for node, after in itertools.zip_longest(tree.body, tree.body[1:]):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names[node.name] = True
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            described = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                single = isinstance(target, ast.Name)  # griffe does not describe those of a tuple
                parts = [target] if single else getattr(target, "elts", [])
                parts = [part.value if isinstance(part, ast.Starred) else part for part in parts]
                names |= {part.id: described and single for part in parts}
    return names


def _exports(tree: ast.Module, module: str) -> dict[str, str]:
    """`__all__` of a module, each name with the place that it is imported from."""
    imported = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE):
            for alias in node.names:
                imported[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    lazy = _literal(tree, "_EXPORTS") or {}  # from where names are imported on first use
    for name, source in lazy.items():
        text = _source(source).read_text(encoding="utf-8")
        imported[name] = f"{source}.{name}" if re.search(rf"\b{name}\b", text) else source
    names = _literal(tree, "__all__") or ()
    return {name: _definition(imported.get(name, f"{module}.{name}")) for name in names}


def _definition(target: str) -> str:
    """Follows imports between modules to where a name is defined."""
    module, _, name = target.rpartition(".")
    path = _source(module)
    if path is None or _source(target):
        return target
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _definition(f"{node.module}.{alias.name}")
    return target


def _source(module: str) -> pathlib.Path | None:
    path = ROOT.joinpath(*module.split("."))
    candidates = (path / "__init__.py", path.with_suffix(".py"))
    return next((each for each in candidates if each.is_file()), None)


def _summary(target: str) -> str:
    module, _, name = target.rpartition(".")
    tree = ast.parse(_source(module).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return (ast.get_docstring(node) or "").partition("\n")[0]
    return ""


def _literal(tree: ast.Module, name: str):
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == name:
            return ast.literal_eval(node.value)
    return None


def _cell(text: str) -> str:
    return text.replace("|", r"\|")
