"""The loop that every search shares, and what goes in and out of it."""

import abc
from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple, Protocol, runtime_checkable

from keras import ops

from keras_attention.decoding.loop import (
    as_tensors,
    reorder_rows,
    repeat_rows,
    while_loop,
)
from keras_attention.errors import positive_integer, require

Tensor = Any
State = Any
Step = Callable[[Tensor, State], tuple[Tensor, State]]


@runtime_checkable
class Decodable(Protocol):
    """A model that predicts the next token from the last one and a state.

    The state is any tree (dict, list, tuple) of tensors. A leaf of rank 1 or more has
    the batch as its first axis and keeps its shape from step to step, so a cache has
    its full length from the start. A scalar leaf, such as the position, is shared by
    all rows; `None` stands for a leaf that is not there. A leaf that never changes,
    such as the encoder's output, is returned as the very object received: beam search
    then leaves it where it is. `step` changes nothing in place.
    """

    def initial_state(self, *args: Any, **kwargs: Any) -> State:
        """The state before the first token."""

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """Logits (B, V) of the token that follows `tokens` (B,), and the next state."""


class Decoded(NamedTuple):
    """The hypotheses found for every item of the batch, the best first.

    Attributes:
        tokens: (B, n, L) int32, the end token included, then only padding.
        lengths: (B, n) int32, generated tokens, the end token included. 0 stands for
            a hypothesis that does not exist: fewer than `n` have a probability.
        log_probabilities: (B, n) float32, of all generated tokens.
        scores: (B, n) float32, by which the hypotheses are ordered.
    """

    tokens: Tensor
    lengths: Tensor
    log_probabilities: Tensor
    scores: Tensor


class Hypotheses(NamedTuple):
    """The books of a running search, `K` hypotheses for each item.

    One with a log-probability of minus infinity is not there.
    """

    tokens: Tensor  # (B, K, L) int32
    lengths: Tensor  # (B, K) int32
    log_probabilities: Tensor  # (B, K) float32
    finished: Tensor  # (B, K) bool: is there and has its end token


class Search(abc.ABC):
    """The loop of every search; a strategy says which tokens come next.

    The loop runs inside the graph (one `while` loop on TensorFlow and JAX, with a
    Python loop on PyTorch), reads a batch of unknown size where the backend has such,
    and ends as soon as every row has what it needs. A row is decoded as it would be
    alone. Nothing here has a gradient.

    Compile around it: `tf.function`, `jax.jit` (outside of it JAX compiles the loop
    anew on every call) or a SavedModel signature.

    Shapes: `B` batch, `K` hypotheses an item, `L` = `max_length`, `P` prompt length,
    `V` vocabulary.

    Args:
        max_length: Most tokens to generate, the end token included. A hypothesis cut
            off there counts as it stands.
        start_token: What the first step reads where no prompt is given.
        end_token: Ends a hypothesis.
        pad_token: Fills a hypothesis after its end. It is also what the model reads
            in a finished row, so it must be a token the model has.

    Raises:
        ValueError: `max_length` is not a positive integer or a token is negative.
    """

    num_beams = 1
    num_return = 1

    def __init__(
        self, max_length: int, start_token: int, end_token: int, pad_token: int = 0
    ) -> None:
        self.max_length = positive_integer("max_length", max_length)
        require(
            min(start_token, end_token, pad_token) >= 0,
            "`start_token`, `end_token` and `pad_token` must not be negative.",
            start_token=start_token,
            end_token=end_token,
            pad_token=pad_token,
        )
        self.start_token = start_token
        self.end_token = end_token
        self.pad_token = pad_token

    @abc.abstractmethod
    def select(
        self, log_probabilities: Tensor, hypotheses: Hypotheses
    ) -> tuple[Tensor | None, Tensor, Tensor]:
        """Choose the next token of every hypothesis.

        Args:
            log_probabilities: (B, K, V) float32, of the next token.
            hypotheses: What has been found so far.

        Returns:
            `parents` (B, K): which hypothesis each of the new ones continues, or
            `None` if each continues itself; `tokens` (B, K), of no matter what where
            the parent has finished; `log_probabilities` (B, K) of the new ones.
        """

    def score(self, log_probabilities: Tensor, lengths: Tensor) -> Tensor:
        """By what hypotheses are compared: here their log-probability."""
        del lengths
        return log_probabilities

    def prune(self, hypotheses: Hypotheses) -> Hypotheses:
        """Give up hypotheses that no longer matter: here none."""
        return hypotheses

    def search(
        self,
        step: Step,
        state: State,
        batch_size: int | Tensor | None = None,
        prompt: Tensor | None = None,
    ) -> Decoded:
        """Decode a batch.

        Args:
            step: `(tokens (B,), state) -> (logits (B, V), state)`, see `Decodable`.
            state: The state before the first token.
            batch_size: `B`, an integer or a scalar tensor.
            prompt: (B, P) integers, instead of `batch_size`: tokens the model reads
                first, the start token included; they are no part of the result.

        Returns:
            A `Decoded`.

        Raises:
            ValueError: Both or neither of `batch_size` and `prompt` are given, a
                prompt is empty, or `step` changes the structure, shapes or dtypes of
                the state.
        """
        prompt = self._prompt(batch_size, prompt)
        state = _read(step, as_tensors(state), prompt)

        def proceed(
            position: Tensor, tokens: Tensor, state: State, hypotheses: Hypotheses
        ) -> Tensor:
            del tokens, state
            return ops.logical_and(
                position < self.max_length, ops.any(_running(hypotheses))
            )

        def advance(
            position: Tensor, tokens: Tensor, state: State, hypotheses: Hypotheses
        ) -> tuple:
            logits, after = step(tokens, state)
            parents, tokens, found = self.select(self._normalize(logits), hypotheses)
            if parents is not None:
                hypotheses = _take(hypotheses, parents)
                after = reorder_rows(after, state, self._rows(parents))
            hypotheses = self._append(hypotheses, tokens, found, position)
            last = ops.take(hypotheses.tokens, position, axis=2)  # (B, K)
            return position + 1, ops.reshape(last, (-1,)), after, self.prune(hypotheses)

        position = ops.zeros((), dtype="int32")
        last = ops.repeat(prompt[:, -1], self.num_beams, axis=0)  # (B * K,)
        state = repeat_rows(state, self.num_beams)
        hypotheses = self._empty(ops.shape(prompt)[0])
        carry = (position, last, state, hypotheses)
        return self._best(while_loop(proceed, advance, carry)[-1])

    def _prompt(self, batch_size: int | Tensor | None, prompt: Tensor | None) -> Tensor:
        """The prompt (B, P), or the start token alone."""
        require(
            (batch_size is None) != (prompt is None),
            "Exactly one of `batch_size` and `prompt` must be given.",
        )
        if prompt is None:
            prompt = ops.full((batch_size, 1), self.start_token, dtype="int32")
        prompt = ops.cast(prompt, "int32")
        require(
            len(prompt.shape) == 2 and prompt.shape[1] != 0,
            "`prompt` must have the shape (batch, tokens) and at least one token.",
            shape=tuple(prompt.shape),
        )
        return prompt

    def _normalize(self, logits: Tensor) -> Tensor:
        """Log-probabilities (B, K, V) in float32 of logits (B * K, V)."""
        logits = ops.cast(logits, "float32")
        logits = ops.reshape(logits, (-1, self.num_beams, ops.shape(logits)[-1]))
        return ops.log_softmax(logits, axis=-1)

    def _rows(self, parents: Tensor) -> Tensor:
        """Rows of the state (B * K,) that belong to `parents` (B, K)."""
        first = ops.arange(ops.shape(parents)[0], dtype="int32") * self.num_beams
        return ops.reshape(first[:, None] + parents, (-1,))

    def _empty(self, batch_size: int | Tensor) -> Hypotheses:
        """One empty hypothesis for each item; the other places are free."""
        shape = (batch_size, self.num_beams)
        free = ops.arange(self.num_beams) > 0
        return Hypotheses(
            tokens=ops.full((*shape, self.max_length), self.pad_token, dtype="int32"),
            lengths=ops.zeros(shape, dtype="int32"),
            log_probabilities=ops.where(free, -inf, ops.zeros(shape, "float32")),
            finished=ops.zeros(shape, dtype="bool"),
        )

    def _append(
        self, hypotheses: Hypotheses, tokens: Tensor, found: Tensor, position: Tensor
    ) -> Hypotheses:
        """Write `tokens` (B, K) at `position`; a finished hypothesis stays as it is."""
        finished = hypotheses.finished
        tokens = ops.where(finished, self.pad_token, ops.cast(tokens, "int32"))
        here = ops.arange(self.max_length, dtype="int32") == position  # (L,)
        ended = ops.logical_or(finished, tokens == self.end_token)
        return Hypotheses(
            tokens=ops.where(here, tokens[..., None], hypotheses.tokens),
            lengths=hypotheses.lengths + ops.cast(ops.logical_not(finished), "int32"),
            log_probabilities=found,
            finished=ops.logical_and(ended, found > -inf),
        )

    def _best(self, hypotheses: Hypotheses) -> Decoded:
        """The `num_return` best of each item; what is not there is left empty."""
        scores = self.score(hypotheses.log_probabilities, hypotheses.lengths)
        scores, order = ops.top_k(scores, self.num_return)
        best = _take(hypotheses, order)
        exists = scores > -inf
        return Decoded(
            tokens=ops.where(exists[..., None], best.tokens, self.pad_token),
            lengths=ops.where(exists, best.lengths, 0),
            log_probabilities=best.log_probabilities,
            scores=scores,
        )


def _read(step: Step, state: State, prompt: Tensor) -> State:
    """The state after all tokens of the prompt but the last."""
    if prompt.shape[1] == 1:
        return state
    length = ops.shape(prompt)[1]

    def advance(position: Tensor, state: State) -> tuple:
        _, state = step(ops.take(prompt, position, axis=1), state)
        return position + 1, state

    carry = (ops.zeros((), dtype="int32"), state)
    return while_loop(lambda position, _: position < length - 1, advance, carry)[1]


def _running(hypotheses: Hypotheses) -> Tensor:
    """(B, K) bool: exists and has no end token yet."""
    exists = hypotheses.log_probabilities > -inf
    return ops.logical_and(exists, ops.logical_not(hypotheses.finished))


def _take(hypotheses: Hypotheses, index: Tensor) -> Hypotheses:
    """The hypotheses at `index` (B, n) of each item."""
    tokens = ops.take_along_axis(hypotheses.tokens, index[..., None], axis=1)
    rest = (ops.take_along_axis(field, index, axis=1) for field in hypotheses[1:])
    return Hypotheses(tokens, *rest)
