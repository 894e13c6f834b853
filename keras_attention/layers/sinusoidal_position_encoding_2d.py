"""Fixed position encoding on a grid."""

from typing import Any

import keras
from keras import ops

from keras_attention.layers._grid import as_grid, grid_of
from keras_attention.layers.sinusoidal_position_encoding import (
    SinusoidalPositionEncoding,
)
from keras_attention.ops import positions


@keras.saving.register_keras_serializable(package="keras_attention")
class SinusoidalPositionEncoding2D(SinusoidalPositionEncoding):
    """Adds waves that tell the row to half of the features, the column to the others.

    The two-dimensional form of `SinusoidalPositionEncoding`, for images and patches of
    any resolution. Returns `inputs + encoding` and carries the mask: a bare `+` in
    Keras loses it. Time and memory `O(L D)`, no parameters.

    Shapes:
        B batch, L = rows * columns, D size, an even number.

    Args:
        max_wavelength: The longest wavelength divided by 2 pi.
        grid: `(rows, columns)` of flattened inputs; by default the inputs have both.
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        inputs: `(B, rows, columns, D)`, or with a `grid` `(B, L, D)`, row by row.

    Returns:
        As `inputs`.

    Raises:
        ValueError: for inputs that do not fit the grid, an odd size, or a
            `max_wavelength` that is not positive.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> y = layers.SinusoidalPositionEncoding2D()(np.zeros((1, 2, 3, 4)))
        >>> [round(float(value), 4) for value in y[0, 0, 1]]  # row 0, column 1
        [0.0, 1.0, 0.8415, 0.5403]

    Source:
        Carion et al. 2020, arXiv:2005.12872, appendix A.4, with positions counted
        instead of scaled to `2 pi`.
    """

    def __init__(
        self,
        max_wavelength: float = 10_000.0,
        grid: tuple[int, int] | None = None,
        **kwargs: Any,
    ):
        super().__init__(max_wavelength, **kwargs)
        self.grid = as_grid(grid)

    def call(self, inputs):
        width = inputs.shape[-1]
        grid = grid_of(inputs, self.grid, features=1)
        encoding = positions.sinusoidal_encoding_2d(*grid, width, self.max_wavelength)
        if self.grid is not None:
            encoding = ops.reshape(encoding, (-1, width))
        return inputs + ops.cast(encoding, inputs.dtype)

    def get_config(self):
        return {**super().get_config(), "grid": self.grid}
