import pytest

from applications.errors import UserError
from applications.image_captioning.presets import PRESETS, ImageCaptioningConfig
from applications.pipeline.config import from_dict, override, to_dict


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_reads_back_from_a_run(name):
    preset = PRESETS[name]
    assert from_dict(ImageCaptioningConfig, to_dict(preset)) == preset


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("data.max_length=1", "`max_length` must have room for a word and the end"),
        ("data.min_count=0", "`min_count` must be above 0"),
        ("data.batch_size=0", "`batch_size` must be above 0"),
        ("data.image_size=64,0", "`image_size` must be two numbers above 0"),
        ("data.channels=4", "`data.channels` must be one of 1, 3"),
        ("augmentation.background=1.5", r"`background` must be in \[0, 1\]"),
        ("augmentation.zoom=1", r"`zoom` must be in \[0, 1\)"),
        ("augmentation.mix=mixup", "Unknown setting 'augmentation.mix'"),
        ("encoder.num_heads=3", "`num_heads` must divide `hidden_dim`"),
        ("decoder.hidden_dim=0", "`hidden_dim` must be above 0"),
        ("decoder.dropout=1", r"`dropout` must be in \[0, 1\)"),
        ("decoder.doubly_stochastic=-1", "`doubly_stochastic` must not be negative"),
        ("search.num_beams=0", "`num_beams` must be above 0"),
        ("search.length_penalty=-1", "`length_penalty` must not be negative"),
        ("train.label_smoothing=1", r"`label_smoothing` must be in \[0, 1\)"),
    ],
)
def test_a_value_out_of_range_is_refused(setting, words):
    with pytest.raises(UserError, match=words):
        override(PRESETS["smoke"], [setting])


def test_heads_must_divide_the_features_of_a_transformer():
    with pytest.raises(UserError, match="`num_heads` must divide `hidden_dim`"):
        override(PRESETS["smoke"], ["decoder.kind=transformer", "decoder.num_heads=5"])
