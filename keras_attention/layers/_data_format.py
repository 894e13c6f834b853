"""Where images and feature maps have their channels."""

import keras

from keras_attention.errors import one_of

CHANNELS_AXIS = {"channels_last": -1, "channels_first": 1}


def as_data_format(data_format: str | None) -> str:
    """The `data_format` argument, checked; `None` takes that of Keras."""
    if data_format is None:
        return keras.config.image_data_format()
    return one_of("data_format", data_format, CHANNELS_AXIS)


def channels_axis(data_format: str | None) -> int:
    """The axis of the channels of `(B, h, w, C)` or `(B, C, h, w)`."""
    return CHANNELS_AXIS[as_data_format(data_format)]
