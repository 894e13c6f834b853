"""The builder `emoji`."""

import json
from collections.abc import Iterator
from pathlib import Path

from applications.datasets.caption_builder import CaptionBuilder
from applications.datasets.captioned import Captioned, subject
from applications.datasets.errors import DataError
from applications.datasets.fetch import npm_package

# The counts below are of these versions.
DRAWINGS = {"google": "16.0.0", "twitter": "16.0.0"}
NAMES = {"cldr-annotations-full": "48.2.0", "cldr-annotations-derived-full": "48.2.0"}

_INSTEAD = "Use the path of a folder of your own images with a captions.tsv."
_LEFT_OUT = ("country-flag", "subdivision-flag", "skin-tone")
_VARIATION = "\ufe0f"

# A man, a woman, a person, their signs, and what joins them to what they are or do.
_PERSONS = ("1F468", "1F469", "1F9D1", "2640", "2642", "200D", "FE0F")

# Words by which Unicode names a character and not what its drawing shows today:
# `black` stands for filled, and who was a man may be a person now. And words without
# the apostrophe that they have.
_NOT_SEEN = {
    *("black", "white", "heavy", "negative", "squared", "circled", "ideograph"),
    *("katakana", "symbol", "sign", "emoji", "modifier", "man", "woman", "boy", "girl"),
    *("mans", "womans", "oclock"),
}


class Emoji(CaptionBuilder):
    """Emoji as Google and Twitter draw them, with their English names.

    Drawings of 64 x 64 pixels from the npm packages `emoji-datasource-google` (Noto
    Emoji, Apache-2.0) and `emoji-datasource-twitter` (Twemoji, CC-BY-4.0), names from
    `cldr-annotations-full` and `cldr-annotations-derived-full` (Unicode-3.0). All are
    fetched, none is part of this project.

    Captions are the CLDR name, the British one where it differs, and the name of the
    Unicode character where it describes the same in other words; not where it calls a
    filled shape black or a person a man. Keywords are no captions: most say what one
    thinks of (`taxi`: drive, yellow). Left out are flags of countries and regions and
    the five skin tones, whose names nobody can see in the picture.

    Split by the hash of the CLDR name of the base code point, so that both drawings
    and a firefighter, man or woman, are on one side; a held-out emoji with a caption
    that is in train is dropped.

    Counts, from the versions in `DRAWINGS` and `NAMES`:

    | split | images | emoji | captions |
    |---|---|---|---|
    | train | 2,982 | 1,491 | 3,530 |
    | validation | 136 | 68 | 168 |
    | test | 170 | 85 | 210 |
    """

    HOMEPAGE = "https://github.com/iamcal/emoji-data"
    LICENSE = "Drawings: Apache-2.0 (Noto), CC-BY-4.0 (Twemoji). Names: Unicode-3.0"

    def _images(self) -> list[Captioned]:
        names = [npm_package(*package, _INSTEAD) for package in NAMES.items()]
        drawings = {
            vendor: npm_package(f"emoji-datasource-{vendor}", version, _INSTEAD)
            for vendor, version in DRAWINGS.items()
        }
        return images_from(drawings, names)


def images_from(drawings: dict[str, Path], names: list[Path]) -> list[Captioned]:
    """Return all drawings of the unpacked packages.

    Args:
        drawings: The package of each vendor.
        names: The packages with the names; later ones add to earlier ones.
    """
    american, british = (_read_names(names, language) for language in ("en", "en-001"))
    return [
        Captioned(f"{vendor}/{path.stem}", path, captions, group)
        for vendor, package in drawings.items()
        for emoji in _listed(package)
        if (path := package / "img" / vendor / "64" / emoji["image"]).is_file()
        if (captions := _captions(emoji, american, british))
        if (group := subject(american.get(base(emoji["unified"]), captions[0])))
    ]


def base(unified: str) -> str:
    """Return the character that says what an emoji shows.

    Args:
        unified: The code points of the emoji, in hexadecimal, joined by dashes.

    Examples:
    >>> base("1F469-200D-1F692") == base("1F468-200D-1F692") == "\N{FIRE ENGINE}"
    True
    """
    points = unified.split("-")
    told = [point for point in points if point not in _PERSONS]
    return _text((told or points)[0])


def _text(unified: str) -> str:
    return "".join(chr(int(point, 16)) for point in unified.split("-"))


def _listed(package: Path) -> Iterator[dict]:
    """The emoji of a package, without those whose name says what cannot be seen."""
    for emoji in _read_json(package / "emoji.json"):
        if emoji["subcategory"] not in _LEFT_OUT:
            yield emoji


def _captions(
    emoji: dict, american: dict[str, str], british: dict[str, str]
) -> tuple[str, ...]:
    """The names of an emoji that differ in their words, the CLDR name first."""
    text = _text(emoji["unified"]).replace(_VARIATION, "")
    name = american.get(text)
    if name is None:
        return ()
    found = {subject(name): name}
    formal = emoji["name"].lower()
    not_seen = _NOT_SEEN & (_words(formal) - _words(name))
    for other in (british.get(text), None if not_seen else formal):
        if other:
            found.setdefault(subject(other), other)
    return tuple(found.values())


def _words(name: str) -> set[str]:
    return set(subject(name).split())


def _read_names(packages: list[Path], language: str) -> dict[str, str]:
    """The CLDR names of characters and sequences, without variation selectors."""
    names: dict[str, str] = {}
    for package in packages:
        for path in sorted(package.glob(f"annotations*/{language}/annotations.json")):
            (content,) = _read_json(path).values()
            for text, said in content["annotations"].items():
                if "tts" in said:
                    names.setdefault(text.replace(_VARIATION, ""), said["tts"][0])
    return names


def _read_json(path: Path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {error}.") from error
