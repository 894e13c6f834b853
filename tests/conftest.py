"""What every test run shares: quiet start, fixed seeds, the count of the contract."""

import gc
import itertools
import os
import re
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import pytest

CONTRACT = "/test_contract"


@pytest.fixture(autouse=True)
def fixed_seed():
    """Every test starts from the same seed, whatever ran before it."""
    keras.utils.set_random_seed(0)


def pytest_runtest_teardown(nextitem):
    """Make room for JAX, which keeps every compiled program mapped into memory.

    A process may have 65,530 mappings on Linux; JAX crashes without a word at that.
    """
    is_jax = keras.backend.backend() == "jax"
    if is_jax and nextitem and next(_ended) % _CHECKED_EVERY == 0:
        maps = Path("/proc/self/maps")
        if maps.exists() and len(maps.read_bytes().splitlines()) > _MOST_MAPPINGS:
            import jax

            jax.clear_caches()
            gc.collect()


_ended = itertools.count(1)
_CHECKED_EVERY, _MOST_MAPPINGS = 20, 30_000


def pytest_terminal_summary(terminalreporter):
    """How much of the contract was checked; the README quotes this line."""
    run, skipped = (_contract_cases(terminalreporter, *kinds) for kinds in _KINDS)
    cases = run | skipped
    if cases:
        rows = {row for _, row in cases}
        properties = {name for name, _ in cases}
        terminalreporter.write_line(
            f"contract: {len(rows)} rows x {len(properties)} properties, "
            f"{len(run)} run, {len(skipped)} skipped"
        )


_KINDS = (("passed", "failed"), ("skipped",))


def _contract_cases(terminalreporter, *kinds):
    """The (property, row) pairs of the contract tests that ended as one of `kinds`."""
    ids = (
        report.nodeid.rpartition("::")[2]
        for kind in kinds
        for report in terminalreporter.stats.get(kind, [])
        if CONTRACT in report.nodeid and report.nodeid.endswith("]")
    )
    # A further parameter, such as a dtype, follows the row's name after a dash.
    return {tuple(re.split(r"[\[\]-]", name)[:2]) for name in ids}
