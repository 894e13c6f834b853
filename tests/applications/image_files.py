"""Image files that tests write."""

import io

import numpy as np
from PIL import Image


def picture(path, value, size=(3, 2)):
    """Write an image of random colours that follow from `value`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(value).integers(0, 256, (*size, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(path)


def photo_folder(root):
    """Write two classes of 60 images each, some deeper, all different."""
    for value in range(60):
        picture(root / "cat" / f"{value}.png", value)
        picture(root / "dog" / "more" / f"{value}.BMP", 1000 + value, size=(2, 5))
    return root


def encoded(image, kind, **options):
    """The bytes of the file that a PIL image or an array becomes."""
    if isinstance(image, np.ndarray):
        image = Image.fromarray(image)
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()
