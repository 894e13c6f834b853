"""`python -m applications.kernel_regression STAGE [--preset NAME] [key=value ...]`."""

import sys
from typing import Any

from applications.kernel_regression.presets import PRESETS
from applications.pipeline import cli


def load() -> Any:
    """The application; imports TensorFlow."""
    from applications.kernel_regression.application import KernelRegression

    return KernelRegression()


if __name__ == "__main__":
    sys.exit(cli.main("kernel_regression", PRESETS, load))
