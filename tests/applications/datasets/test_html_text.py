import lxml.html
import pytest

from applications.datasets.html_text import inline_text, parse_page


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p>Press <b>Ctrl</b>+<i>F</i></p>", "Press Ctrl+F"),
        ("<p>a<br>b\n\t c&nbsp;d</p>", "a b c d"),
        ("<p>x &lt; y &amp; &Uuml;ber</p>", "x < y & Über"),
        (
            "<div>Before <pre>code</pre><ul><li>item</li></ul> after</div>",
            "Before after",
        ),
        ('<p>the icon <img src="x.png">.</p>', "the icon."),
        ("<p>Click ... now</p>", "Click ... now"),
        ("<p>soft&shy;ware<!-- remark --></p>", "software"),
    ],
)
def test_inline_text(markup, text):
    assert inline_text(lxml.html.fragment_fromstring(markup)) == text


def test_parse_page_reads_utf8_whatever_the_page_says(tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<html><body><p>Größe</p></body></html>", encoding="utf-8")
    assert inline_text(parse_page(page).find(".//p")) == "Größe"
