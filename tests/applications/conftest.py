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
