"""Under which conditions a number was measured."""

import datetime
import importlib.metadata
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

_PACKAGES = ("keras", "keras-hub", "tensorflow", "tensorflow-datasets", "numpy")
_CHECKOUT = Path(__file__).resolve().parents[2]


def protocol() -> dict[str, Any]:
    """Return date, revision, machine and versions: what stands beside every metric."""
    now = datetime.datetime.now(datetime.timezone.utc)
    return {
        "date": now.isoformat(timespec="seconds"),
        "revision": _revision(),
        "machine": _machine(),
        "versions": {"python": platform.python_version(), **_versions()},
    }


def _revision() -> str | None:
    """The git revision of this checkout, marked where files differ from it."""
    command = ["git", "-C", str(_CHECKOUT), "describe", "--always", "--dirty"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() or None


def _machine() -> dict[str, Any]:
    """Processor, cores and GPUs; no names of machines or people."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "gpus": _gpus(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.processor()


def _gpus() -> list[str]:
    """GPU names, asked only of a TensorFlow that is already there."""
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is None:
        return []
    config = tensorflow.config
    return [
        config.experimental.get_device_details(device).get("device_name", device.name)
        for device in config.list_physical_devices("GPU")
    ]


def _versions() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
