"""Cross-entropy of padded sequences: only real tokens count."""

from typing import Any

import keras
from keras import ops

from keras_attention.errors import fraction

Tensor = Any


def token_crossentropy(
    labels: Tensor, logits: Tensor, label_smoothing: float = 0.0
) -> Tensor:
    """Cross-entropy of every token, in float32, with smoothing over all classes.

    With smoothing `s` and logits `z` over `V` classes it is
    `logsumexp(z) - (1 - s) * z[label] - s * mean(z)`: no one-hot tensor is made.

    Args:
        labels: (...) integer classes; one outside `[0, V)` gives a finite number of
            no meaning.
        logits: (..., V) of any float type.
        label_smoothing: Share of the target spread evenly over all classes.

    Returns:
        (...) float32, natural logarithm.

    Examples:
        >>> from keras_attention.losses import token_crossentropy
        >>> values = token_crossentropy([0, 1], [[0.0, 0.0], [0.0, 0.0]])
        >>> [round(float(value), 4) for value in values]
        [0.6931, 0.6931]
    """
    logits = ops.cast(logits, "float32")
    size = logits.shape[-1]
    labels = ops.clip(ops.cast(labels, "int32"), 0, size - 1)
    chosen = ops.take_along_axis(logits, labels[..., None], axis=-1)[..., 0]
    target = (1.0 - label_smoothing) * chosen
    if label_smoothing:
        target = target + label_smoothing * ops.mean(logits, axis=-1)
    return ops.logsumexp(logits, axis=-1) - target


def token_weights(
    labels: Tensor, ignore_class: int, sample_weight: Tensor | None = None
) -> Tensor:
    """What every token counts: 0 where the label is `ignore_class`.

    Args:
        labels: (B, T) integer classes.
        ignore_class: The class that is not counted, such as padding.
        sample_weight: (B,), (B, 1) or (B, T); `None` counts real tokens alike.

    Returns:
        (B, T) float32.
    """
    weights = ops.cast(ops.not_equal(labels, ignore_class), "float32")
    if sample_weight is None:
        return weights
    sample_weight = ops.cast(sample_weight, "float32")
    while len(sample_weight.shape) < len(weights.shape):
        sample_weight = sample_weight[..., None]
    return weights * sample_weight


class MeanOfReal(keras.losses.Loss):
    """The mean over what is real of a batch, in float32; the base of losses here.

    Args:
        ignore_class: The label that is not counted.
        name: Name of the loss.
    """

    def __init__(self, ignore_class: int, name: str) -> None:
        super().__init__(
            name=name, reduction="mean_with_sample_weight", dtype="float32"
        )
        self.ignore_class = ignore_class

    def __call__(
        self, y_true: Tensor, y_pred: Tensor, sample_weight: Tensor | None = None
    ) -> Tensor:
        """The weighted mean over the labels that are not `ignore_class`."""
        weights = token_weights(y_true, self.ignore_class, sample_weight)
        return super().__call__(y_true, y_pred, sample_weight=weights)

    def get_config(self) -> dict[str, Any]:
        return {"ignore_class": self.ignore_class, "name": self.name}


@keras.saving.register_keras_serializable(package="keras_attention")
class MaskedCrossentropy(MeanOfReal):
    """Mean cross-entropy of the real tokens of a batch of padded sequences.

    For models that give logits and labels that are integers. Padded tokens count
    neither above nor below the fraction, in the smoothed part either, so the loss of
    a batch does not depend on how far it is padded. Computed in float32 whatever the
    model's precision, with no one-hot copy of the labels.

    Shapes: `B` batch, `T` length, `V` classes.

    Args:
        label_smoothing: Share in [0, 1) of each target that is spread evenly over
            all `V` classes; 0.1 is usual in translation.
        ignore_class: The label of tokens that are not counted.
        name: Name of the loss.

    Call args:
        y_true: (B, T) integers.
        y_pred: (B, T, V) logits. A Keras mask they carry is and-ed with the labels'.
        sample_weight: (B,), (B, 1) or (B, T); the mean is then weighted.

    Returns:
        A float32 scalar; 0 if no token is real.

    Raises:
        ValueError: `label_smoothing` is outside [0, 1).

    Examples:
        >>> from keras import ops
        >>> from keras_attention.losses import MaskedCrossentropy
        >>> loss = MaskedCrossentropy()
        >>> logits = ops.array([[[0.0, 2.0, 0.0], [0.0, 0.0, 2.0], [5.0, 0.0, 0.0]]])
        >>> padded = loss(ops.array([[1, 2, 0]]), logits)
        >>> shorter = loss(ops.array([[1, 2]]), logits[:, :2])
        >>> round(float(padded), 5) == round(float(shorter), 5)
        True
    """

    def __init__(
        self,
        label_smoothing: float = 0.0,
        ignore_class: int = 0,
        name: str = "masked_crossentropy",
    ) -> None:
        super().__init__(ignore_class, name)
        self.label_smoothing = fraction("label_smoothing", label_smoothing)

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """The cross-entropy of every token (B, T), the ignored ones included."""
        return token_crossentropy(y_true, y_pred, self.label_smoothing)

    def get_config(self) -> dict[str, Any]:
        return {"label_smoothing": self.label_smoothing, **super().get_config()}
