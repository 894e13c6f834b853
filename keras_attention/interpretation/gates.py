"""Gates of feature maps, as a number for each channel or for each position."""

from typing import Any

import numpy as np
from keras import ops

from keras_attention.errors import require
from keras_attention.layers._data_format import channels_axis


def channel_gates(gate: Any, data_format: str | None = None) -> np.ndarray:
    """How far a gate opens each channel, on the mean over positions.

    Args:
        gate: `(B, h, w, C)`, or with channels first; h and w are 1 where the gate knows
            no positions. As `capture` records it of every layer with a gate. Of
            `SelectiveKernel` take one branch, `scores[..., m]`.
        data_format: Where the channels are; by default as in Keras's configuration. The
            two gates inside `ConvolutionalBlockAttention` and inside
            `ConcurrentSqueezeExcitation` have them last whatever format these have.

    Returns:
        `(B, C)`, float32.

    Raises:
        ValueError: for a gate of other than four axes, or an unknown format.

    Examples:
        >>> import numpy as np
        >>> from keras_attention.interpretation import channel_gates
        >>> channel_gates(np.array([[[[0.2, 0.9]]]])).tolist()
        [[0.2, 0.9]]
    """
    return _channels_last(gate, data_format).mean(axis=(1, 2))


def position_gates(gate: Any, data_format: str | None = None) -> np.ndarray:
    """How far a gate opens each position, on the mean over channels.

    Args:
        gate: As for `channel_gates`; C is 1 where the gate knows no channels.
        data_format: Where the channels are; by default as in Keras's configuration.

    Returns:
        `(B, h, w)`, float32.

    Raises:
        ValueError: as `channel_gates`.

    Examples:
        >>> import numpy as np
        >>> from keras_attention.interpretation import position_gates
        >>> position_gates(np.ones((2, 3, 5, 1))).shape
        (2, 3, 5)
    """
    return _channels_last(gate, data_format).mean(axis=-1)


def _channels_last(gate, data_format) -> np.ndarray:
    gate = ops.convert_to_numpy(ops.cast(gate, "float32"))
    require(
        gate.ndim == 4,
        "`gate` must have the four axes of a feature map.",
        shape=gate.shape,
    )
    return np.moveaxis(gate, channels_axis(data_format), -1)
