"""From many frames to few places, before a speech encoder."""

import math
from typing import Any

import keras
from keras import ops

from keras_attention.errors import positive_integer
from keras_attention.layers.base import call_arguments, carry_mask
from keras_attention.ops import _backend, masks

Tensor = Any

_KERNEL, _STRIDES = 3, 2


@keras.saving.register_keras_serializable(package="keras_attention")
class ConvolutionalSubsampling(keras.layers.Layer):
    """Two strided convolutions over time and bands: a quarter of the frames.

    A second of speech has 100 frames of spectrum and some 15 letters; attention over a
    quarter of the frames costs a sixteenth. Each convolution is 3 by 3, halves time and
    bands and is followed by a ReLU; what it finds at a place, for all bands and
    filters, is projected. Place `i` stands around frame `4 i`, and is real where that
    frame is: a clip of `n` frames has `ceil(n / 4)` places, the same whether or not it
    is padded. Time `O(B T F C^2)`, most of it in the second convolution, with
    `9 (C + C^2) + 2 C + ceil(F / 4) C U + U` parameters.

    Shapes:
        B batch, T frames, F numbers of a frame, S = ceil(T / 4) places, C `filters`,
        U `units`.

    Args:
        units: Size of the output, U.
        filters: Filters of each convolution, C; U in the Conformer's paper, which is
            most of a small model's time.
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        inputs: `(B, T, F)`, such as log-mel energies.
        mask: `(B, T)`, True = a real frame; by default the hidden mask.

    Returns:
        `(B, S, U)`, with `compute_mask(inputs, mask)` as its mask.

    Raises:
        ValueError: for sizes that are not positive.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import blocks
        >>> layer = blocks.ConvolutionalSubsampling(units=6, filters=2)
        >>> frames, mask = np.ones((1, 9, 8)), np.array([[True] * 5 + [False] * 4])
        >>> tuple(layer(frames, mask=mask).shape)
        (1, 3, 6)
        >>> layer.compute_mask(frames, mask).tolist()
        [[True, True, False]]

    Source:
        Gulati et al. 2020, "Conformer", arXiv:2005.08100, section 2; Dong et al. 2018,
        "Speech-Transformer", section 3.3. Ours pads with a zero on every side, so that
        no length loses frames.
    """

    def __init__(self, units: int, filters: int = 32, **kwargs: Any):
        super().__init__(**kwargs)
        self.units = positive_integer("units", units)
        self.filters = positive_integer("filters", filters)
        self.supports_masking = True

    def build(self, input_shape):
        bands, channels = input_shape[-1], 1
        self.convolutions = []
        for number in range(2):
            layer = keras.layers.Conv2D(
                self.filters,
                _KERNEL,
                _STRIDES,
                activation="relu",
                data_format="channels_last",
                dtype=self.dtype_policy,
                name=f"convolution_{number}",
            )
            layer.build((None, None, bands + 2, channels))
            self.convolutions.append(layer)
            bands, channels = math.ceil(bands / _STRIDES), self.filters
        self.projection = keras.layers.Dense(
            self.units, dtype=self.dtype_policy, name="projection"
        )
        self.projection.build((None, None, bands * self.filters))

    def call(self, inputs, mask=None):
        mask = _backend.get_mask(inputs) if mask is None else mask
        mask = None if mask is None else masks.as_boolean("mask", mask)
        x = inputs[..., None]  # (B, T, F, 1)
        for convolution in self.convolutions:
            if mask is not None:  # what the first made of padding is none either
                x = ops.where(mask[:, :, None, None], x, ops.zeros_like(x))
                mask = mask[:, ::_STRIDES]
            x = convolution(ops.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]]))
        batch, places = ops.shape(x)[:2]
        x = ops.reshape(x, (batch, places, x.shape[2] * x.shape[3]))
        return carry_mask(self.projection(x), mask)

    def compute_mask(self, inputs, previous_mask):
        """Which places are real `(B, S)`, of a mask of frames `(B, T)`."""
        if previous_mask is None:
            return None
        return previous_mask[:, :: _STRIDES**2]

    @staticmethod
    def places(frames: int) -> int:
        """S, the places of a clip of so many frames."""
        return math.ceil(frames / _STRIDES**2)

    def compute_output_shape(self, input_shape):
        batch, length, _ = input_shape
        places = None if length is None else self.places(length)
        return (batch, places, self.units)

    def compute_output_spec(self, *args, **kwargs):
        given = call_arguments(self, *args, **kwargs)
        shape = self.compute_output_shape(given["inputs"].shape)
        output = keras.KerasTensor(shape, dtype=self.compute_dtype)
        return carry_mask(output, self.compute_mask(None, given["mask"]))

    def get_config(self):
        return {**super().get_config(), "units": self.units, "filters": self.filters}
