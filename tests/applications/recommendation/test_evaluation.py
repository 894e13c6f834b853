from types import SimpleNamespace

import numpy as np
import pytest

from applications.errors import UserError
from applications.pipeline import run as runs
from applications.recommendation import evaluation, scores
from applications.recommendation.ranking import full_ranks
from tests.applications.recommendation.conftest import ITEMS, circle


@pytest.fixture
def run(config, root):
    return runs.create(root, "recommendation", "smoke", config)


def test_figures_follow_from_the_ranks(config, data, run, make_model):
    pytest.importorskip("scipy")
    model = make_model("gru")
    values = evaluation.evaluate(config, data, model, run)
    kept, sampled = scores.kept(run), scores.kept(run, "sampled")
    for name, ranks in kept.items():
        entry = values if name == "model" else values["baselines"][name]
        for key, found in (
            ("full_ranking", ranks),
            ("sampled_100_negatives", sampled[name]),
        ):
            stated = entry[key]["ndcg_10"]["value"]
            assert stated == pytest.approx(found.gains(10).mean())
    gap = values["baselines"]["item_knn"]["differences"]["ndcg_10"]
    own, other = (kept[name].gains(10).mean() for name in ("model", "item_knn"))
    assert gap["value"] == pytest.approx(own - other)
    assert gap["high"] < 0  # the model is not trained, and films go with their like
    assert values["baselines"]["item_knn"]["neighbours"] in config.baseline.neighbours
    assert "deletion_test" not in values
    assert values["users"] == 60


def test_baselines_know_nothing_of_what_is_held_out(config, data, run, monkeypatch):
    """They are fitted on training, chosen on validation, and read what models read."""
    fitted, asked = [], []

    def neighbours(learned, num_items, validation, *settings):
        fitted.extend([learned, validation])
        return constant

    def popularity(counts):
        fitted.append(counts)
        return constant

    def constant(histories):
        asked.append(histories)
        return np.ones((len(histories), ITEMS + 1), "float32")

    constant.neighbours = 10
    monkeypatch.setattr(evaluation, "best_neighbours", neighbours)
    monkeypatch.setattr(data, "scorer", lambda model: constant)
    monkeypatch.setattr(evaluation, "deletion_test", lambda *_: {})
    monkeypatch.setattr(evaluation, "Popularity", popularity)
    model = SimpleNamespace(count_params=lambda: 0)
    evaluation.evaluate(config, data, model, run)
    own = [circle(user) for user in range(60)]
    learned, validation, counts = fitted
    assert [items.tolist() for items in learned] == [items[:-2] for items in own]
    assert validation.targets.tolist() == [items[-2] for items in own]
    trained = np.concatenate([items[:-2] for items in own])
    assert counts.tolist() == np.bincount(trained, minlength=ITEMS + 1).tolist()
    _, *systems = asked  # the first is the check for NaN
    assert len(systems) == 3
    for histories in systems:
        assert [items.tolist() for items in histories] == [items[:-1] for items in own]


def test_validation_ranks_all_items(config, data, make_model):
    model = make_model("gru")
    values = evaluation.validate(config, data, model)
    expected = full_ranks(data.scorer(model), data.held_out("validation"))
    assert values == {
        "hit_rate": pytest.approx(expected.hits(10).mean()),
        "ndcg": pytest.approx(expected.gains(10).mean()),
    }
    assert data.scorer(model) is data.scorer(model)  # is traced once


def test_a_model_of_nan_is_refused(config, data, run, make_model):
    model = make_model("gru")
    model.set_weights([np.full_like(weight, np.nan) for weight in model.get_weights()])
    with pytest.raises(UserError, match="gives NaN for test users"):
        evaluation.evaluate(config, data, model, run)
    assert not run.path(scores.RANKS).exists()
