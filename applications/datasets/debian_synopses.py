"""The builder `debian_synopses`: descriptions of packages and their synopses."""

import re
from collections.abc import Iterator

from applications.datasets.builder import TranslationBuilder
from applications.datasets.debian_descriptions import (
    Description,
    descriptions,
    family,
    source_packages,
)
from applications.datasets.fetch import debian_indexes
from applications.datasets.pairs import Pair, split

_INSTEAD = "Use a .tsv or .jsonl file of your own."
_FEWEST_WORDS = 25  # of a body
_VERSION = re.compile(r"[-.]?\d[\d.]*")
_PASSAGE = 12  # words


class DebianSynopses(TranslationBuilder):
    """Long descriptions of Debian packages and their one-line synopses.

    English, written by the packagers, from the package index of the machine's own
    Debian sources, so the counts follow its release. One row for each source package:
    that of the binary package with its name, or else of the first by name, whose body,
    the long description as one paragraph, has 25 words or more. `group` is the source
    package without version numbers (`gcc-12` and `gcc-13` are one), or its family
    (`ruby-*`, `golang-*`, ...).

    Split by the hash of the group. Projects write the same passages into packages of
    many names; a held-out row of whose runs of 12 words more than half stand in
    training rows is dropped, and so is one whose whole body does.

    Counts with the sources of Debian 12 (bodies 63.7 words on average, synopses 6.6):

    | split | rows | groups |
    |---|---|---|
    | train | 26,258 | 18,829 |
    | validation | 1,000 (94 dropped) | 992 |
    | test | 938 (75 dropped) | 927 |
    """

    HOMEPAGE = "https://www.debian.org/doc/debian-policy/ch-binary.html"
    LICENSE = "The licence of each package; there is no common notice."

    def _pairs(self) -> list[Pair]:
        return pairs_from(debian_indexes("en", _INSTEAD))

    def _parts(self) -> dict[str, list[Pair]]:
        return without_known(split(self._pairs()))


def pairs_from(indexes: dict[str, list[str]]) -> list[Pair]:
    """Return body and synopsis of each source package, in the order of their names."""
    sources = source_packages(indexes["Packages"])
    best: dict[str, tuple[tuple[bool, str], Pair]] = {}
    for found in descriptions(indexes["Translation-en"]).values():
        source = sources.get(found.package)  # None: an index older than the others
        body = _body(found)
        if source is None or len(body.split()) < _FEWEST_WORDS:
            continue
        rank = (found.package != source, found.package)
        if source not in best or rank < best[source][0]:
            group = family(_VERSION.sub("", source) or source)
            best[source] = rank, Pair(group, body, found.synopsis)
    return [best[source][1] for source in sorted(best)]


def without_known(parts: dict[str, list[Pair]]) -> dict[str, list[Pair]]:
    """Drop held-out pairs most of whose passages stand in training pairs."""
    known = {passage for pair in parts["train"] for passage in _passages(pair.source)}

    def is_new(pair: Pair) -> bool:
        passages = list(_passages(pair.source))
        return 2 * sum(passage in known for passage in passages) <= len(passages)

    held_out = {name: parts[name] for name in parts if name != "train"}
    return parts | {name: list(filter(is_new, held_out[name])) for name in held_out}


def _body(description: Description) -> str:
    return " ".join(description.paragraphs)


def _passages(text: str) -> Iterator[tuple[str, ...]]:
    """Every run of so many words, in lower case."""
    words = text.lower().split()
    for first in range(len(words) - _PASSAGE + 1):
        yield tuple(words[first : first + _PASSAGE])
