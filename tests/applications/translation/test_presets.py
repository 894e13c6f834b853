import pytest

from applications.errors import UserError
from applications.pipeline.config import from_dict, override, to_dict
from applications.translation.presets import PRESETS, TranslationConfig


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_reads_back_from_a_run(name):
    preset = PRESETS[name]
    assert from_dict(TranslationConfig, to_dict(preset)) == preset


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("data.vocabulary_size=0", "`vocabulary_size` must be above 0"),
        ("data.max_length=2", "`max_length` must leave room"),
        ("data.train_limit=0", "`train_limit` must be above 0"),
        ("model.num_heads=3", "`num_heads` must divide `hidden_dim`"),
        ("model.num_layers=0", "`num_layers` must be above 0"),
        ("model.dropout=1", r"`dropout` must be in \[0, 1\)"),
        ("train.label_smoothing=1", r"`label_smoothing` must be in \[0, 1\)"),
        ("train.validation_sentences=0", "`validation_sentences` must be above 0"),
        ("train.epochs=0", "`epochs` must be above 0"),
        ("decode.num_beams=0", "`num_beams` must be above 0"),
        ("decode.length_penalty=-1", "`length_penalty` must not be negative"),
    ],
)
def test_a_value_out_of_range_is_refused(setting, words):
    with pytest.raises(UserError, match=words):
        override(PRESETS["smoke"], [setting])


def test_a_recurrent_model_needs_an_even_size():
    sizes = ["model.hidden_dim=33", "model.num_heads=3"]
    assert override(PRESETS["smoke"], sizes).model.hidden_dim == 33
    with pytest.raises(UserError, match="`hidden_dim` must be even"):
        override(PRESETS["smoke"], [*sizes, "model.kind=gru"])
