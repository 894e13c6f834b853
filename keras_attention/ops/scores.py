"""Score functions: how well does a query match a key?

A score is a pure function `score(query, key, *weights) -> logits` with `query`
`(..., T, H)`, `key` `(..., S, H)`, logits `(..., T, S)`. The engine calls it on tiles,
so it must treat every pair (query, key) on its own. Weights are explicit arguments, so
that the blockwise path can give each of them its gradient.

A score that holds one vector per pair, `(..., T, S, H)`, says so with `@pairwise`: the
engine then takes smaller tiles.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import keras
from keras import ops

from keras_attention.errors import one_of, require
from keras_attention.ops import _backend
from keras_attention.ops.softmax import at_least_float32

Tensor = Any
Score = Callable[..., Tensor]


def pairwise(score: Score) -> Score:
    """Mark a score whose intermediate has `H` numbers for each pair."""
    score.pairwise = True  # type: ignore[attr-defined]
    return score


def is_pairwise(score: Score) -> bool:
    """Whether a score is marked `@pairwise`."""
    return getattr(score, "pairwise", False)


def dot(query: Tensor, key: Tensor) -> Tensor:
    """`q . k` (Luong et al. 2015, arXiv:1508.04025, section 3.1, dot)."""
    return _backend.matmul_transposed(query, key)


def scaled_dot(query: Tensor, key: Tensor) -> Tensor:
    """`q . k / sqrt(H)` (Vaswani et al. 2017, arXiv:1706.03762, equation 1)."""
    return dot(query * query.shape[-1] ** -0.5, key)


def general(query: Tensor, key: Tensor, kernel: Tensor) -> Tensor:
    """`q^T W k` with `W` `(Hq, Hk)` (Luong et al. 2015, section 3.1, general)."""
    return dot(ops.matmul(query, kernel), key)


@pairwise
def additive(query: Tensor, key: Tensor, scale: Tensor) -> Tensor:
    """`v . tanh(q + k)` with `v` `(H,)`; `q` and `k` come projected.

    Bahdanau et al. 2015, arXiv:1409.0473, appendix A.1.2.
    """
    pairs = ops.tanh(ops.expand_dims(query, -2) + ops.expand_dims(key, -3))
    return ops.matmul(pairs, ops.expand_dims(scale, -1))[..., 0]


def cosine(query: Tensor, key: Tensor, temperature: Tensor | None = None) -> Tensor:
    """`cos(q, k)`, divided by a scalar `temperature` if one is given.

    Graves et al. 2014, arXiv:1410.5401, equation 6. A zero vector scores 0.
    """
    logits = dot(_unit(query), _unit(key))
    return logits if temperature is None else logits / temperature


def _unit(x: Tensor) -> Tensor:
    squares = ops.sum(ops.square(x), axis=-1, keepdims=True)
    return x * ops.rsqrt(ops.maximum(squares, 1e-12))


@pairwise
def gaussian(query: Tensor, key: Tensor, bandwidth: Tensor) -> Tensor:
    """`-|q - k|^2 / (2 h^2)` with a scalar bandwidth `h`.

    After the softmax this is Nadaraya-Watson kernel regression. The difference is taken
    before squaring: the expanded form loses digits for near neighbours.
    """
    difference = ops.expand_dims(query, -2) - ops.expand_dims(key, -3)
    return -ops.sum(ops.square(difference / bandwidth), axis=-1) / 2


@dataclass(frozen=True)
class SoftCapped:
    """`cap * tanh(logits / cap)` of another score: logits stay within `(-cap, cap)`.

    In at least float32. It takes the weights of the score inside, and tiles as that.
    Gemma Team 2024, arXiv:2408.00118, section 2.

    Attributes:
        score: Name or function of the score inside.
        cap: Bound of the logits, above 0; 50 in Gemma 2.
    """

    score: "str | Score"
    cap: float

    def __post_init__(self) -> None:
        require(
            self.cap > 0, "`logit_soft_cap` must be positive.", logit_soft_cap=self.cap
        )

    def __call__(self, query: Tensor, key: Tensor, *weights: Tensor) -> Tensor:
        logits = at_least_float32(get(self.score)(query, key, *weights))
        return self.cap * ops.tanh(logits / self.cap)

    @property
    def pairwise(self) -> bool:
        """Whether the score inside is marked `@pairwise`."""
        return is_pairwise(get(self.score))


_SCORES: dict[str, Score] = {
    "dot": dot,
    "scaled_dot": scaled_dot,
    "general": general,
    "additive": additive,
    "cosine": cosine,
    "gaussian": gaussian,
}


def names() -> list[str]:
    """The names `get` understands."""
    return list(_SCORES)


def get(score: str | Score) -> Score:
    """A score by name; a callable is returned as it is.

    Raises:
        ValueError: for an unknown name, listing the valid ones.
    """
    if callable(score):
        return score
    return _SCORES[one_of("score", score, _SCORES)]


class ScoreWeight(NamedTuple):
    """How a layer keeps a weight of a built-in score.

    Attributes:
        shape: Of the weight.
        start: First value of a scalar. It must stay positive, so its logarithm is what
            is kept and trained. `None`: a kernel, kept as it is.
    """

    shape: tuple[int, ...]
    start: float | None = None

    def initializer(self) -> Any:
        """Keras initializer of what is kept."""
        if self.start is None:
            return "glorot_uniform"
        return keras.initializers.Constant(math.log(self.start))


def weights(
    score: str | Score, query_size: int, key_size: int
) -> dict[str, ScoreWeight]:
    """The weights a built-in score takes, in order.

    Args:
        score: Name or function; a function of the user's own has none.
        query_size: Feature size of (projected) queries.
        key_size: Feature size of (projected) keys.
    """
    if isinstance(score, SoftCapped):
        return weights(score.score, query_size, key_size)
    specs: dict[Score, dict[str, ScoreWeight]] = {
        general: {"kernel": ScoreWeight((query_size, key_size))},
        additive: {"scale": ScoreWeight((key_size,))},
        cosine: {"log_temperature": ScoreWeight((), start=0.1)},
        gaussian: {"log_bandwidth": ScoreWeight((), start=1.0)},
    }
    return specs.get(get(score), {})


def values(score: str | Score, kept: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """What the score is called with, from what a layer keeps."""
    specs = weights(score, 0, 0).values()
    return tuple(
        ops.convert_to_tensor(weight) if spec.start is None else ops.exp(weight)
        for spec, weight in zip(specs, kept, strict=True)
    )


def multiply_adds(
    score: str | Score,
    query_length: int,
    key_length: int,
    query_size: int,
    key_size: int,
) -> int | None:
    """Multiply-adds of the matrix products of one head's logits `(T, S)`.

    `T S H` for the dot products, `T Hq Hk + T S Hk` for `general`, `T S H` for
    `additive` (its `v . tanh(...)`), 0 for `gaussian`, which multiplies no matrices.

    Args:
        score: Name or function.
        query_length: T.
        key_length: S.
        query_size: Feature size of (projected) queries, Hq.
        key_size: Feature size of (projected) keys, Hk.

    Returns:
        The number, or `None` for a function of the user's own.
    """
    sizes = query_length, key_length, query_size, key_size
    if isinstance(score, SoftCapped):
        return multiply_adds(score.score, *sizes)
    products = query_length * key_length * key_size
    known: dict[Score, int] = {
        dot: products,
        scaled_dot: products,
        general: query_length * query_size * key_size + products,
        additive: products,
        cosine: products,
        gaussian: 0,
    }
    return known.get(get(score))
