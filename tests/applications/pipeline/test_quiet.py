import os
import subprocess
import sys

import pytest

from applications.errors import UserError
from applications.pipeline import quiet

TENSORFLOW = """\
WARNING: All log messages before absl::InitializeLog() is called are written to STDERR
I0000 00:00:1795972590.594645    5473 port.cc:153] oneDNN custom operations are on.
W0000 00:00:1795972590.594645    5473 gpu_device.cc:2431] TensorFlow was not built
2026-01-01 10:00:00.123456: I tensorflow/core/platform/cpu_feature_guard.cc:210] This
To enable the following instructions: AVX2 FMA, in other operations, rebuild
"""


def test_only_the_chatter_goes():
    real = "E0000 00:00:17 5473 cuda.cc:1] failed\nsomething else\n"
    assert quiet.without_chatter(TENSORFLOW + real) == real


def test_errors_written_in_the_block_appear(monkeypatch, capfd):
    monkeypatch.delenv(quiet.LEVEL, raising=False)

    def fail():
        with quiet.startup():
            os.write(2, b"I0000 00:00:17 1 port.cc:1] chatter\nreal trouble\n")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert capfd.readouterr().err == "real trouble\n"


def test_a_level_set_by_the_user_shows_everything(monkeypatch, capfd):
    monkeypatch.setenv(quiet.LEVEL, "0")
    with quiet.startup():
        os.write(2, b"I0000 00:00:17 1 port.cc:1] chatter\n")
    assert "chatter" in capfd.readouterr().err


def test_another_backend_is_refused(monkeypatch):
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    with pytest.raises(UserError, match="KERAS_BACKEND=torch; unset it"):
        quiet.startup().__enter__()


@pytest.mark.slow
def test_importing_tensorflow_prints_nothing():
    code = (
        "from applications.pipeline import quiet\n"
        "with quiet.startup():\n    import keras\n"
        "keras.ops.convert_to_numpy(keras.ops.ones((2, 3)) @ keras.ops.ones((3, 5)))"
    )
    environment = {k: v for k, v in os.environ.items() if k != quiet.LEVEL}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
