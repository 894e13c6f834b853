import shutil

import pytest

from applications.pipeline import run as runs
from tests.applications.image_files import photo_folder


@pytest.fixture
def photos(tmp_path):
    """A folder of images that a test may change."""
    return photo_folder(tmp_path / "my photos")


@pytest.fixture
def root(tmp_path, monkeypatch):
    """An empty place for runs."""
    monkeypatch.setenv(runs.ROOT_VARIABLE, str(tmp_path / "saved_models"))
    return tmp_path / "saved_models"


@pytest.fixture
def smoke_run(smoke, root, request):
    """A copy of the run that an application's `smoke` trained, free to change."""
    shutil.copytree(smoke[0], root)
    return runs.find(root, request.path.parent.name, name="smoke-001")
