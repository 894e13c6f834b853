"""What the tests of the recommenders share: sizes, histories, models far from zero."""

import numpy as np

from keras_attention import models
from tests.keras_attention.models import toys

ITEMS, LONGEST, D, N, F = 11, 7, 8, 2, 10
V = ITEMS + 1
LENGTHS = np.array([4, 7, 1])
REAL = np.arange(LONGEST) < LENGTHS[:, None]
HISTORIES = np.where(REAL, np.random.default_rng(2).integers(1, V, (3, LONGEST)), 0)
TARGETS = np.where(REAL, np.random.default_rng(3).integers(1, V, (3, LONGEST)), 0)
NEGATIVES = np.random.default_rng(4).integers(1, V, (3, 5))
LOG_Q = np.random.default_rng(5).uniform(-3, -1, (3, 5)).astype("float32")
SAMPLED = {
    "items": HISTORIES,
    "targets": TARGETS,
    "negatives": NEGATIVES,
    "log_q": LOG_Q,
}


def make(kind, **options):
    """A small one, trained by the softmax over all items, but for `din`."""
    sizes = {
        "hidden_dim": D,
        "intermediate_dim": F,
        "num_layers": 2,
        "num_heads": N,
        "max_sequence_length": LONGEST,
        "sampled_softmax": kind == "din",
    }
    return models.SequenceRecommender(ITEMS, kind, **{**sizes, **options})


def sharp(kind, **options):
    """The same with weights far enough from zero that what is read makes a change."""
    return toys.sharpened(make(kind, **options))
