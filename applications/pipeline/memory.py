"""Resident memory of this process: how far it grows in a piece of work. Linux only."""

import ctypes
import gc
from pathlib import Path


def start_of_growth() -> float:
    """Resident memory now, in MB, after giving back what is free; its peak restarts."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return resident("VmRSS")


def growth_since(start: float) -> float:
    """How far it has risen, at its highest, above `start`, in MB."""
    return resident("VmHWM") - start


def resident(field: str) -> float:
    """`VmRSS` (now) or `VmHWM` (the peak) of this process in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise OSError(f"/proc/self/status has no {field}.")
