"""Sentence pairs from the help pages of two LibreOffice help packages.

The pages of all languages share their file names, and the paragraphs of a page
share ids such as `par_id3154044`. An id is unique only within the file it was
written in, and pages embed parts of one another: the n-th paragraph with an id on
a page is therefore paired with the n-th one with that id on the same page of the
other language, and only where both pages have equally many.
"""

from collections.abc import Iterator
from pathlib import Path

import lxml.html

from applications.datasets.html_text import inline_text, parse_page
from applications.datasets.pairs import Pair, aligned_sentences, unique

_PARAGRAPHS = "//*[starts-with(@id, 'par_id') or starts-with(@id, 'hd_id')]"
_SWITCHES = ".//span[@class='switchinline']"


def sentence_pairs(source: Path, target: Path) -> list[Pair]:
    """Return the unique sentence pairs of two folders of help pages.

    Args:
        source: The folder `text` of the source language.
        target: The same folder of the target language.
    """
    return unique(_all_pairs(source, target))


def _all_pairs(source: Path, target: Path) -> Iterator[Pair]:
    names = sorted(path.relative_to(source) for path in source.rglob("*.html"))
    for name in names:
        if (target / name).is_file():
            page = name.with_suffix("").as_posix()
            ours, theirs = paragraphs(source / name), paragraphs(target / name)
            for identifier, texts in ours.items():
                translations = theirs.get(identifier, [])
                if len(texts) == len(translations):
                    for text, translation in zip(texts, translations, strict=True):
                        yield from aligned_sentences(page, text, translation)


def paragraphs(page: Path) -> dict[str, list[str]]:
    """Return the prose of one help page: the texts under each paragraph id."""
    texts: dict[str, list[str]] = {}
    for element in parse_page(page).xpath(_PARAGRAPHS):
        if "code" not in element.get("class", ""):
            _keep_default_case(element)
            texts.setdefault(element.get("id"), []).append(inline_text(element))
    return texts


def _keep_default_case(element: lxml.html.HtmlElement) -> None:
    """Keep one case of `Command`/`Ctrl` alternatives: the default, or the first."""
    for switch in element.xpath(_SWITCHES):
        cases = list(switch)
        default = [case for case in cases if case.get("id", "").startswith("default")]
        kept = (default or cases)[:1]
        for case in cases:
            if case not in kept:
                case.drop_tree()
