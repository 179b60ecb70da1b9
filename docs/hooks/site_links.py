"""Paths of the repository and of the site, and the links between them.

Links in Markdown are written as paths in the repository, so that they work there too. The site has
the pages of docs/ at its root and results/ beside them; any other file that a page links to, such
as a notebook, is copied to repository/.
"""

import pathlib
import posixpath
import re
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS, RESULTS, OTHERS = "docs/", "results/", "repository/"

_FENCE = re.compile(r"^ *(```|~~~).*?^ *\1 *$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?P<before>(?<!`)\]\()(?P<target>[^()\s]+)(?P<after>(?: \"[^\"]*\")?\))")
_ELSEWHERE = re.compile(r"[a-z]+:|#|/")


def site_path(path: str) -> str:
    """Converts a path in the repository into the path on the site."""
    if path.startswith(DOCS):
        return path.removeprefix(DOCS)
    return path if path.startswith(RESULTS) else OTHERS + path


def repository_path(path: str) -> str:
    """Converts a path on the site into the path in the repository, the inverse of `site_path`."""
    if path.startswith(OTHERS):
        return path.removeprefix(OTHERS)
    return path if path.startswith(RESULTS) else DOCS + path


def links(markdown: str, source: str) -> Iterator[str]:
    """Yields the files that a page links to, outside of fenced code.

    Args:
        markdown: text of the page.
        source: its path in the repository.

    Returns:
        iterator over paths in the repository, without anchors. Web addresses are left out.
    """
    for match in _LINK.finditer(_FENCE.sub("", markdown)):
        if not _ELSEWHERE.match(match["target"]):
            yield _join(source, match["target"].partition("#")[0])


def rewrite(markdown: str, source: str) -> str:
    """Changes the links of a page so that they work on the site.

    Args:
        markdown: text of the page.
        source: its path in the repository.

    Returns:
        the text with links relative to the page's place on the site.
    """
    folder = posixpath.dirname(site_path(source))

    def rewrite_link(match):
        target, mark, anchor = match["target"].partition("#")
        if _ELSEWHERE.match(match["target"]):
            return match[0]
        target = posixpath.relpath(site_path(_join(source, target)), folder or ".")
        return match["before"] + target + mark + anchor + match["after"]

    pieces, end = [], 0
    for fence in _FENCE.finditer(markdown):
        pieces += [_LINK.sub(rewrite_link, markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*pieces, _LINK.sub(rewrite_link, markdown[end:])])


def pages() -> list[str]:
    """Lists the written Markdown pages of the site, as sorted paths in the repository."""
    found = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "results").rglob("*.md")]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def expand(nav, generated: list[str]):
    """Replaces "folder/*" in a navigation by the pages of the folder.

    Args:
        nav: lists, dicts from title to content, and paths on the site, as mkdocs.yml has them.
        generated: paths on the site of generated pages, in the order to show them in.

    Returns:
        the navigation, with index.md first, then the other written pages and the generated ones.
    """
    if isinstance(nav, dict):
        return {title: expand(inside, generated) for title, inside in nav.items()}
    if not isinstance(nav, list):
        return nav
    expanded = []
    for item in nav:
        if isinstance(item, str) and item.endswith("/*"):
            folder = item.removesuffix("*")
            written = sorted(
                map(site_path, pages()), key=lambda path: (path != f"{folder}index.md", path)
            )
            expanded += [path for path in [*written, *generated] if path.startswith(folder)]
        else:
            expanded.append(expand(item, generated))
    return expanded


def linked_files() -> list[str]:
    """Lists the files outside of docs/ and results/ that pages link to, directly or not.

    Returns:
        sorted paths in the repository. Links to what is not there are left out.
    """
    found, to_read = set(), pages()
    while to_read:
        source = to_read.pop()
        for path in links((ROOT / source).read_text(encoding="utf-8"), source):
            inside = path.startswith((DOCS, RESULTS))
            if not inside and path not in found and (ROOT / path).is_file():
                found.add(path)
                to_read += [path] if path.endswith(".md") else []
    return sorted(found)


def _join(source, target):
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
