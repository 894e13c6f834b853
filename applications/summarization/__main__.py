"""`python -m applications.summarization STAGE [--preset NAME] [key=value ...]`."""

import sys
from typing import Any

from applications.pipeline import cli
from applications.summarization.presets import PRESETS


def load() -> Any:
    """The application; imports TensorFlow."""
    from applications.summarization.application import Summarization

    return Summarization()


if __name__ == "__main__":
    sys.exit(cli.main("summarization", PRESETS, load))
