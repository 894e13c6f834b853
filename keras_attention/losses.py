"""Losses of padded sequences: only real tokens count."""

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


@keras.saving.register_keras_serializable(package="keras_attention")
class MaskedCrossentropy(keras.losses.Loss):
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
        super().__init__(
            name=name, reduction="mean_with_sample_weight", dtype="float32"
        )
        self.label_smoothing = fraction("label_smoothing", label_smoothing)
        self.ignore_class = ignore_class

    def __call__(
        self, y_true: Tensor, y_pred: Tensor, sample_weight: Tensor | None = None
    ) -> Tensor:
        """The weighted mean over the tokens that are not `ignore_class`."""
        weights = token_weights(y_true, self.ignore_class, sample_weight)
        return super().__call__(y_true, y_pred, sample_weight=weights)

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """The cross-entropy of every token (B, T), the ignored ones included."""
        return token_crossentropy(y_true, y_pred, self.label_smoothing)

    def get_config(self) -> dict[str, Any]:
        return {
            "label_smoothing": self.label_smoothing,
            "ignore_class": self.ignore_class,
            "name": self.name,
        }


def doubly_stochastic_penalty(attention_scores: Tensor, mask: Tensor) -> Tensor:
    """How far a caption is from having looked at every place of a picture once.

    `(1 - sum_t a_ti)^2`, the mean over the places i. The scores of a step sum to 1 over
    the places; here their sum over the steps is drawn to 1 as well, so that no part of
    the picture is passed over. T steps have `T / L` for a place on average: for
    captions of fewer words than there are places the penalty is least where attention
    is even, so give it a small weight.

    Args:
        attention_scores: `(B, T, L)`, after the softmax.
        mask: `(B, T)`, True = a real step.

    Returns:
        `(B,)` float32.

    Examples:
        >>> import numpy as np
        >>> from keras_attention.losses import doubly_stochastic_penalty
        >>> scores = np.array([[[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]])
        >>> mask = np.array([[True, True, False]])
        >>> [float(value) for value in doubly_stochastic_penalty(scores, mask)]
        [0.25]

    Source:
        Xu et al. 2015, arXiv:1502.03044, equation 14, which has the sum over places.
    """
    scores = ops.cast(attention_scores, "float32")
    looked = ops.sum(ops.where(mask[..., None], scores, 0.0), axis=1)  # (B, L)
    return ops.mean(ops.square(1.0 - looked), axis=-1)


def coverage_penalty(attention_scores: Tensor, mask: Tensor) -> Tensor:
    """How much of what a step looks at has been looked at before.

    `sum_i min(a_ti, c_ti)` with the coverage `c_t`, the sum of the scores of all steps
    before `t`: 0 where a step looks at what no step has seen, 1 where it only looks
    again. A summary that returns to the same words repeats them.

    Args:
        attention_scores: `(B, T, S)`, after the softmax.
        mask: `(B, T)`, True = a real step.

    Returns:
        A float32 scalar, the mean over the real steps; 0 where there are none.

    Examples:
        >>> import numpy as np
        >>> from keras_attention.losses import coverage_penalty
        >>> scores = np.array([[[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]])
        >>> float(coverage_penalty(scores, np.array([[True, True, False]])))
        0.25

    Source:
        See et al. 2017, arXiv:1704.04368, equations 10 and 12.
    """
    real = ops.cast(mask, "float32")
    scores = ops.cast(attention_scores, "float32") * real[..., None]
    again = ops.sum(ops.minimum(scores, coverage(scores)), axis=-1)  # (B, T)
    return ops.sum(again) / ops.maximum(ops.sum(real), 1.0)


def coverage(attention_scores: Tensor) -> Tensor:
    """What each step finds looked at: the sum of the scores before it.

    Args:
        attention_scores: `(B, T, S)`, after the softmax.

    Returns:
        `(B, T, S)`, 0 for the first step.

    Source:
        See et al. 2017, arXiv:1704.04368, equation 10.
    """
    return ops.cumsum(attention_scores, axis=1) - attention_scores
