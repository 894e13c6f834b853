"""`python -m applications.text_classification STAGE [--preset NAME] [key=value]`."""

import sys
from typing import Any

from applications.pipeline import cli
from applications.text_classification.presets import PRESETS


def load() -> Any:
    """The application; imports TensorFlow."""
    from applications.text_classification.application import TextClassification

    return TextClassification()


if __name__ == "__main__":
    sys.exit(cli.main("text_classification", PRESETS, load))
