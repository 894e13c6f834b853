"""`python -m applications.summarization.tune RUN`: the length penalty of a trained run.

Summarizes validation texts with the run's beam under several penalties and prints score
and length for each; the test set is not looked at.
"""

import sys
from collections.abc import Sequence

from applications.pipeline import tuning
from applications.summarization.__main__ import load
from applications.summarization.presets import PRESETS
from applications.text.tuning import tune


def main(names: Sequence[str]) -> int:
    """Tune one run and say how to evaluate it so."""
    return tuning.main(str(__doc__), "summarization", PRESETS, load, tune, names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
