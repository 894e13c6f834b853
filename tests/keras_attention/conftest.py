"""The catalogue as a fixture: a test that takes `row` is a property of the contract."""

import pytest

from tests.backend import BACKEND
from tests.catalogue import ROWS
from tests.rows import Row

_FIRST = {row.layer: row.name for row in reversed(ROWS)}


@pytest.fixture(params=ROWS, ids=lambda row: row.name)
def row(request) -> Row:
    """Each row, unless it switches off the property that asks."""
    name = request.node.originalname.removeprefix("test_")
    if name in request.param.off:
        pytest.skip(request.param.off[name])
    return request.param


@pytest.hookimpl(tryfirst=True)  # before `-m` selects
def pytest_collection_modifyitems(items):
    """A layer's first row stands for all of them in slow cases, and on JAX."""
    for item in items:
        row = item.callspec.params.get("row") if hasattr(item, "callspec") else None
        is_further = isinstance(row, Row) and row.name not in _FIRST.values()
        if is_further and (BACKEND == "jax" or item.get_closest_marker("slow")):
            item.add_marker(pytest.mark.thorough)
