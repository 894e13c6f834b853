"""`python -m applications.image_classification STAGE [--preset NAME] [key=value]`."""

import sys
from typing import Any

from applications.image_classification.presets import PRESETS
from applications.pipeline import cli


def load() -> Any:
    """The application; imports TensorFlow."""
    from applications.image_classification.application import ImageClassification

    return ImageClassification()


if __name__ == "__main__":
    sys.exit(cli.main("image_classification", PRESETS, load))
