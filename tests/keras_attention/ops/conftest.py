import pytest

from keras_attention.ops import tiling


@pytest.fixture
def small_tiles(monkeypatch):
    """A tile holds one head and 16 rows, or 8 where the score is pairwise."""
    monkeypatch.setattr(tiling, "TILE_ELEMENTS", 1024)
    monkeypatch.setattr(tiling, "TILE_ROWS", 16)
    monkeypatch.setattr(tiling, "KEY_BLOCK", 16)
