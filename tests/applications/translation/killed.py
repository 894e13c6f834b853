"""`python -m applications.translation`, killed at step `KILL_AT` of the environment."""

import sys

from applications.pipeline import cli
from applications.translation.presets import PRESETS
from tests.applications.pipeline.toy import killers


def load():
    from applications.pipeline import training
    from applications.translation.application import Translation

    class Killed(Translation):
        def train(self, config, data, run):
            return training.fit(self, config, data, run, callbacks=killers())

    return Killed()


if __name__ == "__main__":
    sys.exit(cli.main("translation", PRESETS, load))
