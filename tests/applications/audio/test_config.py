import subprocess
import sys
from dataclasses import dataclass, field

import pytest

from applications.audio.config import FrontEndConfig, SoundAugmentationConfig
from applications.errors import UserError
from applications.pipeline.config import from_dict, override, to_dict


@dataclass(frozen=True, kw_only=True)
class Settings:
    front_end: FrontEndConfig = field(default_factory=FrontEndConfig)
    augmentation: SoundAugmentationConfig = field(
        default_factory=SoundAugmentationConfig
    )


def test_settings_are_read_from_the_command_line_and_back():
    config = override(
        Settings(),
        [
            "front_end.mel_bands=40",
            "front_end.normalization=none",
            "augmentation.speeds=0.9,1.0,1.1",
            "augmentation.time_masks=2",
        ],
    )
    assert config.front_end.mel_bands == 40
    assert config.augmentation.speeds == (0.9, 1.0, 1.1)
    assert from_dict(Settings, to_dict(config)) == config


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("front_end.mel_bands=0", "`mel_bands` must be above 0."),
        ("front_end.hop_milliseconds=0", "`hop_milliseconds` must be above 0."),
        ("front_end.lowest_hertz=-1", "`lowest_hertz` must not be negative."),
        ("front_end.highest_hertz=8001", "at most 8000. Received: lowest_hertz=20.0, "),
        ("front_end.highest_hertz=20", "`highest_hertz` must be above `lowest_hertz`"),
        ("front_end.normalization=set", "must be one of clip, none."),
        ("augmentation.speeds=0.1", "`speeds` must be from 0.5 to 2.0."),
        ("augmentation.band_masks=-1", "`band_masks` must not be negative."),
        ("augmentation.widest_time_mask=0", "`widest_time_mask` must be above 0."),
        ("augmentation.time_mask_share=1", "`time_mask_share` must be in [0, 1)."),
    ],
)
def test_wrong_values_are_one_line(assignment, message):
    with pytest.raises(UserError) as error:
        override(Settings(), [assignment])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_the_settings_import_no_tensorflow():
    script = (
        "import sys, applications.audio.config; assert 'tensorflow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
