"""The builder `tuxpaint_stamps`."""

import re
from collections.abc import Iterator
from pathlib import Path

from applications.datasets.caption_builder import CaptionBuilder
from applications.datasets.captioned import Captioned, subject
from applications.datasets.fetch import debian_package

_INSTEAD = "Use the path of a folder of your own images with a captions.tsv."
_PACKAGE = "tuxpaint-stamps-default"
_FOLDER = "usr/share/tuxpaint/stamps"
_MOST_WORDS = 12
_NO_LETTERS = re.compile(r"[\W\d_]+")


class TuxpaintStamps(CaptionBuilder):
    """The stamps of the drawing program Tux Paint: drawings and cut-out photographs.

    By Bill Kendrick and many others, from the Debian package
    `tuxpaint-stamps-default`; GPL-2, so it is fetched and never part of this project.
    Each stamp has one English caption, the first line of its text file: `A red apple.`

    Left out are stamps that are only drawn as SVG, which nothing here rasterises (165),
    and texts of more than 12 words, which explain and do not describe (20). A stamp
    has one image: those for its mirrored use are not taken.

    Split by the hash of the caption's words; a held-out stamp whose caption, or whose
    file name but for digits (`cow2`, `cow_3`), is in train is dropped. Stored with
    sides of at most 128 pixels.

    Counts, from version 2022.06.04:

    | split | images | different captions |
    |---|---|---|
    | train | 679 | 585 |
    | validation | 41 | 34 |
    | test | 38 | 33 |
    """

    HOMEPAGE = "https://tuxpaint.org/stamps"
    LICENSE = "GPL-2.0"

    def _images(self) -> list[Captioned]:
        return images_from(debian_package(_PACKAGE, _INSTEAD).root / _FOLDER)


def images_from(folder: Path) -> list[Captioned]:
    """Return the stamps of a folder that have a picture and a short caption."""
    return list(_all_images(folder))


def _all_images(folder: Path) -> Iterator[Captioned]:
    for text in sorted(folder.rglob("*.txt")):
        picture = text.with_suffix(".png")
        lines = text.read_text(encoding="utf-8", errors="replace").splitlines()
        caption = " ".join(lines[0].split()) if lines else ""
        words = subject(caption)
        if picture.is_file() and words and len(caption.split()) <= _MOST_WORDS:
            key = picture.relative_to(folder).with_suffix("").as_posix()
            yield Captioned(key, picture, (caption,), words, stem(picture))


def stem(path: Path) -> str:
    """Return the name of a file without what numbers its variants.

    Examples:
    >>> stem(Path("Candy_cane_photo_2.png")), stem(Path("7.png"))
    ('candy cane photo', '7')
    """
    return _NO_LETTERS.sub(" ", path.stem).strip().lower() or path.stem
