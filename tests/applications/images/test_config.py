import subprocess
import sys
from dataclasses import dataclass, field

import pytest

from applications.errors import UserError
from applications.images.config import AugmentationConfig, ImageDataConfig
from applications.pipeline.config import from_dict, help_table, override, to_dict


@dataclass(frozen=True, kw_only=True)
class Settings:
    data: ImageDataConfig = field(default_factory=ImageDataConfig)
    augmentation: AugmentationConfig = field(default_factory=AugmentationConfig)


def test_settings_are_read_from_the_command_line_and_back():
    config = override(
        Settings(),
        [
            "data.name=my/photos",
            "data.image_size=64",
            "data.channels=1",
            "data.aspect=pad",
            "augmentation.flip=true",
            "augmentation.mix=cutmix",
            "augmentation.mix_alpha=1",
        ],
    )
    assert config.data.channels == 1
    assert config.augmentation.mix_alpha == 1.0
    assert from_dict(Settings, to_dict(config)) == config
    assert override(config, ["data.channels=none"]).data.channels is None


def test_every_setting_has_a_line_of_help():
    lines = help_table(Settings()).splitlines()
    assert len(lines) == len(to_dict(Settings())["data"]) + 6


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("data.batch_size=0", "`batch_size` must be above 0. Received: batch_size=0."),
        ("data.image_size=0", "`image_size` must be above 0."),
        ("data.train_limit=-1", "`train_limit` must be above 0."),
        ("data.validation_limit=0", "`validation_limit` must be above 0."),
        ("data.test_limit=0", "`test_limit` must be above 0."),
        ("data.channels=4", "`data.channels` must be one of 1, 3 or none."),
        ("data.aspect=fit", "`data.aspect` must be one of crop, pad, stretch."),
        ("augmentation.translation=1", "`translation` must be in [0, 1)."),
        ("augmentation.zoom=-0.1", "`zoom` must be in [0, 1)."),
        ("augmentation.rotation=181", "`rotation` must be from 0 to 180 degrees."),
        ("augmentation.mix_alpha=0", "`mix_alpha` must be in (0, 1]."),
        ("augmentation.mix=both", "must be one of none, mixup, cutmix."),
    ],
)
def test_wrong_values_are_one_line(assignment, message):
    with pytest.raises(UserError) as error:
        override(Settings(), [assignment])
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_the_settings_import_no_tensorflow():
    script = (
        "import sys, applications.images.config; assert 'tensorflow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
