"""Markdown extension that shows `<float32>[batch, seq]` and `<split>.csv` in docstrings as code.

Without it, Markdown takes them for HTML and browsers leave them out.
"""

from xml.etree import ElementTree

from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.util import AtomicString, code_escape

_HTML = "a|b|br|code|div|em|hr|i|img|kbd|li|ol|p|pre|small|span|sub|sup|svg|t[dhr]|table|ul"
_TAG = rf"<(?!(?:{_HTML})>)[a-z][a-z0-9_ ]*>"
_PATTERN = rf"{_TAG}(?:[\w.*/-]*{_TAG})*(?:\[[^\]\n]*\]|[\w.*/-]*\w)?"
_PRIORITY = 185  # after code spans, 190, and before escapes, 180, links and HTML


class _PlaceholderProcessor(InlineProcessor):
    def handleMatch(self, m, data):
        element = ElementTree.Element("code")
        element.text = AtomicString(code_escape(m[0]))
        return element, m.start(0), m.end(0)


class PlaceholderExtension(Extension):
    """Registers the pattern with Python-Markdown."""

    def extendMarkdown(self, md):
        md.inlinePatterns.register(_PlaceholderProcessor(_PATTERN, md), "placeholder", _PRIORITY)
