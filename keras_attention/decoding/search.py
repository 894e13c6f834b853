"""The loop that every search shares, and what goes in and out of it."""

import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple, Protocol, runtime_checkable

import keras
from keras import ops

from keras_attention.decoding.hypotheses import Decoded, Hypotheses
from keras_attention.decoding.loop import (
    as_tensors,
    reorder_rows,
    repeat_rows,
    while_loop,
)
from keras_attention.decoding.rules import MinLength, Prefix, Rule, as_tokens
from keras_attention.errors import positive_integer, require

Tensor = Any
State = Any
Step = Callable[[Tensor, State], tuple[Any, State]]


class LogScores(NamedTuple):
    """What a step may return in place of logits: numbers to be added as they are.

    For models whose tokens have scores that do not sum to 1, such as those of two
    models together (`JointCTC`). Made to, they would forget how well a hypothesis as a
    whole pleases both.

    Attributes:
        values: (B, V), none above 0.
    """

    values: Tensor


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
        """Logits (B, V) of the token that follows `tokens` (B,), and the next state.

        `LogScores` in place of logits are taken as log-probabilities.
        """


class Search(abc.ABC):
    """The loop of every search; a strategy says which tokens come next.

    The loop runs inside the graph (one `while` loop on TensorFlow and JAX, with a
    Python loop on PyTorch), reads a batch of unknown size where the backend has such,
    and ends as soon as every row has what it needs. A row is decoded as it would be
    alone; what is drawn for it follows its place in the batch. Nothing here has a
    gradient.

    Compile around it: `tf.function`, `jax.jit` (outside of it JAX compiles the loop
    anew on every call) or a SavedModel signature.

    Shapes: `B` batch, `K` hypotheses an item, `L` = `max_length`, `P` prompt length,
    `V` vocabulary.

    Args:
        max_length: Most tokens to generate, the end token included. A hypothesis cut
            off there counts as it stands.
        start_token: What the first step reads where no prompt is given.
        end_token: Ends a hypothesis; several, each of them does.
        pad_token: Fills a hypothesis after its end. It is also what the model reads
            in a finished row, so it must be a token the model has.
        min_length: Fewest tokens to generate, the end token included.
        rules: What may come next, see `keras_attention.decoding.rules`; in order.

    Raises:
        ValueError: a length is not a positive integer, `min_length` is above
            `max_length`, or a token is negative.
    """

    num_beams = 1
    num_return = 1
    num_started = 1  # hypotheses of an item that are there from the start

    def __init__(
        self,
        max_length: int,
        start_token: int,
        end_token: int | Sequence[int],
        pad_token: int = 0,
        min_length: int = 1,
        rules: Sequence[Rule] = (),
    ) -> None:
        self.max_length = positive_integer("max_length", max_length)
        require(
            positive_integer("min_length", min_length) <= max_length,
            "`min_length` must be at most `max_length`.",
            min_length=min_length,
            max_length=max_length,
        )
        self.end_tokens = as_tokens(end_token)
        self.rules: tuple[Rule, ...] = tuple(rules)
        if min_length > 1:
            self.rules = (MinLength(min_length, end_token), *self.rules)
        require(
            min(start_token, *self.end_tokens, pad_token) >= 0,
            "`start_token`, `end_token` and `pad_token` must not be negative.",
            start_token=start_token,
            end_token=end_token,
            pad_token=pad_token,
        )
        self.start_token = start_token
        self.pad_token = pad_token

    @abc.abstractmethod
    def select(
        self, log_probabilities: Tensor, hypotheses: Hypotheses, draws: Tensor | None
    ) -> tuple[Tensor | None, Tensor, Tensor]:
        """Choose the next token of every hypothesis.

        Args:
            log_probabilities: (B, K, V) float32, of the next token.
            hypotheses: What has been found so far.
            draws: What `draws` gave.

        Returns:
            `parents` (B, K): which hypothesis each of the new ones continues, or
            `None` if each continues itself; `tokens` (B, K), of no matter what where
            the parent has finished; `log_probabilities` (B, K) of the new ones.
        """

    def score(self, log_probabilities: Tensor, lengths: Tensor) -> Tensor:
        """By what hypotheses are compared: here their log-probability."""
        del lengths
        return log_probabilities

    def draws(self, batch_size: int | Tensor, seed: Any) -> Tensor | None:
        """Random numbers of a strategy that draws, all of them beforehand."""
        require(seed is None, "Only `SamplingSearch` takes a `seed`.", seed=seed)
        return None

    def prune(self, hypotheses: Hypotheses) -> Hypotheses:
        """Give up hypotheses that no longer matter: here none."""
        return hypotheses

    def search(
        self,
        step: Step,
        state: State,
        batch_size: int | Tensor | None = None,
        prompt: Tensor | None = None,
        prompt_lengths: Tensor | None = None,
        prompt_read: int | Tensor = 0,
        rules: Sequence[Rule] = (),
        seed: Any = None,
        keep: Callable[[State], Any] | None = None,
    ) -> Decoded:
        """Decode a batch.

        Args:
            step: `(tokens (B,), state) -> (logits (B, V), state)`, see `Decodable`.
            state: The state before the first token, with room for `max_length` steps,
                with a prompt for `max_length + P - 1`. A search cannot check that, and
                past the end of a cache JAX writes over its last place in silence.
            batch_size: `B`, an integer or a scalar tensor.
            prompt: (B, P) integers, instead of `batch_size`: tokens the model reads
                first, the start token included; they are no part of the result.
            prompt_lengths: (B,) integers from 1 to P: how many tokens of each row of
                `prompt` count. What follows is written from there on.
            prompt_read: How many tokens of each row of `prompt` the state has read
                already, fewer than the shortest row has.
            rules: Further rules of this call.
            seed: Of `SamplingSearch`.
            keep: Takes from the last state what is wanted of it, any tree of leaves
                with a batch axis, such as attention scores that the steps collected;
                `Decoded.kept` has them for each hypothesis. What steps wrote after its
                end, while another hypothesis ran, is of no meaning.

        Returns:
            A `Decoded`.

        Raises:
            ValueError: Both or neither of `batch_size` and `prompt` are given, a
                prompt is empty, or `step` changes the structure, shapes or dtypes of
                the state.
        """
        prompt = self._prompt(batch_size, prompt)
        _check_read(prompt_read, prompt.shape[1])
        if prompt_lengths is not None:
            _check_lengths(prompt_lengths, prompt.shape[1])
            prompt_lengths = ops.cast(prompt_lengths, "int32")
        run = _Run(
            search=self,
            step=step,
            rules=(*self.rules, *rules),
            prompt=prompt,
            lengths=prompt_lengths,
            read=prompt_read,
            draws=self.draws(ops.shape(prompt)[0], seed),
        )
        state, hypotheses = run.last(as_tensors(state))
        kept = None if keep is None else keep(state)
        return self._best(hypotheses, kept)

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

    def _normalize(self, logits: Tensor | LogScores) -> Tensor:
        """Log-probabilities (B, K, V) in float32 of logits (B * K, V)."""
        as_they_are = isinstance(logits, LogScores)
        logits = ops.cast(logits.values if as_they_are else logits, "float32")
        logits = ops.reshape(logits, (-1, self.num_beams, ops.shape(logits)[-1]))
        return logits if as_they_are else ops.log_softmax(logits, axis=-1)

    def _rows(self, parents: Tensor) -> Tensor:
        """Rows of the state (B * K,) that belong to `parents` (B, K)."""
        first = ops.arange(ops.shape(parents)[0], dtype="int32") * self.num_beams
        return ops.reshape(first[:, None] + parents, (-1,))

    def _best(self, hypotheses: Hypotheses, kept: Any) -> Decoded:
        """The `num_return` best of each item; what is not there is left empty."""
        scores = self.score(hypotheses.log_probabilities, hypotheses.lengths)
        scores, order = ops.top_k(scores, self.num_return)
        best = hypotheses.taken(order)
        exists = scores > -inf
        rows = self._rows(ops.cast(order, "int32"))

        def of_best(leaf: Tensor) -> Tensor:
            shape = (*ops.shape(order), *ops.shape(leaf)[1:])
            return ops.reshape(ops.take(leaf, rows, axis=0), shape)

        return Decoded(
            tokens=ops.where(exists[..., None], best.tokens, self.pad_token),
            lengths=ops.where(exists, best.lengths, 0),
            log_probabilities=best.log_probabilities,
            scores=scores,
            kept=None if kept is None else keras.tree.map_structure(of_best, kept),
        )


def _check_read(read: Any, width: int | None) -> None:
    """Refuse to begin outside of a prompt, where both are known."""
    if not ops.is_tensor(read):
        require(
            read >= 0 and (width is None or read < width),
            "`prompt_read` must leave at least the last token of `prompt` to read.",
            prompt_read=int(read),
            width=width,
        )


def _check_lengths(lengths: Any, width: int | None) -> None:
    """Refuse lengths that do not fit a prompt, where both are known."""
    if ops.is_tensor(lengths) or width is None:
        return  # a tensor may have no numbers yet
    require(
        all(1 <= length <= width for length in lengths),
        "`prompt_lengths` must be from 1 to the width of `prompt`.",
        prompt_lengths=[int(length) for length in lengths],
        width=width,
    )


@dataclass(frozen=True)
class _Run:
    """One search: what stays the same while it runs, and its loop.

    Attributes:
        search: The strategy.
        step: Of the model.
        rules: All of this call.
        prompt: (B, P) int32.
        lengths: (B,) int32, or `None` where every row has the whole prompt.
        read: How many tokens of each prompt the state has read.
        draws: Random numbers of the strategy, or `None`.
    """

    search: Search
    step: Step
    rules: tuple[Rule, ...]
    prompt: Tensor
    lengths: Tensor | None
    read: int | Tensor
    draws: Tensor | None

    def last(self, state: State) -> tuple[State, Hypotheses]:
        """The last state (B * K, ...) and all hypotheses."""
        search, batch_size = self.search, ops.shape(self.prompt)[0]
        width = ops.shape(self.prompt)[1]
        position = width if self.lengths is None else ops.min(self.lengths)
        state = self._read(state, position)
        last = ops.take(self.prompt, position - 1, axis=1)
        hypotheses = Hypotheses.empty(
            (batch_size, search.num_beams),
            search.max_length,
            search.pad_token,
            search.num_started,
        )
        carry = (
            ops.cast(position, "int32"),
            ops.repeat(last, search.num_beams, axis=0),  # (B * K,)
            repeat_rows(state, search.num_beams),
            hypotheses,
        )
        *_, state, hypotheses = while_loop(
            lambda *carry: ops.any(carry[-1].running), self._advance, carry
        )
        return state, hypotheses

    def _read(self, state: State, position: int | Tensor) -> State:
        """The state before the last of the prompt's first `position` tokens."""
        if self.prompt.shape[1] == 1:
            return state

        def advance(index: Tensor, state: State) -> tuple:
            _, state = self.step(ops.take(self.prompt, index, axis=1), state)
            return index + 1, state

        carry = (ops.cast(self.read, "int32"), state)
        return while_loop(lambda index, _: index < position - 1, advance, carry)[1]

    def _advance(
        self, position: Tensor, last: Tensor, state: State, hypotheses: Hypotheses
    ) -> tuple:
        """Read `last` (B * K,), choose the tokens at `position`."""
        search = self.search
        logits, after = self.step(last, state)
        chances = self._ruled(search._normalize(logits), hypotheses)
        parents, tokens, found = search.select(chances, hypotheses, self.draws)
        waiting = None if self.lengths is None else (position < self.lengths)[:, None]
        if waiting is not None:  # has a prompt to read first
            found = ops.where(waiting, hypotheses.log_probabilities, found)
            if parents is not None:
                parents = ops.where(waiting, ops.arange(search.num_beams), parents)
        if parents is not None:
            hypotheses = hypotheses.taken(parents)
            after = reorder_rows(after, state, search._rows(parents))
        tokens = ops.cast(tokens, "int32")
        tokens = ops.where(hypotheses.finished, search.pad_token, tokens)
        hypotheses = hypotheses.appended(tokens, found, search.end_tokens, waiting)
        if waiting is not None:
            place = ops.minimum(position, ops.shape(self.prompt)[1] - 1)
            given = ops.take(self.prompt, place, axis=1)[:, None]
            tokens = ops.where(waiting, given, tokens)
        tokens = ops.reshape(tokens, (-1,))
        return position + 1, tokens, after, search.prune(hypotheses)

    def _ruled(self, log_probabilities: Tensor, hypotheses: Hypotheses) -> Tensor:
        """What the rules leave of the log-probabilities (B, K, V)."""
        if not self.rules:
            return log_probabilities
        lengths = self.lengths
        if lengths is None:
            rows, width = ops.shape(self.prompt)
            lengths = ops.full((rows,), width, dtype="int32")
        prefix = Prefix(hypotheses.tokens, hypotheses.lengths, self.prompt, lengths)
        for rule in self.rules:
            # None above 0: the bound by which beams are given up relies on that.
            log_probabilities = ops.minimum(rule(log_probabilities, prefix), 0.0)
        return log_probabilities
