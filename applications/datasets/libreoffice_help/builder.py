"""The builder `libreoffice_help`."""

from typing import ClassVar

import tensorflow_datasets as tfds

from applications.datasets.builder import TranslationBuilder
from applications.datasets.libreoffice_help import corpus
from applications.datasets.pairs import Pair

# Languages that put spaces between words: pairs are filtered by their number.
_LANGUAGES = (
    *("de", "ca", "cs", "da", "el", "es", "et", "eu", "fi", "fr", "gl", "hi", "hu"),
    *("id", "it", "ko", "nl", "pl", "pt", "pt-br", "ru", "sk", "sl", "sv", "tr", "vi"),
)


class LibreofficeHelp(TranslationBuilder):
    """The help pages of LibreOffice, English to another language.

    `en-de` reads a file kept beside this module, so it needs no network; the others
    are made by the same code from the Debian packages `libreoffice-help-en-us` and
    `libreoffice-help-<language>`. Split by help page.

    Counts of `en-de`, from the packages of version 4:7.4.7-1+deb12u14 (12.1 words
    per source sentence):

    | split | pairs | pages |
    |---|---|---|
    | train | 33,589 | 2,109 |
    | validation | 1,177 | 102 |
    | test | 1,414 | 124 |
    """

    HOMEPAGE = "https://help.libreoffice.org"
    LICENSE = "MPL-2.0"
    BUILDER_CONFIGS: ClassVar = [
        tfds.core.BuilderConfig(name=f"en-{language}") for language in _LANGUAGES
    ]

    def _pairs(self) -> list[Pair]:
        language = self.builder_config.name.removeprefix("en-")
        return corpus.read() if language == "de" else corpus.fetch(language)[0]
