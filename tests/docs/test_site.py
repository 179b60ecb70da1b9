"""The whole site is built, without a warning; and nothing in it comes from another server."""

import json
import os
import re
import subprocess
import sys

import pytest
import site_api

import mate_tf

from .. import chromium

pytestmark = pytest.mark.slow

LOADED = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"(?:https?:)?//|<link\b[^>]*\bhref=\"(?:https?:)?//(?!www\.sitemaps)"
)


SEARCH = """
const [source, index, queries, done] = arguments;
const worker = new Worker(URL.createObjectURL(new Blob([source])));
const found = {};
worker.onmessage = ({data}) => {
  if (data.type === 3)
    found[queries[Object.keys(found).length]] = data.data.items.map(item => item[0].location);
  const next = queries[Object.keys(found).length];
  next === undefined ? done(found) : worker.postMessage({type: 2, data: next});
};
worker.postMessage({type: 0, data: {...index, options: {}}});
"""
"""Asks the worker of the site's search: messages of type 0 set up, 2 ask, 3 answer."""

GUIDES = {
    "own data": "tasks/custom.html",
    "resume": "reliability.html#resume-a-killed-command",
    "confidence": "serving.html#confidence",
    "heat map": "serving.html#heat-maps",
    "metric": "extending.html",
    "cell_heat_map": "reference/api/analysis.plots.html",
}
"""Query -> the place that the search finds first."""


@pytest.fixture(scope="module")
def site(project, tmp_path_factory):
    """The folder with the built site."""
    try:
        import material  # noqa: F401
    except ImportError:
        if os.environ.get("MATE_TF_REQUIRE_DOCS") == "1":
            pytest.fail("MATE_TF_REQUIRE_DOCS=1 but the extra `docs` is not installed")
        pytest.skip("needs the extra `docs`")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=project,
        env=os.environ | {"PYTHONPATH": str(project), "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    return folder


@pytest.fixture(scope="module")
def html(site):
    return {
        path.relative_to(site).as_posix(): path.read_text(encoding="utf-8")
        for path in site.rglob("*.html")
    }


@pytest.fixture(scope="module")
def found_by_search(site, tmp_path_factory):
    """Query -> places on the site, best first, as the search in the browser finds them."""
    chromium.require("selenium")
    [worker] = (site / "assets" / "javascripts" / "workers").glob("search.*.js")
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    with chromium.browser(tmp_path_factory.mktemp("profile")) as driver:
        driver.set_script_timeout(chromium.PATIENCE)
        driver.get((site / "404.html").as_uri())
        return driver.execute_async_script(SEARCH, worker.read_text("utf-8"), index, [*GUIDES])


def test_nothing_is_loaded_from_elsewhere(html, site):
    assert len(html) > 20
    assert [name for name, text in html.items() if LOADED.search(text)] == []
    styles = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    assert [text[:80] for text in styles if re.search(r"url\(\W?(?:https?:)?//", text)] == []


def test_public_names_have_anchors(html):
    overview = html["reference/api/mate_tf.html"]
    assert [name for name in mate_tf.__all__ if f"mate_tf.{name}</code>" not in overview] == []
    anchors = {anchor for text in html.values() for anchor in re.findall(r'id="([^"]+)"', text)}
    for package in site_api.packages():
        for module in site_api.modules(package):
            missing = [name for name in module.names if f"{module.name}.{name}" not in anchors]
            assert missing == [], module.name


def test_dtypes_are_shown(html):
    assert "<code>&lt;float&gt;[batch, seq, hidden]</code>" in html["reference/api/attention.html"]


@pytest.mark.environment
@pytest.mark.parametrize("query", GUIDES)
def test_the_search_finds_guides_before_names(found_by_search, query):
    assert found_by_search[query][0].startswith(GUIDES[query])


def test_written_pages_are_there(html, site):
    assert "From a CSV file to an answer" in html["architecture.html"]
    assert (site / "img" / "table_to_answer.svg").is_file()
    assert 'id="task.model.encoder"' in html["reference/configuration.html"]
    assert not list(site.rglob("*.py"))
