"""`python -m applications.speech_recognition.learning_curve [key=value ...]`: what
more data would bring.

Trains and evaluates the `compare` preset on a quarter, on half and on all of the
training clips, with as many steps each, and prints a Markdown table of the error rates
on the same test clips, with 95 % intervals over them (bootstrap). Below it stands what
twice the data would bring if the curve went on as a power law, and a picture of it.
Runs that are there already, with the same settings, are not made again; `key=value`
changes settings as in `train`, such as `data.name=fillets_speech/cs`.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from applications import markdown
from applications.classification.kinds import percent
from applications.pipeline import cli, figures, quiet, seeds
from applications.pipeline.comparison import evaluated, require_same
from applications.pipeline.run import Run
from applications.speech_recognition.compare import difference, with_interval
from applications.speech_recognition.presets import PRESETS

PRESET = "compare"
SHARES = (0.25, 0.5, 1.0)
CURVE = "learning-curve"


class Law(NamedTuple):
    """Errors as a power of the amount of data: `factor * amount ** exponent`."""

    factor: float
    exponent: float

    def at(self, amount: float) -> float:
        """The errors with so much data."""
        return self.factor * amount**self.exponent


def main(arguments: Sequence[str]) -> int:
    """Train what is missing, print the table, draw the curve."""
    return cli.on_runs(str(__doc__), arguments, _print)


def _print(settings: Sequence[str]) -> None:
    with quiet.startup():
        from applications.speech_recognition.application import SpeechRecognition
    found = [
        seeds.measured(
            SpeechRecognition(),
            PRESETS,
            PRESET,
            [*settings, f"data.train_share={share}"],
        )
        for share in SHARES
    ]
    print("\n".join([*table(found), "", outlook(found), "", str(draw(found))]))


def table(found: Sequence[Run]) -> list[str]:
    """The lines of the Markdown table, from little data to all."""
    from applications.speech_recognition.evaluation import read_transcripts

    written = [read_transcripts(run) for run in found]
    require_same(found, [right for _, right, _ in written], "clips")
    heads = ["share of the clips", "clips", "minutes of speech", "CER, %", "WER, %"]
    heads += ["CER, difference to half as much, points"]
    rows = []
    for number, (share, run) in enumerate(zip(SHARES, found, strict=True)):
        values, learned = evaluated(run), run.results()["train"]["metrics"]
        gap = "-"
        if number:
            (_, references, texts), (*_, before) = written[number], written[number - 1]
            gap = difference(texts, before, references)
        cells = [f"{100 * share:.0f} %", f"{learned['clips']:,}"]
        cells += [f"{learned['minutes_of_speech']:.1f}"]
        cells += [with_interval(values, name) for name in ("cer", "wer")]
        rows.append([*cells, gap])
    return markdown.table(heads, rows)


def outlook(found: Sequence[Run]) -> str:
    """What twice the data would bring, in a sentence."""
    minutes, rates = curve(found)
    law = fitted(minutes, rates)
    if law is None:
        return "No errors are left where there is a curve to follow."
    twice = 2 * minutes[-1]
    return (
        f"As a power law CER goes with minutes ** {law.exponent:.2f}: with "
        f"{twice:.0f} minutes of speech it would be {percent(law.at(twice))} %, if "
        "the curve went on."
    )


def fitted(amounts: Sequence[float], errors: Sequence[float]) -> Law | None:
    """The law nearest to points, in logarithms; none where there are no errors.

    Examples:
    >>> law = fitted([1, 2, 4], [0.8, 0.4, 0.2])
    >>> round(law.exponent, 6), round(law.at(8), 6)
    (-1.0, 0.1)
    """
    if min(errors) <= 0:
        return None
    exponent, logarithm = np.polyfit(np.log(amounts), np.log(errors), 1)
    return Law(float(np.exp(logarithm)), float(exponent))


def curve(found: Sequence[Run]) -> tuple[list[float], list[float]]:
    """Minutes of speech, and CER, of each run."""
    minutes = [run.results()["train"]["metrics"]["minutes_of_speech"] for run in found]
    return minutes, [evaluated(run)["cer"] for run in found]


def draw(found: Sequence[Run]) -> Path:
    """CER over minutes of speech, into the run of all data; returns the path."""
    from matplotlib.figure import Figure

    minutes, rates = curve(found)
    bounds = [evaluated(run)["cer_interval"] for run in found]
    low, high = (
        [
            100 * abs(rate - bound[side])
            for rate, bound in zip(rates, bounds, strict=True)
        ]
        for side in ("low", "high")
    )
    figure = Figure(figsize=(5, 4), layout="constrained")
    axes = figure.subplots()
    axes.errorbar(minutes, [100 * rate for rate in rates], (low, high), fmt="o-")
    axes.set(xlabel="minutes of speech", ylabel="test CER, %", xscale="log")
    axes.set_ylim(0, None)
    axes.set_xticks(minutes, [f"{one:.0f}" for one in minutes])
    axes.minorticks_off()
    return figures.save(found[-1], CURVE, figure)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
