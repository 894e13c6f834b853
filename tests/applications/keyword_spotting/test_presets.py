from typing import get_args

import pytest

from applications.errors import UserError
from applications.keyword_spotting.presets import (
    PRESETS,
    KeywordSpottingConfig,
    Kind,
)
from applications.pipeline.config import from_dict, override, to_dict
from keras_attention import models
from keras_attention.models.sound_classifier import KINDS


def test_the_kinds_are_those_of_the_model():
    """They stand twice: settings are read without Keras."""
    assert get_args(Kind) == KINDS


def test_paper_is_kwt_1():
    """607 thousand parameters, with 12 words and 40 numbers in 98 frames."""
    paper = PRESETS["paper"]
    model = models.SoundClassifier(
        12,
        paper.front_end.mel_bands,
        paper.model.kind,
        hidden_dim=paper.model.hidden_dim,
        intermediate_dim=paper.model.intermediate_dim,
        num_layers=paper.model.num_layers,
        num_heads=paper.model.num_heads,
        max_sequence_length=paper.data.max_frames,
    )
    assert model.count_params() == models.SoundClassifier(12, 40).count_params()


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_reads_back_from_a_run(name):
    preset = PRESETS[name]
    assert from_dict(KeywordSpottingConfig, to_dict(preset)) == preset


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["model.hidden_dim=0"], "`hidden_dim` must be above 0"),
        (["model.kind=temporal_attention", "model.hidden_dim=7"], "must be even"),
        (["model.num_heads=3"], "`num_heads` must divide"),
        (["model.dropout=1"], r"`dropout` must be in \[0, 1\)"),
        (["data.max_frames=0"], "`max_frames` must be above 0"),
        (["data.test_limit=0"], "`test_limit` must be above 0"),
        (["front_end.mel_bands=0"], "`mel_bands` must be above 0"),
        (["augmentation.speeds=3"], "`speeds` must be from 0.5 to 2"),
    ],
)
def test_a_value_out_of_range_is_refused(settings, words):
    with pytest.raises(UserError, match=words):
        override(PRESETS["smoke"], settings)
