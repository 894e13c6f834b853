"""The recurrent half of classifiers: a GRU that reads a sequence both ways."""

from typing import Any

import keras

from keras_attention.errors import require


def bidirectional_gru(
    hidden_dim: int, dtype: Any, return_state: bool = False
) -> keras.layers.Bidirectional:
    """The layer `encoder`, from `(B, T, F)` to the states `(B, T, hidden_dim)`.

    Not by cuDNN, which refuses rows of padding alone and padding before anything real:
    on a GPU it is slow.

    Args:
        hidden_dim: Size of a state, half for each direction.
        dtype: Precision.
        return_state: Whether the last state of each direction comes back too.

    Raises:
        ValueError: for an odd `hidden_dim`.
    """
    require(
        hidden_dim % 2 == 0,
        "`hidden_dim` must be even: half for each direction of the GRU.",
        hidden_dim=hidden_dim,
    )
    gru = keras.layers.GRU(
        hidden_dim // 2,
        return_sequences=True,
        return_state=return_state,
        use_cudnn=False,
        dtype=dtype,
    )
    return keras.layers.Bidirectional(gru, dtype=dtype, name="encoder")
