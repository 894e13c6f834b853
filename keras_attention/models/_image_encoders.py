"""The half of a model that sees: the library's classifiers as image encoders."""

from typing import Any

import keras

from keras_attention.errors import one_of, require
from keras_attention.models.attention_cnn import AttentionCNN
from keras_attention.models.vision_transformer import VisionTransformer

ENCODERS = {"cnn": AttentionCNN, "vit": VisionTransformer}

# What two encoders may differ in, and one start from the weights of the other.
_FREE = (
    *("name", "trainable", "dtype", "num_classes", "input_shape", "pooling"),
    *("dropout", "attention_dropout", "drop_path"),
)


def make_classifier(
    encoder: str, options: dict | None, input_shape: tuple, dtype: Any
) -> keras.Model:
    """The classifier whose features a captioner reads; its head has no part in that."""
    kind = ENCODERS[one_of("encoder", encoder, ENCODERS)]
    options = options or {}
    given = sorted({"num_classes", "input_shape", "dtype"} & {*options})
    require(
        not given,
        "`encoder_options` takes neither `num_classes` nor what the captioner has.",
        encoder_options=given,
    )
    return kind(num_classes=1, input_shape=input_shape, dtype=dtype, **options)


def require_alike(own: keras.Model, other: keras.Model) -> None:
    """Refuse to start a classifier from one of other sizes or for other channels."""
    require(
        type(other) is type(own),
        f"`model` must have the encoder of this captioner, {type(own).__name__}.",
        model=type(other).__name__,
    )
    expected, found = _compared(own.get_config()), _compared(other.get_config())
    differing = [name for name in found if found[name] != expected[name]]
    wanted = ", ".join(f"{name}={expected[name]!r}" for name in differing)
    require(
        not differing,
        f"The encoder of `model` must be made as that of this captioner: {wanted}.",
        **{name: found[name] for name in differing},
    )


def _compared(config: dict) -> dict:
    """What decides which weights there are and what they mean."""
    return {
        **{name: value or None for name, value in config.items() if name not in _FREE},
        "class_token": config.get("pooling") == "class_token",
        "channels": config["input_shape"][-1],
    }
