import pytest

from benchmarks import tiles
from benchmarks.cases import CORE, Case
from keras_attention.ops import tiling


def constants():
    return {name: value for name, value in vars(tiling).items() if name.isupper()}


def test_settings_start_with_what_is_and_name_real_constants():
    first, *others = tiles.settings()
    assert not first
    assert {name for setting in others for name in setting} <= set(constants())


def test_constants_come_back_even_after_an_error():
    before = constants()
    seen = []

    def fail():
        seen.append(tiling.TILE_ROWS)
        raise RuntimeError

    with pytest.raises(RuntimeError), tiles.applied({"TILE_ROWS": 7}):
        fail()
    assert seen == [7]
    assert constants() == before


def test_every_setting_is_timed(monkeypatch):
    tried = [{}, {"TILE_ROWS": 8}]
    monkeypatch.setattr(tiles, "settings", lambda: tried)
    measured = tiles.measure(Case("a", CORE, (1, 16, 2, 4)), budget=0.0)
    assert [name for _, name in measured] == ["as it is", "TILE_ROWS=8"]
