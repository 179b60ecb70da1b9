"""HTML as a browser would read it, roughly."""

import html.parser

HOSTILE = "<script>alert('x')</script><img src=x onerror=\"alert(1)\">&amp;'"


class Parsed(html.parser.HTMLParser):
    """Tags with their attributes, and the cells' texts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.cells, self.opened = [], [], []
        self.feed(text)
        assert not self.opened

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.opened += [] if tag in ("br", "img", "meta") else [tag]
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.opened.pop() == tag

    def handle_data(self, text):
        if {"td", "th"} & set(self.opened) and "span" not in self.opened:
            self.cells[-1] += text

    def with_class(self, name):
        return [
            attributes
            for _, attributes in self.tags
            if name in (attributes.get("class") or "").split()
        ]
