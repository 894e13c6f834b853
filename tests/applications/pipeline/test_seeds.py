import json

import numpy as np
import pytest

from applications.errors import UserError
from applications.pipeline import run as runs
from applications.pipeline import seeds
from tests.applications.pipeline.toy import PRESETS, Toy

pytest.importorskip("scipy")


def test_seeds_and_settings_are_told_apart():
    assert seeds.parsed([]) == (range(3), [])
    arguments = ["train.epochs=1", "seeds=2", "train.seed=7"]
    assert seeds.parsed(arguments) == (range(2), ["train.epochs=1", "train.seed=7"])


@pytest.mark.parametrize("count", ["1", "x", "", "-3", "2.5"])
def test_seeds_must_be_two_or_more(count):
    with pytest.raises(UserError, match="`seeds` must be an integer of 2 or more"):
        seeds.parsed([f"seeds={count}"])


def test_the_interval_is_students():
    # Mean 2, standard error 1 / sqrt(3), t(0.975, 2) = 4.302653.
    found = seeds.interval(np.array([1.0, 2.0, 3.0]), "dev")
    np.testing.assert_allclose(found, [2, -0.484138, 4.484138], rtol=1e-5)


def test_a_run_is_made_once(root, capsys):
    preset = next(iter(PRESETS))
    settings = ["train.epochs=1", "train.seed=1"]
    first = seeds.measured(Toy(), PRESETS, preset, settings)
    assert f"{first.name}: train.epochs=1 train.seed=1" in capsys.readouterr().out
    assert {"train", "evaluate"} <= set(first.results())
    assert seeds.measured(Toy(), PRESETS, preset, settings) == first
    assert capsys.readouterr().out == ""
    other = seeds.measured(Toy(), PRESETS, preset, ["train.epochs=1", "train.seed=2"])
    assert other != first
    assert len(runs.all_of(root, "toy")) == 2
    kept = json.loads(first.path("metrics.json").read_text())
    kept["evaluate"][0]["protocol"]["changed"] = ["data.test_limit=3"]
    first.path("metrics.json").write_text(json.dumps(kept))
    again = seeds.measured(Toy(), PRESETS, preset, settings)
    assert again == first
    assert "changed" not in again.results()["evaluate"]["protocol"]


def test_each_value_of_a_key_has_a_run_of_each_seed(root, monkeypatch):
    made = []
    monkeypatch.setattr(seeds, "measured", lambda *given: made.append(given) or given)
    found = seeds.of_each(
        Toy(), PRESETS, "small", "model.units", ["3", "5"], range(2), ["train.epochs=1"]
    )
    assert list(found) == ["3", "5"]
    assert [given[3] for given in made] == [
        ["train.epochs=1", f"model.units={units}", f"train.seed={seed}"]
        for units in (3, 5)
        for seed in (0, 1)
    ]
    assert found["5"] == made[2:]
