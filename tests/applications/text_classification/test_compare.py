import shutil
from types import SimpleNamespace

import numpy as np
import pytest

from applications.classification import scores
from applications.pipeline import comparison
from applications.pipeline import run as runs
from applications.pipeline.config import override
from applications.text_classification import compare
from applications.text_classification.presets import PRESETS
from keras_attention.models.text_classifier import KINDS
from tests.applications.text_classification.conftest import SMOKE

LABELS = np.array([0, 1] * 50)


@pytest.fixture
def evaluated(root):
    """Makes runs of the preset as if they had been trained."""

    def make(kind, seed, wrong):
        config = override(
            PRESETS["compare"], [f"model.kind={kind}", f"train.seed={seed}"]
        )
        run = runs.create(root, "text_classification", "compare", config)
        run.record("train", {"seconds": 60.0 + seed}, {})
        counted = {"tfidf_logistic_regression": {"accuracy": 0.9, "roc_auc": 0.95}}
        tweets = {"accuracy": 0.6 + 0.1 * seed, "baselines": counted}
        values = {
            "accuracy": 1 - wrong / 100,
            "roc_auc": 0.9,
            "baselines": counted,
            "other_domains": {"tweets": tweets},
            "parameters": 1234,
        }
        run.record("evaluate", values, {})
        predicted = np.where(np.arange(100) < wrong, 1 - LABELS, LABELS)
        baseline = np.where(np.arange(100) < 10, 1 - LABELS, LABELS)
        scores.keep(
            run, config, labels=LABELS, logits=np.eye(2)[predicted], baseline=baseline
        )

    return make


def test_every_kind_of_the_model_is_there():
    assert set(compare.KINDS) == set(KINDS)


def test_runs_that_are_there_make_the_table(evaluated, capsys):
    for kind in compare.KINDS:
        for seed in range(3):
            evaluated(kind, seed, {"transformer": 5 + seed}.get(kind, 10))
    assert compare.main([]) == 0
    head, _, words, first, *_, last = capsys.readouterr().out.splitlines()
    assert head.startswith("| model | accuracy, %, over seeds | ROC AUC |")
    cells = [cell.strip() for cell in words.strip("|").split("|")]
    assert cells[:5] == [compare.WORDS, "90.0", "0.950", "-", "+0.0 [+0.0, +0.0]"]
    assert cells[5:] == ["90.0", "-", "-"]
    cells = [cell.strip() for cell in first.strip("|").split("|")]
    assert cells[:2] == ["mean_embeddings", "90.0 [90.0, 90.0]"]
    assert cells[3:] == ["+0.0 [+0.0, +0.0]", "-", "70.0", "1,234", "61"]
    cells = [cell.strip() for cell in last.strip("|").split("|")]
    # Mean 94, standard error 1 / sqrt(3), t(0.975, 2) = 4.3027.
    assert cells[:2] == ["transformer", "94.0 [91.5, 96.5]"]
    for gap in cells[3:5]:
        assert gap.startswith("+4.0 [+")


@pytest.mark.slow
def test_a_real_run_has_what_the_table_shows(smoke_run, data_dir, monkeypatch, capsys):
    """The smoke run is that of seed 0; another stands in for that of seed 1."""
    monkeypatch.setattr(compare, "KINDS", (smoke_run.config(type(SMOKE)).model.kind,))
    monkeypatch.setattr(compare, "PRESET", "smoke")
    settings = (f"data.data_dir={data_dir}", "train.seed=1")
    other = runs.create(
        smoke_run.directory.parents[1],
        "text_classification",
        "smoke",
        override(SMOKE, settings),
    )
    for name in ("metrics.json", scores.PREDICTIONS):
        shutil.copy(smoke_run.path(name), other.path(name))
    assert compare.main(["seeds=2", settings[0]]) == 0
    head, _, words, row = capsys.readouterr().out.splitlines()
    assert "| tweets, % | amazon, % |" in head
    measured = smoke_run.results()["evaluate"]["metrics"]
    accuracy = f"{100 * measured['accuracy']:.1f}"
    assert f"| {accuracy} [{accuracy}, {accuracy}] | {measured['roc_auc']:.3f}" in row
    gap = comparison.interval(
        SimpleNamespace(
            **{
                name: 100 * value
                for name, value in measured["above_tfidf_logistic_regression"].items()
            }
        )
    )
    assert row.split(" | ")[3] == gap
    counted = measured["baselines"]["tfidf_logistic_regression"]
    assert words.split(" | ")[1] == f"{100 * counted['accuracy']:.1f}"
