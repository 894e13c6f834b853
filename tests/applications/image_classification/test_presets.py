import pytest

from applications.errors import UserError
from applications.image_classification.presets import (
    PRESETS,
    ImageClassificationConfig,
)
from applications.pipeline.config import from_dict, override, to_dict


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_reads_back_from_a_run(name):
    preset = PRESETS[name]
    assert from_dict(ImageClassificationConfig, to_dict(preset)) == preset


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("model.patch_size=0", "`patch_size` must be above 0"),
        ("model.num_heads=3", "`num_heads` must divide `hidden_dim`"),
        ("model.blocks_per_stage=0", "`blocks_per_stage` must be above 0"),
        ("model.filters=8,0", "`filters` must be one number or more"),
        ("model.dropout=1", r"`dropout` must be in \[0, 1\)"),
        ("model.drop_path=-1", r"`drop_path` must be in \[0, 1\)"),
        ("train.label_smoothing=1", r"`label_smoothing` must be in \[0, 1\)"),
        ("data.batch_size=0", "`batch_size` must be above 0"),
        ("augmentation.zoom=1", r"`zoom` must be in \[0, 1\)"),
        ("export.formats=tflite", "one of litert, onnx"),
    ],
)
def test_a_value_out_of_range_is_refused(setting, words):
    with pytest.raises(UserError, match=words):
        override(PRESETS["smoke"], [setting])
