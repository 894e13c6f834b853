"""Images with captions: what every set of them means by "caption" and "test split"."""

import io
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from applications.datasets.errors import DataError
from applications.datasets.pairs import SPLITS, split_name

_ARTICLES = ("a", "an", "the")


class Captioned(NamedTuple):
    """One image and what it is called.

    Attributes:
        key: Names the image within its set.
        path: Its file.
        captions: One or more, as written.
        group: What its split is the hash of; empty where its folder or file says it.
        kin: Another name that images on two sides must not share; empty if none.
    """

    key: str
    path: Path
    captions: tuple[str, ...]
    group: str = ""
    kin: str = ""

    @property
    def marks(self) -> set[str]:
        """What no held-out image may share with one of train."""
        return {subject(caption) for caption in self.captions} | {f"kin {self.kin}"}


def subject(caption: str) -> str:
    """Return the words of a caption that say what is seen: no article in front.

    Examples:
    >>> subject("A Christmas tree.")
    'christmas tree'
    """
    from keras_attention.metrics import normalized_caption

    first, _, rest = normalized_caption(caption).partition(" ")
    return rest if rest and first in _ARTICLES else f"{first} {rest}".rstrip()


def split(images: Iterable[Captioned]) -> dict[str, list[Captioned]]:
    """Split images by the hash of their group (`pairs.split_name`), without leaks.

    A held-out image with a caption or a kin that is in train is dropped. Captions are
    equal if their words are, whatever the article in front, so that sets which hash
    their captions agree on the side of `A tiger.` and `tiger`.
    """
    parts: dict[str, list[Captioned]] = {name: [] for name in SPLITS}
    for image in images:
        parts[split_name(image.group)].append(image)
    seen = set().union(*(image.marks for image in parts["train"])) - {"kin "}
    for name in ("validation", "test"):
        parts[name] = [image for image in parts[name] if not image.marks & seen]
    return parts


def transparent_png(path: Path, largest: int) -> bytes:
    """Read an image file and return it as a PNG with an alpha channel.

    What lies behind the object is not decided here: the file keeps its alpha until a
    reader composes it on a background.

    Args:
        path: A file of any kind and mode that Pillow reads.
        largest: Most pixels of a side; a larger image is made smaller, by averages
            weighted by alpha, so that no colour of a transparent pixel shows.

    Raises:
        DataError: The file cannot be read or is no image.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as opened:
            image = opened.convert("RGBA")
    except UnidentifiedImageError as error:
        raise DataError(f"{path} is no image that can be read.") from error
    except OSError as error:
        reason = error.strerror or str(error).rstrip(".")
        raise DataError(f"{path} cannot be read: {reason}.") from error
    image.thumbnail((largest, largest), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()
