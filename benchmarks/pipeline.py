"""`python -m benchmarks pipeline`: does translation's training wait for its input?

Trains the `small` preset's model for some steps, fed as `fit` feeds it, and tells
waiting for a batch from computing on it. Prints the share of waiting in the time, and
of padding in the tokens of an epoch, beside the targets (row 16), and writes them into
`results/pipeline.md`.
"""

import tempfile
import time
from datetime import date
from pathlib import Path

from benchmarks import report
from benchmarks.cases import Target

STEPS, QUICK_STEPS, WARM_UP = 200, 2, 20
TARGETS = {"padding": 20.0, "waiting for input": 3.0}  # percent, at most


def run(folder: Path | None, quick: bool) -> None:
    """Print the two shares and write them into `folder`."""
    from applications.pipeline import run as runs
    from applications.pipeline import training
    from applications.text.bucketing import padding_waste
    from applications.translation.application import Translation
    from applications.translation.presets import PRESETS

    preset = "smoke" if quick else "small"
    application, config = Translation(), PRESETS[preset]
    with tempfile.TemporaryDirectory() as root:
        directory = runs.create(Path(root), application.name, preset, config)
        training.seed(config.train)
        application.prepare(config, directory)
        data = application.load(config, directory)
        waiting = _waiting(application, config, data, QUICK_STEPS if quick else STEPS)
    padding = padding_waste(data.train.epochs(0, 1))
    found = {"padding": padding, "waiting for input": waiting}
    text = markdown(preset, {name: 100 * share for name, share in found.items()})
    print(text)
    if folder is not None:
        (folder / "pipeline.md").write_text(text + "\n")


def markdown(preset: str, percent: dict[str, float]) -> str:
    """The shares beside their targets."""
    lines = ["| row | share of | at most | reached | |", "|---|---|---|---|---|"]
    for name, most in TARGETS.items():
        word = report.Verdict(name, Target(16, "share", most), percent[name]).word
        lines.append(f"| 16 | {name} | {most:.0f} % | {percent[name]:.1f} % | {word} |")
    about = f"Translation's `{preset}` preset, {date.today()}: {report.machine()}."
    return "\n".join([about, "", *lines])


def _waiting(application, config, data, steps: int) -> float:
    """Share of the time of `steps` steps in which no batch was there."""
    from applications.pipeline import optimizers, training

    batches = application.train_batches(config, data)
    model = application.build_model(config, data)
    model.compile(
        optimizer=optimizers.build(config.train, batches.batches_per_epoch),
        **application.objective(config, data),
    )
    epochs = 1 + (WARM_UP + steps) // batches.batches_per_epoch
    iterator = iter(training.continuous(batches, 0, epochs))
    waited = total = 0.0
    for step in range(WARM_UP + steps):
        if step == WARM_UP:
            waited = total = 0.0
        start = time.perf_counter()
        batch = next(iterator)
        waited += time.perf_counter() - start
        model.train_on_batch(*batch)
        total += time.perf_counter() - start
    return waited / total
