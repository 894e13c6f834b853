from typing import get_args

import pytest

from applications.errors import UserError
from applications.pipeline.config import from_dict, override, to_dict
from applications.text_classification.presets import (
    PRESETS,
    Kind,
    TextClassificationConfig,
)
from keras_attention.models.text_classifier import KINDS


def test_the_kinds_are_those_of_the_model():
    """They stand twice: settings are read without Keras."""
    assert get_args(Kind) == KINDS


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_reads_back_from_a_run(name):
    preset = PRESETS[name]
    assert from_dict(TextClassificationConfig, to_dict(preset)) == preset


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["model.hidden_dim=0"], "`hidden_dim` must be above 0"),
        (["model.kind=additive_pooling", "model.hidden_dim=7"], "must be even"),
        (["model.kind=transformer", "model.num_heads=3"], "`num_heads` must divide"),
        (["model.dropout=1"], r"`dropout` must be in \[0, 1\)"),
        (["data.max_length=0"], "`max_length` must be above 0"),
        (["data.test_limit=0"], "`test_limit` must be above 0"),
        (["data.tokens_per_batch=9"], "`tokens_per_batch` must have room"),
        (["explain.agreement_texts=0"], "`agreement_texts` must be above 0"),
    ],
)
def test_a_value_out_of_range_is_refused(settings, words):
    with pytest.raises(UserError, match=words):
        override(PRESETS["smoke"], settings)
