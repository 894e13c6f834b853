import shutil

import pytest

from applications.classification import scores
from applications.keyword_spotting import compare
from applications.pipeline import run as runs
from applications.pipeline.config import override
from keras_attention.models.sound_classifier import KINDS
from tests.applications.keyword_spotting.conftest import SMOKE
from tests.applications.keyword_spotting.runs_of_kinds import cells, evaluated


def test_every_kind_of_the_model_is_there():
    assert set(compare.KINDS) == set(KINDS)


def test_runs_that_are_there_make_the_table(root, capsys):
    for kind in compare.KINDS:
        for seed in range(3):
            settings = [f"model.kind={kind}", f"train.seed={seed}"]
            wrong = 1 + seed if kind == "keyword_transformer" else 12
            evaluated(root, compare.PRESET, settings, wrong)
    assert compare.main([]) == 0
    head, _, pattern, first, *_, last = capsys.readouterr().out.splitlines()
    assert head.startswith("| model | accuracy, %, over seeds | difference to nearest")
    found = cells(pattern)
    assert found[:3] == [compare.PATTERN, "80.0", "-"]
    assert found[3].startswith("-8.0 [-")
    assert found[4:] == ["-", "-", "-"]
    found = cells(first)
    assert found[:2] == ["mean_frames", "88.0 [88.0, 88.0]"]
    assert found[3:] == ["-", "2.5", "1,234", "61"]
    found = cells(last)
    # Mean 98, standard error 1 / sqrt(3), t(0.975, 2) = 4.3027.
    assert found[:2] == ["keyword_transformer", "98.0 [95.5, 100.5]"]
    assert found[2].startswith("+18.0 [+")
    assert found[3].startswith("+10.0 [+")


@pytest.mark.slow
def test_a_real_run_has_what_the_table_shows(smoke_run, settings, monkeypatch, capsys):
    """The smoke run is that of seed 0; another stands in for that of seed 1."""
    monkeypatch.setattr(compare, "KINDS", (SMOKE.model.kind,))
    monkeypatch.setattr(compare, "PRESET", "smoke")
    other = runs.create(
        smoke_run.directory.parents[1],
        "keyword_spotting",
        "smoke",
        override(SMOKE, [*settings, "train.seed=1"]),
    )
    for name in ("metrics.json", scores.PREDICTIONS):
        shutil.copy(smoke_run.path(name), other.path(name))
    assert compare.main(["seeds=2", *settings]) == 0
    *_, row = capsys.readouterr().out.splitlines()
    measured = smoke_run.results()["evaluate"]["metrics"]
    accuracy = f"{100 * measured['accuracy']:.1f}"
    assert cells(row)[1] == f"{accuracy} [{accuracy}, {accuracy}]"
