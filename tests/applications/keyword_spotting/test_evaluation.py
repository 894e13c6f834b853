import numpy as np
import pytest

from applications.classification import scores
from applications.errors import UserError
from applications.keyword_spotting import evaluation
from applications.pipeline import run as runs


@pytest.fixture
def data(make_data):
    return make_data(frames=True, max_frames=20, test_limit=15)


@pytest.fixture
def run(data, root):
    return runs.create(root, "keyword_spotting", "smoke", data.config)


def test_figures_follow_from_the_predictions(data, run, make_classifier):
    model = make_classifier(data, "mean_frames").model
    values = evaluation.evaluate(data.config, data, model, run)
    with np.load(run.path(scores.PREDICTIONS)) as kept:
        labels, logits, baseline = kept["labels"], kept["logits"], kept["baseline"]
    test = data.clips("test")
    np.testing.assert_array_equal(labels, test.labels)
    right = labels == logits.argmax(axis=1)
    assert values["clips"] == len(labels) == 15
    assert values["accuracy"] == pytest.approx(right.mean())
    assert values["accuracy_interval"] == scores.accuracy_interval(right)
    assert 0 <= values["top_5_accuracy"] <= 1
    nearest = values["baselines"]["nearest_mean_pattern"]
    assert nearest == pytest.approx((baseline == labels).mean())
    assert nearest > 0.8
    gap = values["above_nearest_mean_pattern"]
    assert gap["value"] == pytest.approx(right.mean() - nearest)
    assert values["cut_clips"] == sum(len(clip) == 20 for clip in test.frames) > 0
    assert values["milliseconds_per_clip"] > 0


def test_a_model_of_nan_is_refused(data, run, make_classifier):
    model = make_classifier(data, "mean_frames").model
    model.get_layer("logits").bias.assign(np.full(10, np.nan))
    with pytest.raises(UserError, match="gives NaN for test clips"):
        evaluation.evaluate(data.config, data, model, run)
    assert not run.path(scores.PREDICTIONS).exists()
