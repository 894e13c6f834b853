"""`python -m applications.keyword_spotting STAGE [--preset NAME] [key=value]`."""

import sys
from typing import Any

from applications.keyword_spotting.presets import PRESETS
from applications.pipeline import cli


def load() -> Any:
    """The application; imports TensorFlow."""
    from applications.keyword_spotting.application import KeywordSpotting

    return KeywordSpotting()


if __name__ == "__main__":
    sys.exit(cli.main("keyword_spotting", PRESETS, load))
