"""A smoke run through all stages, and a file of one's own."""

import numpy as np
import pytest

from applications.kernel_regression.__main__ import load
from applications.kernel_regression.presets import PRESETS
from keras_attention import models
from tests.applications.command_line import CommandLine

# The stages in the order a user calls them, and what he adds.
STAGES = {
    "train": (),
    "evaluate": (),
    "predict": ("input=1.5", "input=-2", "input=1e9"),
    "explain": ("input=0.5",),
    "export": (),
}

regress = CommandLine("kernel_regression", PRESETS, load)


@pytest.fixture(scope="session")
def smoke(tmp_path_factory):
    """All stages of the smoke preset, as a user calls them.

    Returns:
        The root of the runs, and by stage `(seconds, what it printed)`.
    """
    root = tmp_path_factory.mktemp("saved_models")
    return root, regress.stages(root, STAGES)


@pytest.fixture
def own_file(tmp_path):
    """Twenty rows of ten different x, in columns of other names."""
    path = tmp_path / "mine.csv"
    rows = "".join(f"{i % 10},{i},note\n" for i in range(20))
    path.write_text("hour,load,remark\n" + rows)
    return path


@pytest.fixture
def make_model():
    """A model that knows seven points."""

    def make(kind, bandwidth=0.7):
        model = models.AttentionRegressor(7, kind, bandwidth, hidden_dim=5)
        x = np.array([-2.0, -1.5, 0.25, 0.5, 1.0, 2.0, 3.0])
        model.remember(x, np.sin(x))
        return model

    return make
