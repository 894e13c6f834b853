"""Gradient times input: what each token adds to the score of a class."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_attention.interpretation._gradients import (
    found_layer,
    log_odds,
    output_and_gradient,
)


def gradient_times_input(
    model: keras.Model,
    inputs: Any,
    layer: str | keras.layers.Layer,
    classes: int | Sequence[int] | None = None,
) -> np.ndarray:
    """What each position speaks for a class: `sum_d x_td dS / dx_td`.

    `x` is what the layer returns, usually the embedding of the tokens, and `S` the log
    odds of the class. For a model that is linear in `x` the sum over positions is the
    score itself, without its bias; for others it is the first term of a series, so
    small steps are believed and saturation is not seen. One forward and one backward
    pass.

    Args:
        model: Any Keras model from one input, such as token ids, to logits `(B, C)`.
        inputs: One batch, as the model takes it.
        layer: The layer, or its name, at any depth, whose output has an axis of
            positions: `"embedding"` of `TextClassifier`.
        classes: The class for all texts, or one for each; by default the one the model
            predicts for each.

    Returns:
        `(B, T)` float32: above 0 what speaks for the class, below 0 what speaks
        against it. Positions that are hidden by a mask have 0.

    Raises:
        ValueError: if there is no such layer or it is called several times, its output
            has not three axes, or a class does not exist.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import models
        >>> from keras_attention.interpretation import gradient_times_input
        >>> model = models.TextClassifier(vocabulary_size=9, num_classes=2)
        >>> ids = np.array([[5, 6, 0]])
        >>> found = gradient_times_input(model, ids, "embedding")
        >>> found.shape, bool(found[0, 2] == 0)
        ((1, 3), True)

    Source: Shrikumar et al. 2016, arXiv:1605.01713, section 4; for attention Jain &
    Wallace 2019, arXiv:1902.10186, section 4.1.
    """
    activations, gradient = output_and_gradient(
        model,
        inputs,
        found_layer(model, layer),
        lambda logits: log_odds(logits, classes),
        axes=3,
        expected="return vectors of positions, (B, T, D)",
    )
    activations, gradient = (
        ops.convert_to_numpy(ops.cast(x, "float32")) for x in (activations, gradient)
    )
    return (activations * gradient).sum(axis=-1)
