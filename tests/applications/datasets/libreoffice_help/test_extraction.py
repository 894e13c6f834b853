import pytest

from applications.datasets.libreoffice_help.extraction import paragraphs, sentence_pairs
from applications.datasets.pairs import Pair

SWITCH = (
    '<span class="switchinline"><span hidden="true" class="MAC">{}</span>'
    '<span hidden="true" id="default1">{}</span></span>'
)


@pytest.fixture
def page(tmp_path):
    def write(language, name, *elements):
        path = tmp_path / language / f"{name}.html"
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(f"<html><body>{''.join(elements)}</body></html>", "utf-8")
        return path

    return write


def test_paragraphs_keeps_prose_and_the_default_case(page):
    keys = SWITCH.format("Command", "Ctrl")
    path = page(
        "en",
        "page",
        '<h1 id="hd_id1"><a name="x"></a>Title\n</h1>',
        f'<p id="par_id2" class="paragraph">Press {keys}+F now.</p>',
        '<p id="par_id3" class="code">CODE(1)</p>',
        '<p id="par_id2" class="paragraph">Again.</p>',
        "<p>No id.</p>",
    )
    assert paragraphs(path) == {
        "hd_id1": ["Title"],
        "par_id2": ["Press Ctrl+F now.", "Again."],
    }


def test_a_switch_without_default_keeps_its_first_case(page):
    switch = SWITCH.replace(' id="default1"', "").format("Command", "Strg")
    path = page("en", "page", f'<p id="par_id1">Press {switch}.</p>')
    assert paragraphs(path) == {"par_id1": ["Press Command."]}


def test_pairs_are_aligned_within_their_page(page):
    """The same id means other text on another page: never pair across pages."""
    english = page("en", "a", '<p id="par_id1">Opens the first dialog.</p>').parent
    page("en", "b", '<p id="par_id1">Closes the second window.</p>')
    german = page("de", "b", '<p id="par_id1">Schließt das zweite Fenster.</p>').parent
    page("de", "a", '<p id="par_id1">Öffnet den ersten Dialog.</p>')
    assert sentence_pairs(english, german) == [
        Pair("a", "Opens the first dialog.", "Öffnet den ersten Dialog."),
        Pair("b", "Closes the second window.", "Schließt das zweite Fenster."),
    ]


def test_ids_that_occur_unequally_often_are_left_out(page):
    text = '<p id="par_id1">Opens the first dialog.</p>'
    english = page("en", "a", text, text).parent
    german = page("de", "a", '<p id="par_id1">Öffnet den ersten Dialog.</p>').parent
    page("en", "only-english", '<p id="par_id9">Nobody has translated this.</p>')
    assert sentence_pairs(english, german) == []
