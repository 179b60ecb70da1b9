"""README.md is short, links lead somewhere, and pictures are small."""

import pytest

from . import pages

MOST_WORDS, LONGEST_LINE = 1500, 140
PICTURES = sorted((pages.PROJECT / "docs" / "img").glob("*.png"))


def test_readme_is_short():
    words = (pages.PROJECT / "README.md").read_text(encoding="utf-8").split()
    assert len(words) <= MOST_WORDS


@pytest.mark.parametrize("path", pages.PAGES, ids=pages.name)
def test_lines(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > LONGEST_LINE] == []


@pytest.mark.parametrize("path", pages.PAGES, ids=pages.name)
def test_links(path):
    missing = [link for link, _ in pages.links(path) if not (path.parent / link).exists()]
    assert missing == []
    for link, anchor in pages.links(path):
        if anchor and link.endswith(".md"):
            assert anchor in pages.anchors(path.parent / link), f"{link}#{anchor}"


def test_pictures():
    """All of them together, and the one that README.md shows, are small; each is shown."""
    sizes = {path.name: path.stat().st_size for path in PICTURES}
    assert sum(sizes.values()) <= 1_200_000
    shown = {path: pages.links(path) for path in pages.PAGES}
    targets = {(path.parent / link).resolve() for path, found in shown.items() for link, _ in found}
    assert [path.name for path in PICTURES if path not in targets] == []
    for link, _ in shown[pages.PROJECT / "README.md"]:
        if link.endswith(".png"):
            assert (pages.PROJECT / link).stat().st_size <= 150_000
