from dataclasses import replace

import numpy as np
import pytest

from applications.classification import scores
from applications.pipeline import run as runs
from applications.text_classification.presets import PRESETS
from keras_attention import metrics

NAMES = ("bad", "good")
LABELS = np.array([0, 0, 1, 1])
LOGITS = np.array([[2.0, 0], [0, 1], [0, 3], [0, 1]], "float32")


@pytest.fixture
def run(root):
    return runs.create(root, "text_classification", "smoke", PRESETS["smoke"])


def test_figures_by_hand():
    found = scores.figures(LABELS, LOGITS, NAMES)
    assert found["accuracy"] == 0.75
    assert found["by_class"]["bad"] == {"precision": 1, "recall": 0.5, "f1": 2 / 3}
    assert found["by_class"]["good"] == {"precision": 2 / 3, "recall": 1, "f1": 0.8}
    assert found["macro_f1"] == pytest.approx((2 / 3 + 0.8) / 2)
    assert 0 < found["calibration_error"] < 1


def test_ranking_is_by_probabilities():
    """Logits that all rise alike say nothing, and change nothing."""
    labels = np.array([0, 1, 2, 0, 1, 2])
    logits = np.array(
        [[3, 0, 1], [0, 1, 0.5], [1, 2, 2], [1, 2, 0], [2, 1, 0], [0, 0, 3]]
    )
    exact = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    shifted = (logits + 10.0 * np.arange(6)[:, None]).astype("float32")
    found = scores.roc_auc(labels, shifted)
    assert found == pytest.approx(metrics.roc_auc(labels, exact))
    assert found != pytest.approx(metrics.roc_auc(labels, shifted))
    sure = np.array([[0, 20.0], [0, 25], [0, 30]], "float32")  # 1.0 in float32
    assert scores.roc_auc(np.array([0, 1, 1]), sure) == 1


def test_only_predictions_of_the_runs_own_settings_are_kept(run):
    config = PRESETS["smoke"]
    path = run.path(scores.PREDICTIONS)
    changed = replace(config, data=replace(config.data, test_limit=4))
    scores.keep(run, changed, labels=LABELS)
    assert not path.exists()
    scores.keep(run, config, labels=LABELS)
    assert np.load(path)["labels"].tolist() == LABELS.tolist()


def test_pictures(run):
    scores.draw(run, LABELS, LOGITS, NAMES)
    names = {path.name for path in run.path("figures", "x").parent.iterdir()}
    assert names == {"confusion.png", "reliability.png"}


def test_differences():
    gap = scores.difference(LABELS, np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]))
    assert gap.value == 0.25
    assert gap.low == 0
    assert gap.high > gap.value
    same = scores.difference_of_hits(np.array([0.5, 1.0]), np.array([1.0, 0.5]))
    assert same.value == 0
    assert same.low < 0 < same.high


def test_five_guesses_where_there_are_more_classes():
    assert scores.top_five(LABELS, LOGITS) == {}
    logits = np.tile(np.arange(6.0), (4, 1))
    assert scores.top_five(LABELS, logits) == {"top_5_accuracy": 0.5}


def test_wilsons_interval():
    """Against scipy's: `binomtest(8, 10).proportion_ci(method="wilson")`."""
    found = scores.accuracy_interval(np.arange(10) < 8)
    assert found == pytest.approx({"low": 0.4902, "high": 0.9433}, abs=1e-4)
    sure = scores.accuracy_interval(np.ones(100))
    assert sure["high"] == pytest.approx(1)
    assert 0.95 < sure["low"] < 0.97
    assert scores.accuracy_interval(np.zeros(5))["low"] == pytest.approx(0, abs=1e-9)
