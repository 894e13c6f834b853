from dataclasses import replace

import numpy as np
import pytest

from applications.pipeline import run as runs
from applications.recommendation import scores
from applications.recommendation.ranking import Ranking
from keras_attention.metrics import Ranks
from tests.applications.recommendation.conftest import SMOKE

RANKS = Ranks(np.array([0, 1, 11, 3]), np.array([1, 2, 1, 1]))
FOUND = Ranking(RANKS, Ranks(np.zeros(4, int), np.ones(4, int)), np.array([[1, 2]] * 4))


def test_figures_have_intervals_over_users():
    found = scores.figures(RANKS, 10)
    assert found["hit_rate_10"]["value"] == pytest.approx(3 / 4)
    gains = [1, (1 / np.log2(3) + 1 / 2) / 2, 0, 1 / np.log2(5)]
    assert found["ndcg_10"]["value"] == pytest.approx(np.mean(gains))
    mrr = [1, (1 / 2 + 1 / 3) / 2, 1 / 12, 1 / 4]
    assert found["mrr"]["value"] == pytest.approx(np.mean(mrr))
    for one in found.values():
        assert one["low"] < one["value"] < one["high"]


def test_differences_are_of_the_same_users():
    values = np.array([0.1, 0.5, 0.9, 0.2])
    found = scores.difference(values + 0.25, values)
    np.testing.assert_allclose(found, 0.25)  # no width: it is the same for all


def test_lists_of_one_popular_item():
    found = replaced(recommended=np.array([[4], [4]]))
    values = scores.lists(found, np.array([1, 2]), np.array([0, 1, 2, 3, 9]), 1)
    assert values == pytest.approx(
        {
            "coverage_1": 0.25,
            "popularity_percentile_1": 0.875,
            "popularity_percentile_taken": 0.25,
            "popularity_bias_1": 0.625,
        }
    )


def replaced(**changed):
    return FOUND._replace(**changed)


def test_ranks_are_kept_by_name(root):
    run = runs.create(root, "recommendation", "smoke", SMOKE)
    scores.keep(run, SMOKE, {"model": FOUND, "popularity": FOUND}, targets=np.arange(4))
    for name, ranks in scores.kept(run).items():
        assert name in ("model", "popularity")
        np.testing.assert_array_equal(ranks, RANKS)
    (sampled, _) = scores.kept(run, "sampled").values()
    assert sampled.average.tolist() == [1, 1, 1, 1]


def test_ranks_of_other_settings_are_not_kept(root):
    run = runs.create(root, "recommendation", "smoke", SMOKE)
    other = replace(SMOKE, evaluation=replace(SMOKE.evaluation, top_k=3))
    scores.keep(run, other, {"model": FOUND})
    assert not run.path(scores.RANKS).exists()
