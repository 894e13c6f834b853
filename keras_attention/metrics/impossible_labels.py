"""How many labels a CTC loss had to leave out."""

from typing import Any

import keras
from keras import ops

from keras_attention.losses import ctc_lengths, fits_ctc

Tensor = Any


@keras.saving.register_keras_serializable(package="keras_attention")
class ImpossibleLabels(keras.metrics.Sum):
    """Number of labels that cannot fit their frames, since the last reset.

    `losses.ctc` gives them 0, so that a loss alone would not tell of them: transcripts
    of other clips, clips cut short, or an encoder with too few places a second.

    Shapes: `B` batch, `U` length of the labels, `S` frames, `V` classes.

    Args:
        blank: Class of the blank, which is also what pads the labels.
        name: Name of the metric.

    Call args:
        y_true: (B, U) integers, the blank behind a label's end.
        y_pred: (B, S, V) logits. The Keras mask they carry says which frames, from the
            first on, are real; without one all are but those of
            `losses.with_blank_padding`.
        sample_weight: (B,) or (B, 1); a label is then counted by its weight.

    Returns:
        `result` returns a float32 scalar.

    Examples:
        >>> from keras import ops
        >>> from keras_attention.metrics import ImpossibleLabels
        >>> metric = ImpossibleLabels()
        >>> metric.update_state(ops.array([[1, 0], [1, 1]]), ops.zeros((2, 2, 3)))
        >>> int(metric.result())
        1
    """

    def __init__(self, blank: int = 0, name: str = "impossible_labels") -> None:
        super().__init__(name=name, dtype="float32")
        self.blank = blank

    def update_state(
        self, y_true: Tensor, y_pred: Tensor, sample_weight: Tensor | None = None
    ) -> None:
        lengths = ctc_lengths(y_true, y_pred, self.blank)
        missed = ops.logical_not(fits_ctc(y_true, *lengths))
        if sample_weight is not None:
            sample_weight = ops.reshape(ops.cast(sample_weight, "float32"), (-1,))
        super().update_state(ops.cast(missed, "float32"), sample_weight)

    def get_config(self) -> dict[str, Any]:
        return {"blank": self.blank, "name": self.name}
