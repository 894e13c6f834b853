"""The books of a search: what it has found, while it runs and at its end."""

from math import inf
from typing import Any, NamedTuple

from keras import ops

from keras_attention.decoding.rules import is_among

Tensor = Any


class Decoded(NamedTuple):
    """The hypotheses found for every item of the batch, the best first.

    Attributes:
        tokens: (B, n, L) int32, the end token included, then only padding.
        lengths: (B, n) int32, generated tokens, the end token included. 0 stands for
            a hypothesis that does not exist: fewer than `n` have a probability.
        log_probabilities: (B, n) float32, of all generated tokens, as the rules left
            them.
        scores: (B, n) float32, by which the hypotheses are ordered.
        kept: What `keep` chose of each hypothesis's last state, leaves (B, n, ...).
    """

    tokens: Tensor
    lengths: Tensor
    log_probabilities: Tensor
    scores: Tensor
    kept: Any = None


class Hypotheses(NamedTuple):
    """The books of a running search, `K` hypotheses for each item.

    One with a log-probability of minus infinity is not there.
    """

    tokens: Tensor  # (B, K, L) int32
    lengths: Tensor  # (B, K) int32
    log_probabilities: Tensor  # (B, K) float32
    finished: Tensor  # (B, K) bool: is there, and has its end token or is full

    @classmethod
    def empty(
        cls, shape: tuple, max_length: int, pad_token: int, started: int
    ) -> "Hypotheses":
        """`started` empty hypotheses of each item; the other places are free."""
        free = ops.arange(shape[1]) >= started
        return cls(
            tokens=ops.full((*shape, max_length), pad_token, dtype="int32"),
            lengths=ops.zeros(shape, dtype="int32"),
            log_probabilities=ops.where(free, -inf, ops.zeros(shape, "float32")),
            finished=ops.zeros(shape, dtype="bool"),
        )

    @property
    def running(self) -> Tensor:
        """(B, K) bool: is there and has not finished."""
        return (self.log_probabilities > -inf) & ~self.finished

    def taken(self, index: Tensor) -> "Hypotheses":
        """The hypotheses at `index` (B, n) of each item."""
        tokens = ops.take_along_axis(self.tokens, index[..., None], axis=1)
        rest = (ops.take_along_axis(field, index, axis=1) for field in self[1:])
        return Hypotheses(tokens, *rest)

    def appended(
        self,
        tokens: Tensor,
        found: Tensor,
        end_tokens: tuple[int, ...],
        waiting: Tensor | None,
    ) -> "Hypotheses":
        """With one more of `tokens` (B, K) where neither finished nor `waiting`."""
        still = self.finished if waiting is None else self.finished | waiting
        max_length = self.tokens.shape[2]
        place = ops.arange(max_length, dtype="int32")
        here = (place == self.lengths[..., None]) & ~still[..., None]  # (B, K, L)
        lengths = self.lengths + ops.cast(~still, "int32")
        ends = is_among(tokens, end_tokens) | (lengths == max_length)
        return Hypotheses(
            tokens=ops.where(here, tokens[..., None], self.tokens),
            lengths=lengths,
            log_probabilities=found,
            finished=(self.finished | (ends & ~still)) & (found > -inf),
        )
