import subprocess
import sys

import pytest

from applications.errors import UserError
from applications.pipeline.application import Application, Quality
from applications.pipeline.run import create
from tests.applications.pipeline.toy import PRESETS, Toy


@pytest.mark.parametrize("higher", [True, False])
def test_quality(higher):
    quality = Quality("val_x", higher_is_better=higher)
    assert quality.better(0.5, None)
    assert quality.better(0.75, 0.5) is higher
    assert quality.better(0.25, 0.5) is not higher
    assert not quality.better(0.5, 0.5)
    assert not quality.better(float("nan"), None)
    assert not quality.better(float("nan"), 0.5)


def test_a_run_without_a_model_says_how_to_get_one(tmp_path):
    run = create(tmp_path, "toy", "small", PRESETS["small"])
    with pytest.raises(UserError, match="train run=small-001"):
        Toy().load_model(PRESETS["small"], None, run)


def test_what_a_task_must_provide():
    assert Application.__abstractmethods__ == {
        "about",
        "build_model",
        "evaluate",
        "explain",
        "export",
        "load",
        "objective",
        "predict",
        "train_batches",
    }


def test_config_and_command_line_come_without_tensorflow():
    modules = ["application", "cli", "config", "run", "train_config"]
    imports = "; ".join(f"import applications.pipeline.{name}" for name in modules)
    code = f"{imports}; import sys; assert 'keras' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
