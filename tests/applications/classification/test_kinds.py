import numpy as np
import pytest

from applications.classification import kinds, scores
from applications.pipeline import run as runs
from applications.text_classification.presets import PRESETS

pytest.importorskip("scipy")

LABELS = np.array([0, 1] * 5)


@pytest.fixture
def found(root):
    """Two evaluated runs: one is wrong once, the other three times."""

    def make(wrong):
        config = PRESETS["smoke"]
        run = runs.create(root, "text_classification", "smoke", config)
        values = {"accuracy": 1 - wrong / 10, "baselines": {"words": {"accuracy": 0.8}}}
        run.record("evaluate", values, {})
        predicted, baseline = (
            np.where(np.arange(10) < count, 1 - LABELS, LABELS) for count in (wrong, 2)
        )
        logits = np.eye(2)[predicted]
        scores.keep(run, config, labels=LABELS, logits=logits, baseline=baseline)
        return run

    return [make(1), make(3)]


def test_what_runs_of_a_kind_left(found):
    kind = kinds.measured("bag", found)
    assert kind.name == "bag"
    np.testing.assert_allclose(kind.hits, [0, 0.5, 0.5, *[1] * 7])
    np.testing.assert_array_equal(kind.baseline, [0, 0, *[1] * 8])
    assert kind.mean("evaluate", "baselines", "words", "accuracy") == 0.8
    np.testing.assert_allclose(kind.each("evaluate", "accuracy"), [0.9, 0.7])
    # Mean 80, standard error 10, t(0.975, 1) = 12.706.
    assert kind.accuracy("dev") == "80.0 [-47.1, 207.1]"


def test_differences_over_the_examples(found):
    kind = kinds.measured("bag", found)
    assert kinds.gap(kind.hits, kind.hits) == "+0.0 [+0.0, +0.0]"
    assert kinds.gap(np.ones(4), np.zeros(4)) == "+100.0 [+100.0, +100.0]"
    assert kinds.percent(0.123) == "12.3"
