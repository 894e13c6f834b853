"""What attention scores cost beside the loss: places looked at twice, or never."""

from typing import Any

from keras import ops

Tensor = Any


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
