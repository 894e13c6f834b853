from typing import get_args

import pytest

from applications.errors import UserError
from applications.pipeline.config import from_dict, override, to_dict
from applications.speech_recognition import presets
from applications.speech_recognition.presets import PRESETS, SpeechConfig
from keras_attention.blocks import convolution_module
from keras_attention.models import speech_recognizer


def test_the_choices_are_those_of_the_model():
    """They stand twice: settings are read without Keras."""
    assert set(get_args(presets.Encoder)) == set(speech_recognizer.ENCODERS)
    assert set(get_args(presets.Decoder)) == set(speech_recognizer.DECODERS)
    assert set(get_args(presets.Objective)) == set(speech_recognizer.OBJECTIVES)
    assert set(get_args(presets.Norm)) == set(convolution_module.NORMS)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_reads_back_from_a_run(name):
    preset = PRESETS[name]
    assert from_dict(SpeechConfig, to_dict(preset)) == preset


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["model.hidden_dim=0"], "`hidden_dim` must be above 0"),
        (["model.num_heads=3"], "`num_heads` must divide"),
        (["model.kernel_size=4"], "`kernel_size` must be odd"),
        (["model.dropout=1"], r"`dropout` must be in \[0, 1\)"),
        (["model.objective=rnnt"], "`model.objective` must be one of"),
        (["data.max_seconds=0"], "`max_seconds` must be above 0"),
        (["data.train_share=0"], "`train_share` must be above 0 and at most 1"),
        (["data.train_share=1.5"], "`train_share` must be above 0 and at most 1"),
        (["data.test_limit=0"], "`test_limit` must be above 0"),
        (["train.ctc_weight=1"], r"`ctc_weight` must be in \[0, 1\)"),
        (["train.validation_clips=0"], "`validation_clips` must be above 0"),
        (["search.num_beams=0"], "`num_beams` must be above 0"),
        (["search.length_penalty=-1"], "`length_penalty` must not be negative"),
        (["search.ctc_weight=-0.1"], r"`ctc_weight` must be in \[0, 1\)"),
    ],
)
def test_a_value_out_of_range_is_refused(settings, words):
    with pytest.raises(UserError, match=words):
        override(PRESETS["smoke"], settings)
