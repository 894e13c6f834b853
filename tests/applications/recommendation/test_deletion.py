from dataclasses import replace

import numpy as np
import pytest

from applications.recommendation import deletion
from applications.recommendation.attention import ATTENTION
from applications.recommendation.deletion import deletion_test, recommended


def test_attention_that_points_at_what_matters_is_above_chance(
    data, make_model, monkeypatch
):
    """The shares are those of the falls themselves: the most attended falls most."""
    model = make_model()
    score = data.scorer(model)

    def all_falls(model, history, item, max_length):
        places = range(len(history))
        found = deletion.falls(score, history, item, places)
        return {ATTENTION: found - found.min()}

    monkeypatch.setattr(deletion, "shares", all_falls)
    config = replace(
        data.config, evaluation=replace(data.config.evaluation, deletion_users=20)
    )
    found = deletion_test(config, data, model)["deletion_test"]
    assert found["users"] == 20
    assert found["difference"]["low"] > 0
    assert found["difference"]["value"] == pytest.approx(
        found["most_attended"]["value"] - found["random"]["value"]
    )


def test_the_other_item_is_another_one_that_was_read():
    random = np.random.default_rng(0)
    attended = np.array([0.1, 0.6, 0.3])
    pairs = {deletion._places(attended, 10, random) for _ in range(50)}
    assert pairs == {(8, 7), (8, 9)}


def test_a_model_without_attention_has_none(data, make_model):
    assert deletion_test(data.config, data, make_model("gru")) == {}


def test_what_is_recommended_was_not_taken(data, make_model):
    history = np.arange(1, 20, dtype="int32")
    assert recommended(data.scorer(make_model()), [history]) == [20]
