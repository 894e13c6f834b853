"""The builder `debian_handbook`."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import tensorflow_datasets as tfds

from applications.datasets.builder import TranslationBuilder
from applications.datasets.fetch import debian_package
from applications.datasets.html_text import inline_text, parse_page
from applications.datasets.pairs import Pair, aligned_sentences, unique

_INSTEAD = "Use libreoffice_help/en-de, which needs no network."
_FOLDER = "usr/share/doc/debian-handbook/html"
_ENGLISH = "en-US"

# The folders of the languages that most of the book is translated to.
_LANGUAGES = {
    "ca": "ca-ES",
    "de": "de-DE",
    "es": "es-ES",
    "fr": "fr-FR",
    "id": "id-ID",
    "it": "it-IT",
    "nb": "nb-NO",
    "pt-br": "pt-BR",
    "ru": "ru-RU",
}
_PARAGRAPHS = (
    "//div[@class='para'] | //p[@class='title']"
    " | //*[self::h1 or self::h2 or self::h3 or self::h4][@class='title']"
)
_NUMBER = re.compile(r"^(\w+ )?\d+(\.\d+)*\. ")


class DebianHandbook(TranslationBuilder):
    """The Debian Administrator's Handbook, English to another language.

    Book prose by Raphaël Hertzog and Roland Mas and its translators, from the
    Debian package `debian-handbook`. Split by page, which is one section of the
    book: of its 21 chapters none would be held out by their hash.

    Counts of `de`, from version 11.20220922 (17.2 words per source sentence):

    | split | pairs | pages |
    |---|---|---|
    | train | 5,210 | 107 |
    | validation | 101 | 3 |
    | test | 316 | 7 |
    """

    HOMEPAGE = "https://debian-handbook.info"
    LICENSE = "GPL-2.0-or-later or CC-BY-SA-3.0"
    BUILDER_CONFIGS: ClassVar = [
        tfds.core.BuilderConfig(name=name) for name in _LANGUAGES
    ]

    def _pairs(self) -> list[Pair]:
        book = debian_package("debian-handbook", _INSTEAD).root / _FOLDER
        return pairs_from(book / _ENGLISH, book / _LANGUAGES[self.builder_config.name])


def pairs_from(english: Path, translated: Path) -> list[Pair]:
    """Return the unique sentence pairs of two folders of the book's pages."""
    return unique(_all_pairs(english, translated))


def _all_pairs(english: Path, translated: Path) -> Iterator[Pair]:
    """Pair the paragraphs of pages that have equally many, in order."""
    for page in sorted(english.glob("*.html")):
        if (translated / page.name).is_file():
            texts = paragraphs(page)
            translations = paragraphs(translated / page.name)
            if len(texts) == len(translations):
                for text, translation in zip(texts, translations, strict=True):
                    yield from aligned_sentences(page.stem, text, translation)


def paragraphs(page: Path) -> list[str]:
    """Return the prose of a page, titles without their number."""
    elements = parse_page(page).xpath(_PARAGRAPHS)
    return [_NUMBER.sub("", inline_text(element)) for element in elements]
