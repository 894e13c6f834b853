"""One trained run of the toy application, shared by the tests that only look at it."""

import shutil

import pytest

from applications.pipeline import run as runs
from tests.applications.pipeline import toy


@pytest.fixture(scope="session")
def trained_home(tmp_path_factory):
    root = tmp_path_factory.mktemp("saved_models")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(runs.ROOT_VARIABLE, str(root))
        assert toy.main(["train"]) == 0
    return root


@pytest.fixture
def root(tmp_path, monkeypatch):
    """An empty place for runs."""
    monkeypatch.setenv(runs.ROOT_VARIABLE, str(tmp_path))
    return tmp_path


@pytest.fixture
def trained(root, trained_home):
    """A copy of the trained run, free to change."""
    shutil.copytree(trained_home / "toy", root / "toy")
    return runs.find(root, "toy", name="small-001")
