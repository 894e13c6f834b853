"""`python -m applications.translation.tune RUN`: the length penalty of a trained run.

Translates validation sentences with the run's beam under several penalties and prints
score and length for each; the test set is not looked at.
"""

import sys
from collections.abc import Sequence

from applications.pipeline import tuning
from applications.text.tuning import tune
from applications.translation.__main__ import load
from applications.translation.presets import PRESETS


def main(names: Sequence[str]) -> int:
    """Tune one run and say how to evaluate it so."""
    return tuning.main(str(__doc__), "translation", PRESETS, load, tune, names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
