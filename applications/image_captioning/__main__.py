"""`python -m applications.image_captioning STAGE [--preset NAME] [key=value]`."""

import sys
from typing import Any

from applications.image_captioning.presets import PRESETS
from applications.pipeline import cli


def load() -> Any:
    """The application; imports TensorFlow."""
    from applications.image_captioning.application import ImageCaptioning

    return ImageCaptioning()


if __name__ == "__main__":
    sys.exit(cli.main("image_captioning", PRESETS, load))
