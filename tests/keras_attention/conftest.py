"""The catalogue as a fixture: a test that takes `row` is a property of the contract."""

import pytest

from tests.catalogue import ROWS
from tests.rows import Row


@pytest.fixture(params=ROWS, ids=lambda row: row.name)
def row(request) -> Row:
    """Each row, unless it switches off the property that asks."""
    name = request.node.originalname.removeprefix("test_")
    if name in request.param.off:
        pytest.skip(request.param.off[name])
    return request.param
