"""A log in which every user goes on to the next film of a circle, and a smoke run.

What comes next is sure and all films are about as popular, so models of sequences soon
know it and popularity never does.
"""

from dataclasses import replace

import numpy as np
import pytest

from applications.datasets.interactions import Catalogue
from applications.recommendation import networks
from applications.recommendation.__main__ import load
from applications.recommendation.data import RecommendationData
from applications.recommendation.presets import PRESETS
from tests.applications.command_line import CommandLine
from tests.applications.untrained import restarted

SMOKE = PRESETS["smoke"]
USERS, ITEMS, TAKEN = 66, 20, 9
CATALOGUE = Catalogue(
    ("", *(str(100 + i) for i in range(1, ITEMS + 1))),
    ("", *(f"Film {i}" for i in range(1, ITEMS + 1))),
)
# The stages in the order a user calls them, and what he adds.
STAGES = {
    "train": (),
    "evaluate": (),
    "predict": ("input=101, 102,103", "input="),
    "explain": ("input=104,105,106,107",),
    "export": (),
}

recommend = CommandLine("recommendation", PRESETS, load)


def circle(user):
    """What a user takes: ids of neighbouring films, from one of his own on."""
    return [(user * 7 + step) % ITEMS + 1 for step in range(TAKEN)]


@pytest.fixture(scope="session")
def log_file(tmp_path_factory):
    """The log of these users, one row with no item and one repeated."""
    path = tmp_path_factory.mktemp("own") / "films.csv"
    rows = ["user,item,time,title", "0,,3,nothing", f"0,{100 + circle(0)[0]},99,"]
    rows += [
        f"{user},{100 + item},{step},Film {item}"
        for user in range(USERS)
        for step, item in enumerate(circle(user))
    ]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def settings(log_file, tmp_path_factory):
    """What a user adds to train on it."""
    folder = tmp_path_factory.mktemp("prepared")
    return (f"data.name={log_file}", f"data.data_dir={folder}")


@pytest.fixture(scope="session")
def config(settings):
    name, folder = (setting.partition("=")[2] for setting in settings)
    return replace(SMOKE, data=replace(SMOKE.data, name=name, data_dir=folder))


@pytest.fixture
def of_kind(config):
    """Makes the settings of a kind of model."""

    def make(kind, loss="full", **changed):
        return replace(
            config,
            data=replace(config.data, **changed),
            model=replace(config.model, kind=kind),
            train=replace(config.train, loss=loss),
        )

    return make


@pytest.fixture
def make_data(of_kind):
    """Makes the data of a kind of model."""

    def make(kind="sasrec", loss="full", **changed):
        return RecommendationData(of_kind(kind, loss, **changed), CATALOGUE)

    return make


@pytest.fixture
def data(make_data):
    return make_data()


@pytest.fixture
def make_model(of_kind):
    """Untrained models with larger weights, for choices that are no near ties."""

    def make(kind="sasrec", **changed):
        return restarted(networks.build(of_kind(kind, **changed), ITEMS))

    return make


@pytest.fixture
def counts():
    """How many users took each film, the 7th most and those after it next."""
    return np.array([0, *np.roll(np.arange(ITEMS, 0, -1), 6)])


@pytest.fixture(scope="session")
def smoke(settings, tmp_path_factory):
    """All stages of the smoke preset, as a user calls them.

    Returns:
        The root of the runs, and by stage `(seconds, what it printed)`.
    """
    root = tmp_path_factory.mktemp("saved_models")
    return root, recommend.stages(root, STAGES, *settings)
