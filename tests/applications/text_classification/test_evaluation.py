import numpy as np
import pytest

from applications.classification import scores
from applications.errors import UserError
from applications.pipeline import run as runs
from applications.text_classification import evaluation


@pytest.fixture
def run(config, root):
    return runs.create(root, "text_classification", "smoke", config)


@pytest.mark.slow
def test_figures_follow_from_the_predictions(config, data, run, make_classifier):
    model = make_classifier("mean_embeddings").model
    values = evaluation.evaluate(config, data, model, run)
    with np.load(run.path(scores.PREDICTIONS)) as kept:
        labels, logits, baseline = kept["labels"], kept["logits"], kept["baseline"]
    np.testing.assert_array_equal(labels, data.texts("test").labels)
    right = labels == logits.argmax(axis=1)
    assert values["accuracy"] == pytest.approx(right.mean())
    counted = values["baselines"]["tfidf_logistic_regression"]
    assert counted["accuracy"] == pytest.approx((baseline == labels).mean())
    gap = values["above_tfidf_logistic_regression"]
    assert gap["value"] == pytest.approx(right.mean() - counted["accuracy"])
    assert gap["low"] <= gap["value"] <= gap["high"] < 0  # the model is not trained
    tweets = values["other_domains"]["tweets"]
    assert tweets["texts"] == 50
    assert tweets["baselines"]["tfidf_logistic_regression"]["accuracy"] > 0.8
    assert values["agreement"]["texts"] == config.explain.agreement_texts
    assert "gradient x input, occlusion" in values["agreement"]


def test_a_model_of_nan_is_refused(config, data, run, make_classifier):
    model = make_classifier("mean_embeddings").model
    model.get_layer("logits").bias.assign(np.full(2, np.nan))
    with pytest.raises(UserError, match="gives NaN for test texts"):
        evaluation.evaluate(config, data, model, run)
    assert not run.path(scores.PREDICTIONS).exists()
