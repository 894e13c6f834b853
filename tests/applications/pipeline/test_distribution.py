import subprocess
import sys

import pytest

from applications.pipeline import distribution

TWO_DEVICES = """
import sys
import tensorflow as tf
from applications.pipeline import run as runs, stages
from applications.pipeline.config import override
from tests.applications.pipeline.toy import PRESETS, Toy

cpu = tf.config.list_physical_devices("CPU")[0]
two = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(cpu, two)
for strategy in ("none", "mirrored"):
    settings = ["model.dropout=0", "train.epochs=2"]
    config = override(PRESETS["small"], [*settings, f"train.strategy={strategy}"])
    run = runs.create(runs.default_root(), "toy", strategy, config)
    stages.train(Toy(), config, run)
"""


def test_names():
    with distribution.scope("none"):
        pass
    with pytest.raises(
        ValueError, match=r"`strategy` must be one of 'mirrored', 'none'"
    ):
        distribution.scope("multi_worker")


@pytest.mark.slow
def test_two_devices_train_as_one_does(root):
    subprocess.run([sys.executable, "-c", TWO_DEVICES], check=True, timeout=300)
    one, two = (
        [
            [float(value) for value in line.split(",")]
            for line in (root / "toy" / name / "history.csv").read_text().split()[1:]
        ]
        for name in ("none-001", "mirrored-001")
    )
    # Sums in another order differ by rounding.
    for expected, found in zip(one, two, strict=True):
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-6)
