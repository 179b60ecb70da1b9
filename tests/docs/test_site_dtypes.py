"""Dtypes and placeholders in docstrings are shown as code; HTML and code stay what they are."""

import markdown
import pytest
import site_dtypes


@pytest.mark.parametrize(
    ("text", "html"),
    [
        (
            "x: <float32>[batch, seq], 0 or 1.",
            "<p>x: <code>&lt;float32&gt;[batch, seq]</code>, 0 or 1.</p>",
        ),
        ("Reads <split>.csv.", "<p>Reads <code>&lt;split&gt;.csv</code>.</p>"),
        ("<a_b>-<c>_<d>.", "<p><code>&lt;a_b&gt;-&lt;c&gt;_&lt;d&gt;</code>.</p>"),
        ("a `<int>[b]` c", "<p>a <code>&lt;int&gt;[b]</code> c</p>"),
        ("a <b>c</b> x<sub>1</sub>", "<p>a <b>c</b> x<sub>1</sub></p>"),
        ("a < b and b > c", "<p>a &lt; b and b &gt; c</p>"),
    ],
)
def test_placeholders(text, html):
    assert markdown.markdown(text, extensions=[site_dtypes.PlaceholderExtension()]) == html
