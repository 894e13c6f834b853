"""`python -m applications.translation STAGE [--preset NAME] [key=value ...]`."""

import sys
from typing import Any

from applications.pipeline import cli
from applications.translation.presets import PRESETS


def load() -> Any:
    """The application; imports TensorFlow."""
    from applications.translation.application import Translation

    return Translation()


if __name__ == "__main__":
    sys.exit(cli.main("translation", PRESETS, load))
