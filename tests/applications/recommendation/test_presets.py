from typing import get_args

import pytest

from applications.errors import UserError
from applications.pipeline.config import from_dict, override, to_dict
from applications.recommendation.presets import PRESETS, Kind, RecommendationConfig
from keras_attention.models.sequence_recommender import KINDS


def test_the_kinds_are_those_of_the_model():
    """They stand twice: settings are read without Keras."""
    assert set(get_args(Kind)) == set(KINDS)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_reads_back_from_a_run(name):
    preset = PRESETS[name]
    assert from_dict(RecommendationConfig, to_dict(preset)) == preset


def test_target_attention_always_samples():
    config = override(PRESETS["smoke"], ["model.kind=din"])
    assert config.samples
    assert not PRESETS["smoke"].samples
    assert override(PRESETS["smoke"], ["train.loss=sampled"]).samples


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["model.hidden_dim=0"], "`hidden_dim` must be above 0"),
        (["model.num_heads=3"], "`num_heads` must divide"),
        (["model.dropout=1"], r"`dropout` must be in \[0, 1\)"),
        (["data.max_length=2"], "`max_length` must have room for two items"),
        (["data.user_limit=0"], "`user_limit` must be above 0"),
        (["train.negatives=0"], "`negatives` must be above 0"),
        (["train.mask_rate=1"], r"`mask_rate` must be in \[0, 1\)"),
        (["evaluation.top_k=0"], "`top_k` must be above 0"),
        (["evaluation.seed=-1"], "`seed` must not be negative"),
        (["baseline.neighbours="], "`neighbours` must be numbers above 0"),
        (["baseline.neighbours=5,0"], "`neighbours` must be numbers above 0"),
    ],
)
def test_a_value_out_of_range_is_refused(settings, words):
    with pytest.raises(UserError, match=words):
        override(PRESETS["smoke"], settings)
