import keras
import numpy as np
import pytest

from applications.errors import UserError
from applications.image_classification import evaluation
from applications.pipeline import run as runs
from tests.applications.image_classification.conftest import cnn


@pytest.fixture(scope="module")
def measured(config, data, tmp_path_factory):
    """An untrained model, evaluated."""
    root = tmp_path_factory.mktemp("saved_models")
    run = runs.create(root, "image_classification", "smoke", config)
    return evaluation.evaluate(config, data, cnn(), run), run


def predictions(run):
    with np.load(run.path("predictions.npz")) as arrays:
        return arrays["labels"], arrays["logits"]


def test_figures_follow_from_the_predictions(measured, data):
    values, run = measured
    labels, logits = predictions(run)
    np.testing.assert_array_equal(labels, data.arrays("test")[1])
    right = labels == logits.argmax(axis=1)
    assert values["accuracy"] == pytest.approx(right.mean())
    ranks = (logits > logits[np.arange(len(labels)), labels][:, None]).sum(axis=1)
    assert values["top_5_accuracy"] == pytest.approx((ranks < 5).mean())
    assert list(values["by_class"]) == list(data.class_names)
    f1 = [one["f1"] for one in values["by_class"].values()]
    assert values["macro_f1"] == pytest.approx(np.nanmean(f1))


def test_the_baselines_know_the_digits(measured, data):
    """Each digit near its mean image; the most frequent one is a tenth of them."""
    values, _ = measured
    known, classes = data.arrays("train")
    images, labels = data.arrays("test")
    flat = images.reshape(len(images), 1, -1).astype(float)
    means = np.stack([known[classes == c].reshape(-1, flat.shape[-1]).mean(0)
                      for c in range(10)])  # fmt: skip
    nearest = ((flat - means) ** 2).sum(axis=-1).argmin(axis=1)
    baselines = values["baselines"]
    assert baselines["nearest_mean_image"] == pytest.approx((nearest == labels).mean())
    assert baselines["nearest_mean_image"] > 0.7
    frequent = np.bincount(classes).argmax()
    expected = (labels == frequent).mean()
    assert baselines["most_frequent_class"] == pytest.approx(expected)
    gap = values["above_nearest_mean_image"]
    difference = values["accuracy"] - baselines["nearest_mean_image"]
    assert gap["value"] == pytest.approx(difference)
    assert gap["low"] < gap["value"] < gap["high"] < 0  # it is not trained


def test_a_model_of_nan_is_refused(config, data, root):
    nan = keras.initializers.Constant(np.nan)
    layers = [keras.layers.Flatten(), keras.layers.Dense(10, bias_initializer=nan)]
    model = keras.Sequential([keras.Input(data.image_shape), *layers])
    run = runs.create(root, "image_classification", "smoke", config)
    with pytest.raises(UserError, match="gives NaN for test images"):
        evaluation.evaluate(config, data, model, run)
    assert not run.path("predictions.npz").exists()
