"""Rotary position embedding."""

from typing import Any

import keras
from keras import ops

from keras_attention.errors import one_of, require
from keras_attention.ops import _backend
from keras_attention.ops import positions as positions_of


@keras.saving.register_keras_serializable(package="keras_attention")
class RotaryEmbedding(keras.layers.Layer):
    """Turns pairs of features of queries and keys by angles that grow with position.

    Pair `i` of a vector at position `p` turns by `p / w^(2i / H)`, so that the product
    of a query and a key depends on their distance alone: relative positions at no cost
    per pair. Use it inside `MultiHeadAttention(rotary=True)`; called by itself on
    projected heads. Time and memory `O(B L N H)`, no parameters.

    Shapes:
        B batch, L length, N heads, H head size.

    Args:
        max_wavelength: `w`, the longest wavelength divided by 2 pi.
        scaling: How many times longer the sequences are than those trained on; 1
            changes nothing.
        scaling_type: `"linear"` divides positions by `scaling`, which wants some
            fine-tuning; `"ntk"` multiplies `w` by `scaling^(H / (H - 2))`, which leaves
            the fastest pairs, and so near neighbours, as they were.
        interleaved: Pair feature `2i` with `2i + 1`, as in the paper, instead of `i`
            with `i + H / 2`, as in KerasHub, GPT-NeoX and Llama.
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        inputs: `(B, L, N, H)`, projected queries or keys; `H` must be even.
        start_index: Position of the first row, for decoding step by step.
        positions: `(L,)` or `(B, L)` integers instead of `start_index` onwards.

    Returns:
        `(B, L, N, H)`; every vector keeps its length.

    Raises:
        ValueError: for a `max_wavelength` or `scaling` that is not positive, an unknown
            `scaling_type`, or an odd head size.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> x = np.ones((1, 3, 1, 2), "float32")
        >>> y = layers.RotaryEmbedding()(x)
        >>> [round(float(value), 4) for value in y[0, 1, 0]]  # one radian further
        [-0.3012, 1.3818]

    Source:
        Su et al. 2021, arXiv:2104.09864, equation 34; scaling Chen et al. 2023,
        arXiv:2306.15595, and Peng et al. 2023, arXiv:2309.00071, section 3.1.
    """

    multiple = 2  # the head size is one of this

    def __init__(
        self,
        max_wavelength: float = 10_000.0,
        scaling: float = 1.0,
        scaling_type: str = "linear",
        interleaved: bool = False,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        for name, value in (("max_wavelength", max_wavelength), ("scaling", scaling)):
            require(value > 0, f"`{name}` must be positive.", **{name: value})
        self.max_wavelength = float(max_wavelength)
        self.scaling = float(scaling)
        self.scaling_type = one_of(
            "scaling_type", scaling_type, positions_of.SCALING_TYPES
        )
        self.interleaved = interleaved
        self.supports_masking = True

    def call(self, inputs, start_index=0, positions=None):
        if positions is None:
            positions = ops.add(ops.arange(ops.shape(inputs)[1]), start_index)
        angles = positions_of.rotary_angles(
            positions, self.check_size(inputs.shape[-1]), **self.angle_options()
        )
        return positions_of.rotate(inputs, angles, self.interleaved)

    def aligned_to_the_end(self, inputs):
        """Heads turned so that the last ones of queries and of keys meet.

        Positions count back from the end: query `i` stands `i + (S - T)` keys from the
        first, whatever `T` and `S` are.
        """
        return self.call(inputs, start_index=-_backend.sizes(inputs)[1])

    def check_size(self, size: int) -> int:
        """The head size, if it can be turned."""
        require(
            size % self.multiple == 0,
            f"The head size must be a multiple of {self.multiple} to be rotated.",
            size=size,
        )
        return size

    def angle_options(self) -> dict[str, Any]:
        """What angles depend on beside position and head size."""
        return {
            "max_wavelength": self.max_wavelength,
            "scaling": self.scaling,
            "scaling_type": self.scaling_type,
        }

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {
            **super().get_config(),
            **self.angle_options(),
            "interleaved": self.interleaved,
        }


def rotary_layer(rotary: Any, size: int) -> RotaryEmbedding | None:
    """The `rotary` argument of an attention layer with heads of `size`.

    Args:
        rotary: `True`, a dict of arguments of `RotaryEmbedding`, such a layer or its
            serialized form; `None` or `False` for none.
        size: What it has to turn.
    """
    if rotary is None or rotary is False:
        return None
    if rotary is True:
        rotary = {}
    if isinstance(rotary, dict) and "class_name" in rotary:
        rotary = keras.saving.deserialize_keras_object(rotary)
    elif isinstance(rotary, dict):
        rotary = RotaryEmbedding(**{"name": "rotary", **rotary})
    require(
        isinstance(rotary, RotaryEmbedding),
        "`rotary` must be True, a dict of arguments of `RotaryEmbedding` or such a "
        "layer.",
        rotary=rotary,
    )
    rotary.check_size(size)
    return rotary
