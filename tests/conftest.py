"""What every test run shares: quiet start, fixed seeds, the count of the contract."""

import os
import re

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import pytest

CONTRACT = "/test_contract"


@pytest.fixture(autouse=True)
def fixed_seed():
    """Every test starts from the same seed, whatever ran before it."""
    keras.utils.set_random_seed(0)


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
