"""Attention whose scores at one step depend on those of the step before.

Such *alignments* cannot be computed for all queries at once, so `follow` goes through
the queries one after the other and hands on the scores of each.
"""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from keras_attention.ops import _backend
from keras_attention.ops.problem import add_bias
from keras_attention.ops.softmax import at_least_float32

Tensor = Any
# step(query (B, H), previous (B, S)) -> logits (B, S)
Energies = Callable[[Tensor, Tensor], Tensor]
# (logits (B, S), previous (B, S), allowed (B, S) or None) -> scores (B, S)
Normalise = Callable[[Tensor, Tensor, Tensor | None], Tensor]
# (previous (B, S), scores (B, S)) -> what the next step continues from (B, S)
Remember = Callable[[Tensor, Tensor], Tensor]


def last(previous: Tensor, scores: Tensor) -> Tensor:
    """Continue from the scores of the step before: the usual `Remember`."""
    del previous
    return scores


def follow(
    energies: Energies,
    normalise: Normalise,
    query: Tensor,
    previous: Tensor,
    allowed: Tensor | None = None,
    bias: Tensor | None = None,
    remember: Remember = last,
) -> Tensor:
    """Scores of queries in their order, each computed from those before it.

    A query with nothing to attend is passed over: its scores are 0 and the next query
    continues from the last scores there were.

    Args:
        energies: Gives the logits of one query.
        normalise: Makes scores of them, 0 where not allowed.
        query: `(B, T, H)`.
        previous: `(B, S)`, what the first query continues from. Scores are handed on in
            its dtype.
        allowed: Boolean `(B, T, S)`, True = may attend.
        bias: `(B, T, S)`, added to the logits.
        remember: Makes what the next query continues from; by default the scores.

    Returns:
        `(B, T, S)` in at least float32.
    """
    steps = [
        None if x is None else ops.swapaxes(x, 0, 1) for x in (query, allowed, bias)
    ]

    def step(carry, index):
        (before,) = carry
        one, seen, added = (None if x is None else x[index] for x in steps)
        numbers = at_least_float32(before)
        logits = at_least_float32(energies(one, numbers))
        if added is not None:
            logits = add_bias(logits[:, None, None], added[:, None, None])[:, 0, 0]
        scores = normalise(logits, numbers, seen)
        after = ops.cast(remember(numbers, scores), before.dtype)
        if seen is not None:
            after = ops.where(ops.any(seen, axis=-1, keepdims=True), after, before)
        return (after,), (scores,)

    dtype = keras.backend.standardize_dtype(at_least_float32(query).dtype)
    emits = (_backend.Spec((query.shape[0], previous.shape[1]), dtype),)
    _, (scores,) = _backend.scan(step, (previous,), _backend.sizes(query)[1], emits)
    return ops.swapaxes(scores, 0, 1)


def location_features(previous: Tensor, kernel: Tensor) -> Tensor:
    """What the previous alignments look like around each position: `F * alpha`.

    Chorowski et al. 2015, arXiv:1506.07503, equation 8; zeros stand beyond both ends.

    Args:
        previous: Alignments `(B, S)`.
        kernel: `(width, filters)`, of odd width.

    Returns:
        `(B, S, filters)`.
    """
    return ops.conv(
        previous[..., None],
        kernel[:, None, :],
        padding="same",
        data_format="channels_last",
    )


def monotonic(logits: Tensor, previous: Tensor, allowed: Tensor | None) -> Tensor:
    """Expected alignments of an attention that only ever moves forward.

    Coming from where the step before stopped, one stops at a position with probability
    `p = sigmoid(logit)` and else goes on: `alpha_j = p_j q_j` with
    `q_j = (1 - p_{j-1}) q_{j-1} + previous_j`. What is left at the end is lost, so that
    a row sums to at most 1. At a hidden position `p` is 0. Raffel et al. 2017,
    arXiv:1704.00784, equations 9 to 11, without a division by `p_{j-1}`.

    Args:
        logits: `(B, S)`.
        previous: Alignments of the step before, `(B, S)`; 1 at position 0 to start.
        allowed: Boolean `(B, S)`, True = may attend.

    Returns:
        `(B, S)`.
    """
    stop = ops.sigmoid(logits)
    move = ops.sigmoid(-logits)  # 1 - stop would round to 0 or 1 too early
    if allowed is not None:
        stop = ops.where(allowed, stop, ops.zeros_like(stop))
        move = ops.where(allowed, move, ops.ones_like(move))
    return stop * recurrence(move, previous)


def recurrence(keep: Tensor, enter: Tensor) -> Tensor:
    """`q_j = keep_{j-1} q_{j-1} + enter_j` along the last axis of `(B, S)` tensors.

    Nothing is divided, so that products that vanish do no harm. Takes `log2(S)` rounds:
    after each, twice as many earlier positions have been added (Hillis and Steele
    1986).
    """
    length = _backend.sizes(keep)[1]
    positions = ops.arange(length)

    def back(x, distance, fill):
        earlier = ops.take(x, ops.maximum(positions - distance, 0), axis=1)
        return ops.where(positions >= distance, earlier, ops.cast(fill, x.dtype))

    def double(carry, index):
        reach, total = carry
        distance = 2**index
        total = total + reach * back(total, distance, 0)
        return (reach * back(reach, distance, 1), total), ()

    carry = back(keep, 1, 0), enter
    if _backend.is_static(length):
        for index in range((length - 1).bit_length()):
            carry, _ = double(carry, index)
    else:
        rounds = ops.ceil(ops.log2(ops.cast(length, "float32"))) + 1  # one to be safe
        carry, _ = _backend.scan(double, carry, ops.cast(rounds, "int32"), ())
    return carry[1]
