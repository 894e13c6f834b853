"""Rotary position embedding on a grid."""

from typing import Any

import keras
from keras import ops

from keras_attention.errors import positive_integer, require
from keras_attention.layers._grid import as_grid, grid_of
from keras_attention.layers.rotary_embedding import RotaryEmbedding
from keras_attention.ops import _backend, positions


@keras.saving.register_keras_serializable(package="keras_attention")
class RotaryEmbedding2D(RotaryEmbedding):
    """Turns half of the features with the row and half with the column of a place.

    `RotaryEmbedding` for images: the product of a query and a key depends on their
    distances in rows and in columns. Inside `MultiHeadAttention(rotary=...)` over
    patches `(B, rows * columns, D)`, or over `(B, rows, columns, D)`, it needs the
    `grid`. Time and memory `O(B L N H)`, no parameters.

    Shapes:
        B batch, L = rows * columns, with `num_prefix_tokens` as many more, N heads, H
        head size, a multiple of four.

    Args:
        max_wavelength: `w`, the longest wavelength divided by 2 pi. Short by default:
            an image has tens of rows, not thousands.
        scaling: How many times larger the grid is than the one trained on.
        scaling_type, interleaved: As in `RotaryEmbedding`, for each half.
        grid: `(rows, columns)` of flattened inputs; by default the inputs have both.
        num_prefix_tokens: Positions before the grid, such as a class token, that are
            not turned: as if they stood at row 0 and column 0. Only with a `grid`.
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        inputs: `(B, rows, columns, N, H)`, or with a `grid` `(B, L, N, H)`.
        start_index: Only 0: a grid is not decoded step by step.

    Returns:
        As `inputs`.

    Raises:
        ValueError: for inputs that do not fit the grid, a head size that is no multiple
            of four, prefix tokens without a grid, or another `start_index`; and as
            `RotaryEmbedding`.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> x = np.ones((1, 6, 3, 8), "float32")
        >>> y = layers.RotaryEmbedding2D(grid=(2, 3))(x)
        >>> tuple(y.shape)
        (1, 6, 3, 8)

    Source:
        Heo et al. 2024, arXiv:2403.13298, section 3.2 (axial frequencies).
    """

    multiple = 4

    def __init__(
        self,
        max_wavelength: float = 100.0,
        scaling: float = 1.0,
        scaling_type: str = "linear",
        interleaved: bool = False,
        grid: tuple[int, int] | None = None,
        num_prefix_tokens: int = 0,
        **kwargs: Any,
    ):
        super().__init__(max_wavelength, scaling, scaling_type, interleaved, **kwargs)
        self.grid = as_grid(grid)
        if num_prefix_tokens:
            positive_integer("num_prefix_tokens", num_prefix_tokens)
            require(
                self.grid is not None,
                "`num_prefix_tokens` needs a `grid`: tokens stand before flattened "
                "inputs.",
                num_prefix_tokens=num_prefix_tokens,
            )
        self.num_prefix_tokens = num_prefix_tokens

    def call(self, inputs, start_index=0):
        require(
            _backend.is_static(start_index) and start_index == 0,
            "`start_index` must be 0 on a grid: queries and keys are the same places.",
            start_index=start_index,
        )
        size = self.check_size(inputs.shape[-1])
        prefix = self.num_prefix_tokens
        places = inputs[..., prefix:, :, :] if prefix else inputs
        grid = grid_of(places, self.grid, features=2)
        angles = positions.rotary_angles_2d(*grid, size, **self.angle_options())
        if self.grid is not None:
            angles = ops.reshape(angles, (-1, size // 2))
            angles = ops.pad(angles, ((prefix, 0), (0, 0)))
        return positions.rotate(inputs, angles, self.interleaved)

    def aligned_to_the_end(self, inputs):
        return self.call(inputs)

    def get_config(self):
        return {
            **super().get_config(),
            "grid": self.grid,
            "num_prefix_tokens": self.num_prefix_tokens,
        }
