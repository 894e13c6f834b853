"""The models that every format must hold, with inputs of several sizes."""

import keras
import numpy as np

from keras_attention import layers
from keras_attention import models as whole

BATCHES = (1, 3)


def masked_attention(length=None):
    """Causal attention over padded sequences, of two inputs, giving a dict."""
    x = keras.Input((length, 6), name="sequence")
    valid = keras.Input((length,), dtype="bool", name="valid")
    attention = layers.MultiHeadAttention(num_heads=2, key_dim=3)
    y, scores = attention(
        x, x, value_mask=valid, use_causal_mask=True, return_attention_scores=True
    )
    # Not in the order of the inputs, nor of the alphabet.
    return keras.Model([x, valid], {"vectors": y, "scores": scores})


def sequences(batch, length):
    """Sequences padded at random, the first of them whole."""
    generator = np.random.default_rng([batch, length])
    lengths = generator.integers(1, length, (batch, 1))
    lengths[0] = length
    return {
        "sequence": generator.normal(size=(batch, length, 6)).astype("float32"),
        "valid": np.arange(length) < lengths,
    }


def small_cnn():
    """A convolution, norm and dense layer over images of bytes, as a `Sequential`."""
    model = keras.Sequential(
        [
            keras.Input((9, 7, 3), dtype="uint8", name="image"),
            keras.layers.Rescaling(1 / 255),
            keras.layers.Conv2D(4, 3, activation="relu"),
            keras.layers.BatchNormalization(),
            keras.layers.GlobalAveragePooling2D(),
            keras.layers.Dense(5, activation="softmax"),
        ]
    )
    mean, variance = model.layers[2].non_trainable_variables
    mean.assign([0.1, -0.2, 0.3, 0.0])
    variance.assign([0.5, 2.0, 1.0, 3.0])
    return model


def images(batch):
    """Random bytes."""
    generator = np.random.default_rng(batch)
    pixels = generator.integers(0, 256, (batch, 9, 7, 3)).astype("uint8")
    return {"image": pixels}


def attention_cnn(dtype=None):
    """One block with gates of channels and of positions."""
    return whole.AttentionCNN(
        num_classes=5,
        input_shape=(9, 7, 3),
        filters=(4,),
        blocks_per_stage=1,
        attention="cbam",
        attention_options={"ratio": 2, "kernel_size": 3},
        dtype=dtype,
    )


def vision_transformer(dtype=None):
    """One block with rotary positions, and attention pooling."""
    return whole.VisionTransformer(
        num_classes=5,
        input_shape=(9, 6, 3),
        patch_size=3,
        num_layers=1,
        num_heads=2,
        hidden_dim=8,
        intermediate_dim=12,
        pooling="attention",
        positions="rotary_2d",
        dtype=dtype,
    )


VISION = {"attention_cnn": attention_cnn, "vision_transformer": vision_transformer}


def pixels(model, batch):
    """Random bytes for a model of `VISION`."""
    shape = (batch, *model.input_shape[1:])
    generator = np.random.default_rng(batch)
    return {"images": generator.integers(0, 256, shape).astype("uint8")}


def subclassed():
    """A model that does not know its inputs."""

    class Subclassed(keras.Model):
        def call(self, inputs):
            return inputs

    return Subclassed(name="mine")
