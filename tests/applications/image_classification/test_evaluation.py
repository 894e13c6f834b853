import numpy as np
import pytest

from applications.image_classification import evaluation
from applications.pipeline import run as runs
from keras_attention import metrics
from tests.applications.image_classification.conftest import cnn


@pytest.fixture
def measured(config, data, root):
    """An untrained model, evaluated."""
    run = runs.create(root, "image_classification", "smoke", config)
    return evaluation.evaluate(config, data, cnn(), run), run


def test_figures_follow_from_the_predictions(measured, data):
    values, run = measured
    labels, probabilities = evaluation.read_predictions(run)
    np.testing.assert_array_equal(labels, data.arrays("test")[1])
    assert values["accuracy"] == metrics.accuracy(labels, probabilities)
    assert values["top_5_accuracy"] == metrics.top_k_accuracy(labels, probabilities, 5)
    assert values["accuracy"] <= values["top_5_accuracy"]
    assert list(values["by_class"]) == list(data.class_names)
    f1 = [one["f1"] for one in values["by_class"].values()]
    np.testing.assert_allclose(values["macro_f1"], np.nanmean(f1))


def test_the_baselines_know_the_digits(measured, data):
    """Each digit near its mean image; the most frequent one is a tenth of them."""
    baselines = measured[0]["baselines"]
    assert baselines["nearest_mean_image"] > 0.7
    labels = data.arrays("test")[1]
    shares = np.bincount(labels) / len(labels)
    assert baselines["most_frequent_class"] in shares


def test_changed_settings_leave_the_predictions_of_the_run(measured, config, data):
    from dataclasses import replace

    _, run = measured
    before = run.path("predictions.npz").read_bytes()
    changed = replace(config, data=replace(config.data, test_limit=7))
    few = type(data)(changed.data, changed.augmentation)
    assert evaluation.evaluate(changed, few, cnn(), run)["images"] == 7
    assert run.path("predictions.npz").read_bytes() == before
