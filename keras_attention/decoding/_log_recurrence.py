"""A linear recurrence over time, in logarithms and in few steps."""

from math import inf
from typing import Any

from keras import ops

from keras_attention.decoding.loop import while_loop

Tensor = Any


def log_recurrence(factors: Tensor, terms: Tensor) -> Tensor:
    """`log x_t` of `x_t = a_t x_{t-1} + b_t` with `x_0 = 0`, for all t at once.

    Spans of time are joined to spans of twice their length, `log2(T)` times: a span is
    a factor and a term, and a span after another one is again such a pair. Nothing is
    subtracted, so that nothing is lost where factors are small.

    Args:
        factors: `(B, T)`, `log a_t`.
        terms: `(B, T)`, `log b_t`; minus infinity for a term of 0.

    Returns:
        `(B, T)`.
    """
    length = ops.shape(terms)[1]
    places = ops.arange(length, dtype="int32")

    def earlier(x: Tensor, distance: Tensor, before: float) -> Tensor:
        source = places - distance
        found = ops.take(x, ops.maximum(source, 0), axis=1)
        return ops.where(source >= 0, found, before)

    def joined(distance: Tensor, factors: Tensor, terms: Tensor) -> tuple:
        carried = factors + earlier(terms, distance, -inf)
        factors = factors + earlier(factors, distance, 0.0)
        return 2 * distance, factors, ops.logaddexp(terms, carried)

    carry = (ops.convert_to_tensor(1, dtype="int32"), factors, terms)
    return while_loop(lambda distance, *_: distance < length, joined, carry)[2]
