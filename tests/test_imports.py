"""What importing costs: no TensorFlow where it is not asked for."""

import importlib.util
import os
import resource
import subprocess
import sys

import pytest

# Ends the process where anyone looks for TensorFlow, whether it is installed or not.
REFUSE_TENSORFLOW = """
import sys

class Refusal:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "tensorflow":
            sys.exit("imports TensorFlow")

sys.meta_path.insert(0, Refusal())
"""

# Every module of the library, private ones included. Keras itself may look.
IMPORT_ALL = f"""
import importlib, pkgutil, keras, matplotlib, sacrebleu
{REFUSE_TENSORFLOW}
sys.modules.pop("tensorflow", None)
import keras_attention

for module in pkgutil.walk_packages(keras_attention.__path__, "keras_attention."):
    importlib.import_module(module.name)
"""

# Importing TensorFlow takes 5 seconds and more; argparse takes a tenth of one.
HELP_CPU_SECONDS = 2.0


def python(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    """Run a fresh interpreter to its end."""
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "backend",
    [
        pytest.param("jax", marks=pytest.mark.jax),
        pytest.param("torch", marks=pytest.mark.torch),
    ],
)
def test_library_does_not_import_tensorflow(backend):
    if importlib.util.find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed here: see `make test-backends`")
    outcome = python("-c", IMPORT_ALL, KERAS_BACKEND=backend)
    assert outcome.returncode == 0, outcome.stderr


@pytest.mark.parametrize("module", ["tensorflow", "tensorflow.io"])
def test_an_import_that_is_caught_is_noticed_too(module):
    attempt = f"try: import {module}\nexcept ImportError: pass"
    outcome = python("-c", f"{REFUSE_TENSORFLOW}\n{attempt}")
    assert (outcome.returncode, outcome.stderr) == (1, "imports TensorFlow\n")


@pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None,
    reason="the applications run on TensorFlow",
)
def test_help_is_quick_and_quiet():
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    outcome = python("-m", "applications.translation", "--help")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = sum(
        getattr(after, kind) - getattr(before, kind)
        for kind in ("ru_utime", "ru_stime")
    )
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stderr == ""
    assert outcome.stdout.startswith("usage:")
    assert "tensorflow" not in outcome.stdout.lower()
    assert seconds < HELP_CPU_SECONDS
