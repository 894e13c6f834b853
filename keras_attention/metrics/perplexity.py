"""Perplexity per token of padded sequences."""

from typing import Any

import keras
from keras import ops

from keras_attention.losses import token_crossentropy, token_weights

Tensor = Any


@keras.saving.register_keras_serializable(package="keras_attention")
class Perplexity(keras.metrics.Mean):
    """`exp` of the mean cross-entropy per real token.

    The mean runs over all tokens seen since the last reset, so batches count by
    their real tokens and not by their number or width. There is no smoothing,
    whatever the training loss has, and everything is float32.

    Shapes: `B` batch, `T` length, `V` classes.

    Args:
        ignore_class: The label of tokens that are not counted.
        name: Name of the metric.

    Call args:
        y_true: (B, T) integers.
        y_pred: (B, T, V) logits.
        sample_weight: (B,), (B, 1) or (B, T); the mean is then weighted.

    Returns:
        `result` returns a float32 scalar; 1 if no token has been real.

    Examples:
        >>> from keras import ops
        >>> from keras_attention.metrics import Perplexity
        >>> metric = Perplexity()
        >>> metric.update_state(ops.array([[1, 2, 0]]), ops.zeros((1, 3, 7)))
        >>> round(float(metric.result()), 4)
        7.0
    """

    def __init__(self, ignore_class: int = 0, name: str = "perplexity") -> None:
        super().__init__(name=name, dtype="float32")
        self.ignore_class = ignore_class

    def update_state(
        self, y_true: Tensor, y_pred: Tensor, sample_weight: Tensor | None = None
    ) -> None:
        losses = token_crossentropy(y_true, y_pred)
        weights = token_weights(y_true, self.ignore_class, sample_weight)
        # Flat, since `Mean` takes means over rows first: widths would count.
        super().update_state(ops.reshape(losses, (-1,)), ops.reshape(weights, (-1,)))

    def result(self) -> Tensor:
        return ops.exp(super().result())

    def get_config(self) -> dict[str, Any]:
        return {"ignore_class": self.ignore_class, "name": self.name}
