"""Images as sequences of patches."""

from typing import Any

import keras
from keras import ops

from keras_attention.errors import positive_integer, require
from keras_attention.layers._data_format import as_data_format
from keras_attention.layers._grid import UNFILLED, as_pair, patch_grid
from keras_attention.ops import _backend


@keras.saving.register_keras_serializable(package="keras_attention")
class PatchEmbedding(keras.layers.Layer):
    """Cuts images into patches and projects each to a vector, row by row.

    `W vec(patch) + b`: a convolution whose stride is the size of its kernel, and what
    makes a sequence of an image. It knows nothing of places: add positions behind it
    (`PositionEmbedding`, `SinusoidalPositionEncoding2D(grid=...)`) or turn queries and
    keys by them (`RotaryEmbedding2D(grid=...)`). Time `O(B h w C D)`: multiply-adds
    `B h w C D`, for any patch; `p q C D + D` parameters.

    An image that patches do not fill is refused: a convolution would leave out its last
    rows and columns without a word. What is known of its size is checked where the
    layer is called, on symbols too; what only a TensorFlow graph that runs knows is
    checked there, by an `InvalidArgumentError`.

    Shapes:
        B batch, h x w height and width, C channels, p x q height and width of a patch,
        D `hidden_dim`.

    Args:
        patch_size: Height and width of a patch, an integer for both or `(p, q)`.
        hidden_dim: Size of a vector, D.
        use_bias: Whether the projection has a bias.
        kernel_initializer: Initializer of the kernel `(p, q, C, D)`. By default, as in
            the authors' code, a vector is about as large as a pixel; Keras's default
            for convolutions would make it smaller by `sqrt(2 C / (C + D))`.
        data_format: `"channels_last"` or `"channels_first"`, of the images; by default
            Keras's own.
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        inputs: `(B, h, w, C)`, or `(B, C, h, w)` with channels first, integers or
            floats.

    Returns:
        `(B, (h / p) * (w / q), D)`.

    Raises:
        ValueError: for images whose height or width the patch does not divide, inputs
            of another rank, channels that are not known, an unknown data format, or
            sizes below 1.

    Examples:
        >>> import keras, numpy as np
        >>> from keras_attention import layers
        >>> layer = layers.PatchEmbedding(patch_size=2, hidden_dim=4, use_bias=False)
        >>> image = np.arange(16.0).reshape(1, 4, 4, 1)
        >>> layer.build(image.shape)
        >>> layer.set_weights([np.eye(4).reshape(2, 2, 1, 4)])  # the pixels themselves
        >>> keras.ops.convert_to_numpy(layer(image))[0, 1].tolist()
        [2.0, 3.0, 6.0, 7.0]

    Source:
        Dosovitskiy et al. 2021, arXiv:2010.11929, equation 1.
    """

    def __init__(
        self,
        patch_size: int | tuple[int, int],
        hidden_dim: int,
        use_bias: bool = True,
        kernel_initializer: Any = "lecun_normal",
        data_format: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.patch_size = as_pair("patch_size", patch_size)
        self.hidden_dim = positive_integer("hidden_dim", hidden_dim)
        self.use_bias = use_bias
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.data_format = as_data_format(data_format)

    def build(self, input_shape):
        *_, channels = self._ordered(input_shape)
        require(
            channels is not None,
            "The number of channels must be known.",
            input_shape=tuple(input_shape),
            data_format=self.data_format,
        )
        self.projection = keras.layers.Conv2D(
            self.hidden_dim,
            self.patch_size,
            strides=self.patch_size,
            use_bias=self.use_bias,
            kernel_initializer=self.kernel_initializer,
            data_format="channels_last",
            dtype=self.dtype_policy,
            name="projection",
        )
        self.projection.build((None, *self.patch_size, channels))

    def call(self, inputs):
        inputs = ops.cast(inputs, self.compute_dtype)  # Keras does it to floats only
        if self.data_format == "channels_first":
            # Few channels are moved quickly, and on a CPU not every backend can do a
            # convolution with channels first.
            inputs = ops.transpose(inputs, (0, 2, 3, 1))
        _, height, width, _ = _backend.sizes(inputs)
        self._check_size(height, width)
        length = (height // self.patch_size[0]) * (width // self.patch_size[1])
        return ops.reshape(self.projection(inputs), (-1, length, self.hidden_dim))

    def _check_size(self, *image_size):
        known = tuple(n if _backend.is_static(n) else None for n in image_size)
        patch_grid(known, self.patch_size)
        if None in known:
            pairs = zip(image_size, self.patch_size, strict=True)
            _backend.require_at_run_time(
                [size % patch == 0 for size, patch in pairs],
                UNFILLED,
                image_size=image_size,
                patch_size=self.patch_size,
            )

    def _ordered(self, shape):
        """Height, width and channels of a shape."""
        require(
            len(shape) == 4,
            "The input must be images, with axes for batch, height, width and "
            "channels.",
            shape=tuple(shape),
        )
        if self.data_format == "channels_first":
            _, channels, height, width = shape
        else:
            _, height, width, channels = shape
        return height, width, channels

    def compute_output_shape(self, input_shape):
        *image_size, _ = self._ordered(input_shape)
        rows, columns = patch_grid(tuple(image_size), self.patch_size)
        length = None if None in (rows, columns) else rows * columns
        return (input_shape[0], length, self.hidden_dim)

    def get_config(self):
        return {
            **super().get_config(),
            "patch_size": self.patch_size,
            "hidden_dim": self.hidden_dim,
            "use_bias": self.use_bias,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "data_format": self.data_format,
        }
