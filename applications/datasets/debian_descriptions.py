"""The builder `debian_descriptions`."""

import re
from collections.abc import Iterable, Iterator
from typing import ClassVar, NamedTuple

import tensorflow_datasets as tfds

from applications.datasets.builder import TranslationBuilder
from applications.datasets.fetch import debian_indexes
from applications.datasets.pairs import Pair, aligned_sentences, unique

_INSTEAD = "Use libreoffice_help/en-de, which needs no network."
_FAMILIES = ("golang", "haskell", "node", "php", "python", "r", "ruby", "rust")
_UNTRANSLATED = "<trans>"
_BULLET = re.compile(r" *[*\-+o•] ")


class DebianDescriptions(TranslationBuilder):
    """Descriptions of Debian packages, English to German, French or Italian.

    Written by the packagers and translated by the Debian Description Translation
    Project; read from the package index of the machine's own Debian sources, so the
    counts follow its release. Split by source package, families of packages with
    near-equal descriptions (`ruby-*`, `golang-*`, ...) kept together.

    Counts with the sources of Debian 12 (about 12 words per source sentence):

    | language | train | validation | test |
    |---|---|---|---|
    | de | 37,961 | 1,936 | 1,941 |
    | fr | 53,644 | 2,475 | 2,655 |
    | it | 132,890 | 5,639 | 5,237 |
    """

    HOMEPAGE = "https://www.debian.org/international/l10n/ddtp"
    LICENSE = "The licence of each package; there is no common notice."
    BUILDER_CONFIGS: ClassVar = [
        tfds.core.BuilderConfig(name=language) for language in ("de", "fr", "it")
    ]

    def _pairs(self) -> list[Pair]:
        language = self.builder_config.name
        return pairs_from(debian_indexes(language, _INSTEAD), language)


class Description(NamedTuple):
    """One description: its package, its one-line synopsis, its paragraphs."""

    package: str
    synopsis: str
    paragraphs: list[str]


def pairs_from(indexes: dict[str, list[str]], language: str) -> list[Pair]:
    """Return the unique sentence pairs of the texts that `debian_indexes` gives."""
    return unique(_all_pairs(indexes, language))


def _all_pairs(indexes: dict[str, list[str]], language: str) -> Iterator[Pair]:
    sources = source_packages(indexes["Packages"])
    english = descriptions(indexes["Translation-en"])
    translated = descriptions(indexes[f"Translation-{language}"])
    for key in sorted(english.keys() & translated.keys()):
        ours, theirs = english[key], translated[key]
        group = family(sources.get(ours.package, ours.package))
        texts = [(ours.synopsis, theirs.synopsis)]
        if len(ours.paragraphs) == len(theirs.paragraphs):
            texts += zip(ours.paragraphs, theirs.paragraphs, strict=True)
        for text, translation in texts:
            if _UNTRANSLATED not in translation:
                yield from aligned_sentences(group, text, translation)


def family(source_package: str) -> str:
    """Return the name that stays on one side of the split with `source_package`."""
    prefix = source_package.partition("-")[0]
    return prefix if prefix in _FAMILIES else source_package


def source_packages(texts: Iterable[str]) -> dict[str, str]:
    """Map binary packages to the source package they are built from."""
    sources = {}
    for fields in _stanzas(texts):
        name = fields["Package"][0]
        sources[name] = fields.get("Source", [name])[0].split(" ")[0]
    return sources


def descriptions(texts: Iterable[str]) -> dict[str, Description]:
    """Read an index of descriptions by the checksum of the English original."""
    found = {}
    for fields in _stanzas(texts):
        (body,) = (
            lines
            for name, lines in fields.items()
            if name.startswith("Description-") and name != "Description-md5"
        )
        found[fields["Description-md5"][0]] = Description(
            fields["Package"][0], body[0], paragraphs(body[1:])
        )
    return found


def _stanzas(texts: Iterable[str]) -> Iterator[dict[str, list[str]]]:
    """Yield the stanzas of index files: the lines of each field by its name."""
    for text in texts:
        for stanza in filter(None, re.split(r"\n{2,}", text.strip("\n"))):
            fields: dict[str, list[str]] = {}
            lines: list[str] = []
            for line in stanza.split("\n"):
                if line.startswith(" "):
                    lines.append(line[1:])
                else:
                    name, _, value = line.partition(":")
                    lines = fields.setdefault(name, [])
                    lines.append(value.strip())
            yield fields


def paragraphs(lines: Iterable[str]) -> list[str]:
    """Join the lines of a long description into paragraphs and list items."""
    blocks: list[list[str]] = [[]]
    for line in lines:
        if line.strip() == ".":
            blocks.append([])
        elif _BULLET.match(line):
            blocks.append([_BULLET.sub("", line, count=1)])
        else:
            blocks[-1].append(line)
    texts = (" ".join(" ".join(block).split()) for block in blocks)
    return [text for text in texts if text]
