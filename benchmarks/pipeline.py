"""`python -m benchmarks pipeline`: does translation's training wait for its input?

Trains the `small` preset's model for some steps, fed as `fit` feeds it, and tells
waiting for a batch from computing on it. Prints the share of both in the time, and of
padding in the tokens of an epoch, beside the targets (row 16).
"""

import tempfile
import time
from pathlib import Path

STEPS, QUICK_STEPS, WARM_UP = 200, 2, 20
MOST_PADDING, MOST_WAITING = 0.20, 0.03


def run(quick: bool) -> None:
    """Print the two shares."""
    from applications.pipeline import run as runs
    from applications.pipeline import training
    from applications.translation.application import Translation
    from applications.translation.presets import PRESETS

    preset = "smoke" if quick else "small"
    application, config = Translation(), PRESETS[preset]
    with tempfile.TemporaryDirectory() as folder:
        directory = runs.create(Path(folder), application.name, preset, config)
        training.seed(config.train)
        application.prepare(config, directory)
        data = application.load(config, directory)
        waiting = _waiting(application, config, data, QUICK_STEPS if quick else STEPS)
    padding = _padding(data)
    for name, share, most in (
        ("padding", padding, MOST_PADDING),
        ("waiting for input", waiting, MOST_WAITING),
    ):
        verdict = "met" if share <= most else "missed"
        print(f"{name}: {100 * share:.1f} %, at most {100 * most:.0f} %: {verdict}")


def _padding(data) -> float:
    from applications.text.bucketing import padding_waste

    return padding_waste(data.train.epochs(0, 1))


def _waiting(application, config, data, steps: int) -> float:
    """Share of the time of `steps` steps in which no batch was there."""
    from applications.pipeline import optimizers, training

    batches = application.train_batches(config, data)
    model = application.build_model(config, data)
    model.compile(
        optimizer=optimizers.build(config.train, batches.batches_per_epoch),
        **application.objective(config, data),
    )
    iterator = iter(training.continuous(batches, 0, 2))
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
