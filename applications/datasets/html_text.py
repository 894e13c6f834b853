"""The readable text of an element of a web page, without any markup left."""

import re
from collections.abc import Iterator
from pathlib import Path

import lxml.html

_BLOCKS = frozenset(("div", "dl", "ol", "pre", "table", "ul"))

# Left behind where a picture stood: "Click the icon ."
_GAP_BEFORE_STOP = re.compile(r" ([.,])(?= |$)")


def parse_page(path: Path) -> lxml.html.HtmlElement:
    """Parse the UTF-8 web page at `path` and return its root element."""
    parser = lxml.html.HTMLParser(encoding="utf-8")
    return lxml.html.document_fromstring(path.read_bytes(), parser=parser)


def inline_text(element: lxml.html.HtmlElement) -> str:
    """Return the text of `element`, white space collapsed.

    Blocks inside it (lists, tables, listings, further paragraphs) and pictures are
    left out, soft hyphens too; line breaks count as spaces.
    """
    text = "".join(_strings(element)).replace("\u00ad", "")
    return _GAP_BEFORE_STOP.sub(r"\1", " ".join(text.split()))


def _strings(element: lxml.html.HtmlElement) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if child.tag == "br":
            yield " "
        elif isinstance(child.tag, str) and child.tag not in _BLOCKS:
            yield from _strings(child)
        yield child.tail or ""
