"""`python -m applications.recommendation STAGE [--preset NAME] [key=value ...]`."""

import sys
from typing import Any

from applications.pipeline import cli
from applications.recommendation.presets import PRESETS


def load() -> Any:
    """The application; imports TensorFlow."""
    from applications.recommendation.application import Recommendation

    return Recommendation()


if __name__ == "__main__":
    sys.exit(cli.main("recommendation", PRESETS, load))
