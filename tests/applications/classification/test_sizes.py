from types import SimpleNamespace

import pytest

from applications.classification.sizes import require_sizes

RIGHT = {
    "kind": "mean",
    "hidden_dim": 6,
    "intermediate_dim": 5,
    "num_layers": 1,
    "num_heads": 4,
    "dropout": 0.1,
}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_layers": 0}, "`num_layers` must be above 0"),
        ({"dropout": 1}, r"`dropout` must be in \[0, 1\)"),
        ({"kind": "transformer"}, "`num_heads` must divide `hidden_dim`"),
        ({"kind": "gru", "hidden_dim": 7}, "`hidden_dim` must be even"),
    ],
)
def test_what_a_kind_cannot_be(settings, message):
    require_sizes(SimpleNamespace(**RIGHT), "transformer", "gru")
    with pytest.raises(ValueError, match=message):
        require_sizes(SimpleNamespace(**RIGHT | settings), "transformer", "gru")
