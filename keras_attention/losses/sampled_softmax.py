"""Softmax over a target and sampled negatives, for catalogues of millions of items."""

from typing import Any

import keras
from keras import ops

from keras_attention.losses.crossentropy import MeanOfReal

Tensor = Any

HIDDEN = -1e9  # a logit whose softmax is 0, and that is finite all the same


def sampled_logits(
    target_logits: Tensor,
    negative_logits: Tensor,
    targets: Tensor,
    negatives: Tensor,
    log_q: Tensor,
) -> Tensor:
    """Logits whose softmax stands for that over all classes, the target's first.

    `z_t` and `z_j - log(K q_j)` of K negatives that were drawn with the chances `q`: a
    class that is drawn often counts less each time. A negative that is the target does
    not count. The sum of the exponentials is then, over the draws, on average that of
    all classes:

    `E[exp(z_t) + sum_{j != t} exp(z_j) / (K q_j)] = sum_i exp(z_i)`

    Its logarithm is on average a little less, by half of the sum's relative variance:
    with K the loss grows towards the full one. Without the correction, classes that are
    drawn by how frequent they are would be pushed down for it.

    Shapes:
        B any leading axes, K negatives.

    Args:
        target_logits: `(B,)`.
        negative_logits: `(B, K)`.
        targets: `(B,)` ids.
        negatives: `(B, K)` ids, or an own axis of size 1 where they are shared; 0 = no
            class was drawn, so that rows may have fewer than K.
        log_q: `(B, K)` or shared alike: the logarithm of the chance that one draw gives
            this negative. Of n classes drawn evenly, with or without replacement, it is
            `-log(n)`.

    Returns:
        `(B, 1 + K)` float32.

    Examples:
        >>> import numpy as np
        >>> from keras_attention.losses import sampled_logits
        >>> logits = sampled_logits(
        ...     np.array([2.0]), np.zeros((1, 3)), [5], [[7, 5, 0]], np.log([[0.5] * 3])
        ... )
        >>> [round(float(value), 2) for value in logits[0]]
        [2.0, 0.0, -1000000000.0, -1000000000.0]

    Source:
        Bengio and Senécal 2008, "Adaptive importance sampling to accelerate training of
        a neural probabilistic language model", and Jean et al. 2015, arXiv:1412.2007,
        section 3: the sum by importance sampling. Yi et al. 2019, "Sampling-bias-
        corrected neural modeling for large corpus item recommendations", section 3,
        correct the target too, which is wrong as it is always there and by no draw
        (Khrylchenko et al. 2025, arXiv:2507.09331).
    """
    target_logits, negative_logits, log_q = (
        ops.cast(x, "float32") for x in (target_logits, negative_logits, log_q)
    )
    targets, negatives = (ops.cast(ids, "int32") for ids in (targets, negatives))
    drawn = ops.not_equal(negatives, 0)
    number = ops.sum(ops.cast(drawn, "float32"), axis=-1, keepdims=True)
    expected = log_q + ops.log(ops.maximum(number, 1.0))  # log of times drawn
    counted = ops.logical_and(drawn, ops.not_equal(negatives, targets[..., None]))
    corrected = ops.where(counted, negative_logits - expected, HIDDEN)
    return ops.concatenate([target_logits[..., None], corrected], axis=-1)


def sampled_crossentropy(
    target_logits: Tensor,
    negative_logits: Tensor,
    targets: Tensor,
    negatives: Tensor,
    log_q: Tensor,
) -> Tensor:
    """Cross-entropy of the target among sampled negatives, in float32.

    `logsumexp` of `sampled_logits`, which has the formula and the source, minus the
    target's logit. Time and memory `O(B K)` instead of `O(B V)` for V classes.

    Shapes:
        B any leading axes, K negatives.

    Args:
        target_logits: As in `sampled_logits`, like all others.
        negative_logits: `(B, K)`.
        targets: `(B,)` ids.
        negatives: `(B, K)` ids, 0 = none.
        log_q: `(B, K)`.

    Returns:
        `(B,)` float32, natural logarithm.

    Examples:
        >>> import numpy as np
        >>> from keras_attention.losses import sampled_crossentropy
        >>> others, log_q = [[2, 3, 4]], np.full((1, 3), -np.log(3))
        >>> loss = sampled_crossentropy([0.0], np.zeros((1, 3)), [1], others, log_q)
        >>> round(float(loss[0]), 4)  # all others were drawn: the softmax of 4
        1.3863
    """
    return _of_the_first(
        sampled_logits(target_logits, negative_logits, targets, negatives, log_q)
    )


def _of_the_first(logits: Tensor) -> Tensor:
    """Cross-entropy `(B,)` of class 0 of logits `(B, 1 + K)`."""
    logits = ops.cast(logits, "float32")
    return ops.logsumexp(logits, axis=-1) - logits[..., 0]


@keras.saving.register_keras_serializable(package="keras_attention")
class SampledCrossentropy(MeanOfReal):
    """Mean sampled cross-entropy of the targets of a batch that count.

    For models that give `sampled_logits`, such as `SequenceRecommender` with
    `sampled_softmax=True`; they are made where the negatives are known. Computed in
    float32 whatever the model's precision.

    Shapes: `B` batch, `P` targets of a row, `K` negatives.

    Args:
        ignore_class: The target that is not counted.
        name: Name of the loss.

    Call args:
        y_true: (B, P) ids of the targets.
        y_pred: (B, P, 1 + K) logits, the target's first. A Keras mask they carry is
            and-ed with the targets'.
        sample_weight: (B,), (B, 1) or (B, P); the mean is then weighted.

    Returns:
        A float32 scalar; 0 if no target counts.

    Examples:
        >>> from keras import ops
        >>> from keras_attention.losses import SampledCrossentropy
        >>> logits = ops.zeros((1, 3, 5))
        >>> round(float(SampledCrossentropy()(ops.array([[7, 2, 0]]), logits)), 4)
        1.6094
    """

    def __init__(
        self, ignore_class: int = 0, name: str = "sampled_crossentropy"
    ) -> None:
        super().__init__(ignore_class, name)

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """The cross-entropy of every target (B, P), the ignored ones included."""
        del y_true  # it stands first
        return _of_the_first(y_pred)
