"""What the sizes of a classifier of sequences must be; imports no TensorFlow."""

from typing import Any

from applications.errors import (
    require,
    require_fraction,
    require_heads,
    require_positive,
)


def require_sizes(model: Any, transformer: str, recurrent: str) -> None:
    """Refuse sizes that the `kind` of a model config cannot have.

    Args:
        model: The config.
        transformer: The kind whose heads must divide its features.
        recurrent: The kind that reads both ways, with half of the features each.

    Raises:
        ValueError: One cannot be.
    """
    require_positive(model, "hidden_dim", "intermediate_dim", "num_layers", "num_heads")
    require_fraction(model, "dropout")
    if model.kind == transformer:
        require_heads(model)
    require(
        model.kind != recurrent or model.hidden_dim % 2 == 0,
        "`hidden_dim` must be even: half for each direction of the GRU.",
        hidden_dim=model.hidden_dim,
    )
