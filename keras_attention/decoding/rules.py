"""Rules: what a search may write next, whatever the model says.

A rule is any function `rule(log_probabilities, prefix)` that returns the
log-probabilities `(B, K, V)` of the next token changed, none above 0; minus infinity
forbids a token. Searches take any number of them and apply them in order. A hypothesis
with no token left is given up.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from math import inf
from typing import Any, NamedTuple

from keras import ops

from keras_attention.errors import positive_integer, require

Tensor = Any


class Prefix(NamedTuple):
    """What a rule knows: `K` hypotheses for each of `B` items.

    Attributes:
        tokens: `(B, K, L)` int32, generated so far.
        lengths: `(B, K)` int32, how many of them count; the rest is padding.
        prompt: `(B, P)` int32, what the model read before.
        prompt_lengths: `(B,)` int32, how many of those count.
    """

    tokens: Tensor
    lengths: Tensor
    prompt: Tensor
    prompt_lengths: Tensor

    def text(self, with_prompt: bool) -> tuple[Tensor, Tensor]:
        """Tokens `(B, K, n)` and which of them count, the prompt first if asked."""
        counts = _first(self.tokens, self.lengths)
        if not with_prompt:
            return self.tokens, counts
        beams = ops.shape(self.tokens)[1]
        prompt = ops.repeat(self.prompt[:, None], beams, axis=1)
        lengths = ops.repeat(self.prompt_lengths[:, None], beams, axis=1)
        return (
            ops.concatenate([prompt, self.tokens], axis=2),
            ops.concatenate([_first(prompt, lengths), counts], axis=2),
        )


Rule = Callable[[Tensor, Prefix], Tensor]


def as_tokens(token: int | Sequence[int]) -> tuple[int, ...]:
    """One token or several, of which there must be one at least, as a tuple."""
    tokens = tuple(token) if isinstance(token, Iterable) else (token,)
    require(bool(tokens), "At least one token must be given.", token=token)
    return tokens


def is_among(tokens: Tensor, wanted: tuple[int, ...]) -> Tensor:
    """Whether each of `tokens` is one of those `wanted`."""
    return reduce(ops.logical_or, (tokens == one for one in wanted))


class MinLength:
    """Forbids `token` before a hypothesis has `min_length` tokens, `token` included.

    Args:
        min_length: Fewest tokens of a hypothesis, counted as `max_length` is.
        token: The end token, or several.

    Raises:
        ValueError: `min_length` is not a positive integer.
    """

    def __init__(self, min_length: int, token: int | Sequence[int]) -> None:
        self.min_length = positive_integer("min_length", min_length)
        self.tokens = as_tokens(token)

    def __call__(self, log_probabilities: Tensor, prefix: Prefix) -> Tensor:
        places = ops.arange(ops.shape(log_probabilities)[-1])
        is_end = is_among(places, self.tokens)
        early = prefix.lengths + 1 < self.min_length
        return _without(log_probabilities, early[..., None] & is_end)


class RepetitionPenalty:
    """Multiplies the log-probability of tokens already written by `penalty`.

    `penalty` above 1 makes them less likely; 1.2 is usual. It acts on
    log-probabilities, which are never above 0, and not on logits, whose sign depends on
    a constant that the softmax ignores.

    Args:
        penalty: Above 0; 1 changes nothing.
        with_prompt: Whether tokens of the prompt count as written.

    Raises:
        ValueError: `penalty` is not positive.

    Source: Keskar et al. 2019, arXiv:1909.05858, section 4.1, on logits.
    """

    def __init__(self, penalty: float, with_prompt: bool = False) -> None:
        require(penalty > 0, "`penalty` must be positive.", penalty=penalty)
        self.penalty = penalty
        self.with_prompt = with_prompt

    def __call__(self, log_probabilities: Tensor, prefix: Prefix) -> Tensor:
        tokens, counts = prefix.text(self.with_prompt)
        seen = _marked(tokens, counts, ops.shape(log_probabilities)[-1])
        return ops.where(seen, log_probabilities * self.penalty, log_probabilities)


class NoRepeatNGrams:
    """Forbids every token that would write `size` tokens in a row a second time.

    Args:
        size: Length of the n-grams; 1 forbids every token already written, 3 is usual
            in summarization.
        with_prompt: Whether n-grams of the prompt count as written.

    Raises:
        ValueError: `size` is not a positive integer.

    Source: Paulus et al. 2017, arXiv:1705.04304, section 2.5.
    """

    def __init__(self, size: int, with_prompt: bool = False) -> None:
        self.size = positive_integer("size", size)
        self.with_prompt = with_prompt

    def __call__(self, log_probabilities: Tensor, prefix: Prefix) -> Tensor:
        tokens, counts = prefix.text(self.with_prompt)
        if self.with_prompt:
            tokens, counts = _together(tokens, counts)
        before = self.size - 1
        total = ops.sum(ops.cast(counts, "int32"), axis=-1, keepdims=True)
        matches = counts[..., before:]
        for place in range(before):
            # What stands `before - place` tokens back from the next token.
            last = ops.maximum(total - before + place, 0)
            same = tokens == ops.take_along_axis(tokens, last, axis=-1)
            matches = matches & same[..., place : place - before]
        matches = matches & (total >= before)
        repeats = _marked(
            tokens[..., before:], matches, ops.shape(log_probabilities)[-1]
        )
        return _without(log_probabilities, repeats)


class ForcedPrefix:
    """Writes given tokens first, such as the tag of a target language.

    Unlike a prompt they are part of the result, with their log-probability.

    Args:
        tokens: `(P,)`, or `(B, P)` with a row for each item, integers. A negative one
            leaves the place free. One that the model does not have leaves nothing.

    Raises:
        ValueError: `tokens` has another rank, or none.
    """

    def __init__(self, tokens: Any) -> None:
        self.tokens = ops.cast(ops.convert_to_tensor(tokens), "int32")
        require(
            len(self.tokens.shape) in (1, 2) and self.tokens.shape[-1] != 0,
            "`tokens` must have the shape (tokens,) or (batch, tokens).",
            shape=tuple(self.tokens.shape),
        )

    def __call__(self, log_probabilities: Tensor, prefix: Prefix) -> Tensor:
        forced = self.tokens if len(self.tokens.shape) == 2 else self.tokens[None]
        longest = self.tokens.shape[-1]
        place = ops.minimum(prefix.lengths, longest - 1)
        forced = forced + ops.zeros_like(place[:, :1])  # (B, P)
        token = ops.take_along_axis(forced, place, axis=1)  # (B, K)
        free = (prefix.lengths >= longest) | (token < 0)
        size = ops.shape(log_probabilities)[-1]
        other = ops.arange(size, dtype="int32") != token[..., None]
        return _without(log_probabilities, other & ~free[..., None])


class AllowedTokens:
    """Leaves the tokens that a function of the prefix allows.

    Args:
        function: Called with a `Prefix`; a bool tensor broadcastable to `(B, K, V)`,
            True = may come next. It runs inside the graph.

    Examples:
    Even tokens only:

    >>> import numpy as np
    >>> from keras_attention.decoding import AllowedTokens
    >>> rule = AllowedTokens(lambda prefix: np.arange(11) % 2 == 0)
    """

    def __init__(self, function: Callable[[Prefix], Tensor]) -> None:
        self.function = function

    def __call__(self, log_probabilities: Tensor, prefix: Prefix) -> Tensor:
        allowed = ops.cast(ops.convert_to_tensor(self.function(prefix)), "bool")
        return _without(log_probabilities, ~allowed)


def _without(log_probabilities: Tensor, forbidden: Tensor) -> Tensor:
    return ops.where(forbidden, -inf, log_probabilities)


def _first(tokens: Tensor, lengths: Tensor) -> Tensor:
    """Which of `tokens` `(..., n)` are among the first `lengths` `(...)`."""
    return ops.arange(ops.shape(tokens)[-1], dtype="int32") < lengths[..., None]


def _marked(tokens: Tensor, counts: Tensor, size: Any) -> Tensor:
    """Which tokens of a vocabulary are among those that count: `(B, K, size)` bool."""
    shape = ops.shape(tokens)
    rows = shape[0] * shape[1]
    row = ops.repeat(ops.arange(rows, dtype="int32"), shape[2])
    # What does not count is written into one place too many.
    token = ops.reshape(ops.where(counts, tokens, size), (-1,))
    places = ops.stack([row, ops.cast(token, "int32")], axis=1)
    marks = ops.scatter_update(
        ops.zeros((rows, size + 1), "int32"), places, ops.ones_like(row)
    )
    return ops.reshape(marks[:, :-1] > 0, (shape[0], shape[1], size))


def _together(tokens: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
    """The tokens that count first, in their order: no gap after a short prompt."""
    order = ops.argsort(ops.cast(~counts, "int32"), axis=-1)
    return (
        ops.take_along_axis(tokens, order, axis=-1),
        ops.take_along_axis(counts, order, axis=-1),
    )
