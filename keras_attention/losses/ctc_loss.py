"""Connectionist temporal classification: the loss, and which labels have one."""

from typing import Any

import keras
import numpy as np
from keras import ops

from keras_attention.losses._ctc_recurrence import ctc_recurrence
from keras_attention.ops import _backend

Tensor = Any

# Logit of a class that a frame surely is not: finite, for products with 0.
_NEVER = -1e9


def fits_ctc(labels: Tensor, label_lengths: Tensor, frame_lengths: Tensor) -> Tensor:
    """Whether the frames are enough for the labels: two alike need a blank between.

    Args:
        labels: (B, U) integers; what stands behind a label's end is of no matter.
        label_lengths: (B,) integers.
        frame_lengths: (B,) integers.

    Returns:
        (B,) bool.

    Examples:
        >>> from keras_attention.losses import fits_ctc
        >>> fits = fits_ctc([[1, 1], [1, 2]], [2, 2], [2, 2])
        >>> [bool(fit) for fit in fits]
        [False, True]
    """
    labels = ops.cast(labels, "int32")
    label_lengths = ops.cast(label_lengths, "int32")
    places = ops.arange(ops.shape(labels)[1], dtype="int32")[1:]
    repeats = ops.equal(labels[:, 1:], labels[:, :-1])
    repeats = ops.logical_and(repeats, places < label_lengths[:, None])
    needed = label_lengths + ops.sum(ops.cast(repeats, "int32"), axis=1)
    return needed <= ops.cast(frame_lengths, "int32")


def ctc(
    labels: Tensor,
    logits: Tensor,
    label_lengths: Tensor,
    frame_lengths: Tensor,
    blank: int = 0,
) -> Tensor:
    """Minus the log-probability of labels, summed over all their alignments.

    An alignment names a class for every frame; repeats are merged, then blanks left
    out. A label that cannot fit its frames (`fits_ctc`) has no alignment: its loss is
    infinite, and `keras.ops.ctc_loss` gives a large number. Here it is 0 with gradient
    0, and the losses of the others are as without it; count such labels with
    `metrics.ImpossibleLabels`. Time `O(B S U)`, float32 under every precision.

    Args:
        labels: (B, U) integer classes, none the blank; what stands behind a label's
            end is of no matter.
        logits: (B, S, V); what stands behind the last frame, even NaN, is not seen.
        label_lengths: (B,) integers; 0 for a label of nothing.
        frame_lengths: (B,) integers, from 0 to S.
        blank: Class of the blank.

    Returns:
        (B,) float32, natural logarithm.

    Examples:
        >>> from keras import ops
        >>> from keras_attention.losses import ctc
        >>> values = ctc([[1], [0]], ops.zeros((2, 2, 3)), [1, 0], [2, 2])
        >>> [round(float(value), 4) for value in values]
        [1.0986, 2.1972]

    Source:
        Graves et al. 2006, "Connectionist temporal classification", equations 3 and 8.
    """
    label_lengths, frame_lengths = (
        ops.cast(lengths, "int32") for lengths in (label_lengths, frame_lengths)
    )
    fits = fits_ctc(labels, label_lengths, frame_lengths)
    real = _first(frame_lengths, ops.shape(logits)[1])
    logits = with_blank_padding(ops.cast(logits, "float32"), real, blank)
    # In place of a label that cannot fit an empty one is asked for, which always can:
    # a number and a gradient that are finite, and then left out.
    lengths = ops.where(fits, label_lengths, 0)
    labels = ops.cast(labels, "int32")
    labels = ops.where(_first(lengths, ops.shape(labels)[1]), labels, blank)
    if _backend.has_ctc_loss():
        at_least_one = ops.maximum(frame_lengths, 1)
        values = ops.ctc_loss(labels, logits, lengths, at_least_one, mask_index=blank)
    else:
        frames = ops.log_softmax(logits, axis=-1)
        values = ctc_recurrence(labels, frames, lengths, blank)
    counts = ops.logical_and(fits, frame_lengths > 0)
    return ops.where(counts, values, 0.0)


def with_blank_padding(logits: Tensor, mask: Tensor, blank: int = 0) -> Tensor:
    """CTC logits whose padding is surely the blank, which changes no text's chance.

    So logits say by themselves which frames are real (`ctc_lengths`): a hidden mask
    would be lost on the way to JAX's metrics and in what `predict` returns.

    Args:
        logits: (B, S, V).
        mask: (B, S), True = a real frame.
        blank: Class of the blank.

    Returns:
        (B, S, V), in padding 0 for the blank and -1e9 for the others.
    """
    surely = np.where(np.arange(logits.shape[-1]) == blank, 0.0, _NEVER)
    return ops.where(ops.expand_dims(mask, -1), logits, surely.astype("float32"))


def ctc_lengths(y_true: Tensor, y_pred: Tensor, blank: int) -> tuple[Tensor, Tensor]:
    """Lengths of padded labels, and of logits, by their mask or blank padding.

    Args:
        y_true: (B, U) integers, `blank` behind the end.
        y_pred: (B, S, V). Its hidden Keras mask says which frames are real; without one
            all are but those of `with_blank_padding`.
        blank: Class of the blank.

    Returns:
        Both (B,) int32.
    """
    label_lengths = ops.sum(ops.cast(ops.not_equal(y_true, blank), "int32"), axis=1)
    mask = _backend.get_mask(y_pred)
    if mask is None:
        is_blank = ops.arange(y_pred.shape[-1]) == blank
        # NaN is below nothing: such a frame is real, and shows in the loss.
        is_never = ops.logical_or(is_blank, y_pred < 0.1 * _NEVER)
        mask = ops.logical_not(ops.all(is_never, axis=-1))
    return label_lengths, ops.sum(ops.cast(mask, "int32"), axis=1)


@keras.saving.register_keras_serializable(package="keras_attention")
class CTC(keras.losses.Loss):
    """Mean CTC loss per character of a batch of padded labels.

    The sum of `ctc` over the clips whose labels fit, divided by their characters, so
    that it is of the size of a cross-entropy per token. Labels that cannot fit count
    neither above nor below the fraction.

    Shapes: `B` batch, `U` length of the labels, `S` frames, `V` classes.

    Args:
        blank: Class of the blank, which is also what pads the labels.
        name: Name of the loss.

    Call args:
        y_true: (B, U) integers, the blank behind a label's end.
        y_pred: (B, S, V) logits. The Keras mask they carry says which frames, from the
            first on, are real; without one all are but those of `with_blank_padding`.
        sample_weight: (B,) or (B, 1).

    Returns:
        A float32 scalar; 0 if no label fits. An empty label counts as one character.

    Examples:
        >>> from keras import ops
        >>> from keras_attention.losses import CTC
        >>> labels = ops.array([[1, 0], [1, 1]])  # the second needs three frames
        >>> round(float(CTC()(labels, ops.zeros((2, 2, 3)))), 4)
        1.0986
    """

    def __init__(self, blank: int = 0, name: str = "ctc") -> None:
        super().__init__(
            name=name, reduction="mean_with_sample_weight", dtype="float32"
        )
        self.blank = blank

    def __call__(
        self, y_true: Tensor, y_pred: Tensor, sample_weight: Tensor | None = None
    ) -> Tensor:
        """The weighted mean per character over the labels that fit."""
        # Keras's own would take the mask of frames for one of clips.
        label_lengths, frame_lengths = ctc_lengths(y_true, y_pred, self.blank)
        fits = fits_ctc(y_true, label_lengths, frame_lengths)
        weights = ops.cast(fits, "float32")
        if sample_weight is not None:
            sample_weight = ops.reshape(ops.cast(sample_weight, "float32"), (-1,))
            weights = weights * sample_weight
        characters = ops.cast(ops.maximum(label_lengths, 1), "float32")
        return ops.divide_no_nan(
            ops.sum(self.call(y_true, y_pred) * weights),
            ops.sum(characters * weights),
        )

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """The loss of every clip (B,), 0 for labels that cannot fit."""
        lengths = ctc_lengths(y_true, y_pred, self.blank)
        return ctc(y_true, y_pred, *lengths, blank=self.blank)

    def get_config(self) -> dict[str, Any]:
        return {"blank": self.blank, "name": self.name}


def _first(lengths: Tensor, width: Any) -> Tensor:
    """Which of `width` places are among the first `lengths` (B,): (B, width) bool."""
    return ops.arange(width, dtype="int32") < lengths[:, None]
