"""`python -m applications.language_modeling STAGE [--preset NAME] [key=value ...]`."""

import sys
from typing import Any

from applications.language_modeling.presets import PRESETS
from applications.pipeline import cli


def load() -> Any:
    """The application; imports TensorFlow."""
    from applications.language_modeling.application import LanguageModeling

    return LanguageModeling()


if __name__ == "__main__":
    sys.exit(cli.main("language_modeling", PRESETS, load))
