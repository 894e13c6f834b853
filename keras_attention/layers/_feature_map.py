"""What the layers share that read a feature map and return one."""

from typing import Any

import keras
from keras import ops

from keras_attention.errors import require
from keras_attention.layers._data_format import as_data_format
from keras_attention.layers.base import (
    ScoresOnRequest,
    call_arguments,
    carry_mask,
    zero_rows,
)
from keras_attention.ops import masks

Tensor = Any
Shape = tuple[int | None, ...]


class FeatureMapLayer(ScoresOnRequest, keras.layers.Layer):
    """Base of the layers of one feature map, in either format of its channels.

    A layer overrides `build_map`, `attend_map` and `compute_scores_shape`, which only
    ever see channels last: a map with channels first is transposed before and after.

    Args:
        data_format: `"channels_last"` or `"channels_first"`; `None` takes
            `keras.config.image_data_format()`.
        **kwargs: Those of `keras.layers.Layer`.
    """

    num_spatial_axes: int | None = 2  # `None`: any number from 1 on

    def __init__(self, *, data_format: str | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.data_format = as_data_format(data_format)
        self.supports_masking = True

    # ------------------------------------------------------- what a variant overrides

    def build_map(self, shape: Shape) -> None:
        """Create what a map of this shape needs."""
        raise NotImplementedError

    def attend_map(
        self, inputs: Tensor, mask: Tensor | None, training: bool | None, asked: bool
    ) -> tuple[Tensor, Tensor | None]:
        """Map and scores of `(B, *spatial, C)`, where hidden positions are already 0.

        `asked`: whether anybody wants the scores. What else a layer's own `call` takes
        follows by name.
        """
        raise NotImplementedError

    def compute_scores_shape(self, shape: Shape) -> Shape:
        """Shape of the scores of such a map."""
        raise NotImplementedError

    def scores_in_format(self, axes: tuple) -> tuple:
        """The axes of the scores, or their sizes, in the order of the data format."""
        return _channels_first(axes, self.num_axes) if self.is_first else axes

    # ----------------------------------------------------------------------- the call

    def call(self, inputs, mask=None, return_attention_scores=False, training=None):
        return self.call_map(inputs, mask, return_attention_scores, training)

    def call_map(self, inputs, mask, asked, training, **options):
        """What `call` does; `attend_map` takes the options."""
        inputs = ops.cast(inputs, self.compute_dtype)  # Keras does it to floats only
        if mask is not None:
            mask = masks.as_boolean("mask", mask)
            require(
                len(mask.shape) == len(inputs.shape) - 1,
                "`mask` must have the axes of the map without its channels.",
                mask_shape=tuple(mask.shape),
                inputs_shape=tuple(inputs.shape),
            )
        if self.is_first:
            inputs = ops.moveaxis(inputs, 1, -1)
        inputs = zero_rows(inputs, mask)
        output, scores = self.attend_map(inputs, mask, training, asked, **options)
        if self.is_first:
            output = ops.moveaxis(output, -1, 1)
        output = carry_mask(output, mask)
        if not asked:
            return output
        order = self.scores_in_format(tuple(range(len(scores.shape))))
        return output, ops.transpose(scores, order) if self.is_first else scores

    def build(self, input_shape):
        expected = self.num_spatial_axes
        rank = len(input_shape)
        require(
            rank == expected + 2 if expected else rank >= 3,
            f"{type(self).__name__} takes maps with {expected or 'at least 1'} axes "
            "between batch and channels.",
            input_shape=tuple(input_shape),
        )
        self.num_axes = rank - 2
        shape = self._last(tuple(input_shape))
        require(
            shape[-1] is not None,
            "The number of channels must be known.",
            input_shape=tuple(input_shape),
            data_format=self.data_format,
        )
        self.build_map(shape)

    def part(self, layer_class: type, shape: Shape, *args: Any, **options: Any):
        """A built layer of this layer's precision."""
        layer = layer_class(*args, dtype=self.dtype_policy, **options)
        layer.build(shape)
        return layer

    # ------------------------------------------------------------- shapes and configs

    @property
    def is_first(self) -> bool:
        """Whether the channels come first."""
        return self.data_format == "channels_first"

    def _last(self, shape: Shape) -> Shape:
        """The shape of the map with its channels last."""
        return (shape[0], *shape[2:], shape[1]) if self.is_first else shape

    def multiply_adds(self, inputs_shape) -> int:
        """0: what the layers inside multiply is theirs."""
        del inputs_shape
        return 0

    def compute_mask(self, inputs, previous_mask):
        return previous_mask

    def compute_output_shape(self, input_shape):
        return input_shape

    def compute_output_spec(self, *args, **kwargs):
        given = call_arguments(self, *args, **kwargs)
        shape = tuple(given["inputs"].shape)
        output = keras.KerasTensor(shape, dtype=self.compute_dtype)
        output = carry_mask(output, given["mask"])
        if not given["return_attention_scores"]:
            return output
        scores = self.scores_in_format(self.compute_scores_shape(self._last(shape)))
        return output, keras.KerasTensor(scores, dtype=self.compute_dtype)

    def get_config(self):
        return {**super().get_config(), "data_format": self.data_format}


def _channels_first(axes: tuple, num_axes: int) -> tuple:
    """`(B, *spatial, C, ...)` as `(B, C, *spatial, ...)`."""
    spatial, channels = axes[1 : 1 + num_axes], axes[1 + num_axes]
    return (axes[0], channels, *spatial, *axes[2 + num_axes :])
