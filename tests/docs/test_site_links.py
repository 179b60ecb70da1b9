"""Paths and links between the repository and the site, and the navigation of mkdocs.yml."""

import pytest
import site_api
import site_links
import yaml

GENERATED = "reference/configuration.md"


@pytest.fixture(scope="module")
def nav(project):
    return yaml.safe_load((project / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]


def leaves(nav):
    if isinstance(nav, str):
        return [nav]
    return [
        leaf for part in (nav.values() if isinstance(nav, dict) else nav) for leaf in leaves(part)
    ]


def test_navigation_has_all_pages_and_no_other(nav):
    generated = [*site_api.build_pages(), GENERATED]
    written = [site_links.site_path(path) for path in site_links.pages()]
    shown = leaves(site_links.expand(nav, generated))
    assert sorted(shown) == sorted([*written, *generated])


def test_expand(monkeypatch):
    monkeypatch.setattr(
        site_links, "pages", lambda: ["docs/a.md", "results/b.md", "results/index.md"]
    )
    nav = ["a.md", {"Results": ["results/*"], "API": ["api/*", "end.md"]}]
    found = site_links.expand(nav, ["api/z.md", "api/c.md"])
    assert found == [
        "a.md",
        {
            "Results": ["results/index.md", "results/b.md"],
            "API": ["api/z.md", "api/c.md", "end.md"],
        },
    ]


@pytest.mark.parametrize(
    ("repository", "site"),
    [
        ("docs/tasks/tables.md", "tasks/tables.md"),
        ("results/index.md", "results/index.md"),
        ("colab/quickstart.ipynb", "repository/colab/quickstart.ipynb"),
    ],
)
def test_paths(repository, site):
    assert site_links.site_path(repository) == site
    assert site_links.repository_path(site) == repository


@pytest.mark.parametrize(
    ("source", "link", "expected"),
    [
        ("docs/a.md", "tasks/b.md", "tasks/b.md"),
        ("docs/a.md", "../results/b.md#c", "results/b.md#c"),
        ("docs/tasks/a.md", "../../results/b.md", "../results/b.md"),
        ("docs/tasks/a.md", "../../colab/b.ipynb", "../repository/colab/b.ipynb"),
        ("results/a.md", "../docs/b.md", "../b.md"),
        ("results/a.md", "b.md", "b.md"),
        ("README.md", "docs/b.md", "../b.md"),
        ("docs/a.md", "#b", "#b"),
        ("docs/a.md", "https://example.org/b.md", "https://example.org/b.md"),
    ],
)
def test_rewrite(source, link, expected):
    fence = "\n\n```python\n[a](../results/b.md)\n```\n"
    text = f"[a]({link}), ![b]({link}){fence}[c]({link})\n"
    wanted = f"[a]({expected}), ![b]({expected}){fence}[c]({expected})\n"
    assert site_links.rewrite(text, source) == wanted


def test_links():
    text = "[a](b.md#c) [d](https://e.f) ![g](../h.png)\n```\n[i](j.md)\n```\n"
    assert list(site_links.links(text, "docs/x.md")) == ["docs/b.md", "h.png"]
