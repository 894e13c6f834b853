"""Runs as if they had been trained and evaluated."""

import numpy as np

from applications.classification import scores
from applications.keyword_spotting.presets import PRESETS
from applications.pipeline import run as runs
from applications.pipeline.config import override

LABELS = np.arange(100) % 10
WRONG_BASELINE = 20


def evaluated(root, preset, settings, wrong):
    """A run of a preset that is wrong for the first `wrong` of 100 clips."""
    config = override(PRESETS[preset], settings)
    run = runs.create(root, "keyword_spotting", preset, config)
    run.record("train", {"seconds": 60.0 + config.train.seed}, {})
    values = {
        "clips": 100,
        "accuracy": 1 - wrong / 100,
        "top_5_accuracy": 0.99,
        "baselines": {
            "nearest_mean_pattern": 1 - WRONG_BASELINE / 100,
            "most_frequent_class": 0.1,
        },
        "parameters": 1234,
        "milliseconds_per_clip": 2.5,
    }
    run.record("evaluate", values, {})
    predicted, baseline = (
        np.where(np.arange(100) < count, (LABELS + 1) % 10, LABELS)
        for count in (wrong, WRONG_BASELINE)
    )
    logits = np.eye(10)[predicted]
    scores.keep(run, config, labels=LABELS, logits=logits, baseline=baseline)


def cells(line):
    """Those of a row of a Markdown table."""
    return [cell.strip() for cell in line.strip("|").split("|")]
