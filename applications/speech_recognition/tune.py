"""`python -m applications.speech_recognition.tune RUN`: how a trained run is searched.

Recognizes the validation clips by the run's beam, with CTC's share of the score first,
then with the length penalty at the best share, and prints the error rates of each. A
model without a decoder has neither. The test split is not looked at.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from applications.errors import UserError
from applications.pipeline import run as runs
from applications.pipeline import tuning
from applications.speech_recognition.__main__ import load
from applications.speech_recognition.presets import PRESETS, SpeechConfig

TRIED = {
    "ctc_weight": (0.1, 0.3, 0.5, 0.7, 0.9),
    "length_penalty": (0.0, 0.5, 1.0),
}


def main(names: Sequence[str]) -> int:
    """Tune one run and say how to evaluate it so; returns the exit code."""
    return tuning.main(str(__doc__), "speech_recognition", PRESETS, load, tune, names)


def tune(application: Any, config: SpeechConfig, run: runs.Run) -> list[str]:
    """The settings of the fewest character errors; prints a line for each tried.

    Raises:
        UserError: The model has nothing to tune.
    """
    from applications.pipeline import stages
    from applications.speech_recognition.evaluation import rates
    from applications.speech_recognition.recognizer import Recognizer

    if config.model.objective == "ctc":
        raise UserError(f"{run.name} has no decoder: there is nothing to tune.")
    data, model = stages.load(application, config, run)
    clips = data.clips("validation")
    print(f"{len(clips.texts)} validation clips, beam {config.search.num_beams}")
    search, chosen = config.search, []
    for key, values in TRIED.items():
        if key == "ctc_weight" and config.model.objective != "joint":
            continue
        found = {}
        for value in values:
            tried = replace(config, search=replace(search, **{key: value}))
            recognizer = Recognizer(model, replace(data, config=tried))
            found[value] = rates(recognizer(clips.frames), clips.texts)
            shown = ", ".join(f"{name} {x:.3f}" for name, x in found[value].items())
            print(f"search.{key}={value:g}: {shown}", flush=True)
        best = min(found, key=lambda value: found[value]["cer"])
        search = replace(search, **{key: best})
        chosen.append(f"search.{key}={best:g}")
    return chosen


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
