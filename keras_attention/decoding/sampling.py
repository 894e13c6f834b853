"""Sampling: the next token is drawn by its probability."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from keras_attention.decoding.search import Hypotheses, Search, Tensor
from keras_attention.errors import positive_integer, require
from keras_attention.ops import _backend


class SamplingSearch(Search):
    """Draws every token from the model's distribution, or from the likely part of it.

    For text that should vary. `temperature` sharpens or flattens the distribution,
    `top_k`, `top_p` and `min_p` cut its tail off; what is left is drawn from in
    proportion. They combine, in this order.

    A call draws one uniform number for each hypothesis and step and looks up where it
    falls. The draws of a row depend on the seed and on the row's place, not on the
    other rows or their number; those of XLA in TensorFlow are others than without it.

    Shapes: `B` batch, `n` = `num_return`, `L` = `max_length`, `V` vocabulary.

    Args:
        max_length: Most tokens to generate, the end token included.
        start_token: What the first step reads where no prompt is given.
        end_token: Ends a row; several, each of them does.
        pad_token: Fills a row after its end.
        temperature: Divides the logits, above 0; below 1 sharpens.
        top_k: Tokens left, the most probable ones; a number beyond the vocabulary
            leaves all.
        top_p: Leaves the fewest most probable tokens whose probabilities together reach
            this, in (0, 1]. Holtzman et al. 2020, arXiv:1904.09751, section 3.1.
        min_p: Leaves tokens with at least this share of the highest probability, in
            [0, 1]. Nguyen et al. 2024, arXiv:2407.01082, section 3.
        num_return: Independent samples of each item.
        seed: Integer for the calls that give none; by default another one every time.
        **options: `min_length` and `rules`, see `Search`.

    Returns:
        `search` returns a `Decoded` of `num_return` hypotheses for each item, the most
        probable first. Scores are log-probabilities at temperature 1, nothing cut off,
        as the rules leave them. It takes a `seed`, an integer or a scalar integer
        tensor; without one every call draws anew. `jax.jit` needs one, and so should a
        signature of a SavedModel, which else draws the same in every new process.

    Raises:
        ValueError: An argument is out of its range; `top_p` or `top_k` where the size
            of the vocabulary is unknown.

    Examples:
    >>> from keras import ops
    >>> from keras_attention.decoding import SamplingSearch
    >>> def step(tokens, state):
    ...     return ops.one_hot(tokens + 1, 4), state
    >>> search = SamplingSearch(5, start_token=0, end_token=3, top_k=1)
    >>> found = search.search(step, state=(), batch_size=1, seed=7)
    >>> ops.convert_to_numpy(found.tokens).tolist()
    [[[1, 2, 3, 0, 0]]]
    """

    def __init__(
        self,
        max_length: int,
        start_token: int,
        end_token: int | Sequence[int],
        pad_token: int = 0,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float = 1.0,
        min_p: float = 0.0,
        num_return: int = 1,
        seed: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(max_length, start_token, end_token, pad_token, **options)
        require(
            temperature > 0,
            "`temperature` must be positive; `GreedySearch` is its limit at 0.",
            temperature=temperature,
        )
        require(0 < top_p <= 1, "`top_p` must be in (0, 1].", top_p=top_p)
        require(0 <= min_p <= 1, "`min_p` must be in [0, 1].", min_p=min_p)
        self.temperature = temperature
        self.top_k = None if top_k is None else positive_integer("top_k", top_k)
        self.top_p = top_p
        self.min_p = min_p
        self.num_return = positive_integer("num_return", num_return)
        self.num_beams = self.num_started = self.num_return
        self.seed_generator = keras.random.SeedGenerator(seed)

    def draws(self, batch_size: int | Tensor, seed: Any) -> Tensor:
        if seed is None:
            require(
                not _backend.loses_state(),
                "Inside `jax.jit` a search that samples needs a `seed`: what its "
                "generator remembers is lost there.",
            )
            seed = self.seed_generator.next()
        else:
            seed = ops.cast(ops.convert_to_tensor(seed), "int32")
            seed = ops.stack([seed, ops.zeros_like(seed)])
        shape = (batch_size, self.num_beams, self.max_length)
        return _backend.uniform(seed, 0, shape)

    def select(
        self, log_probabilities: Tensor, hypotheses: Hypotheses, draws: Tensor
    ) -> tuple[None, Tensor, Tensor]:
        place = ops.minimum(hypotheses.lengths, self.max_length - 1)
        draw = ops.take_along_axis(draws, place[..., None], axis=-1)  # (B, K, 1)
        tokens = self._drawn(log_probabilities, draw)
        own = ops.take_along_axis(log_probabilities, tokens[..., None], axis=-1)[..., 0]
        before = hypotheses.log_probabilities
        return None, tokens, ops.where(hypotheses.finished, before, before + own)

    def _drawn(self, log_probabilities: Tensor, draw: Tensor) -> Tensor:
        """Tokens (B, K) at the place of `draw` in [0, 1) among what is left."""
        logits = log_probabilities / self.temperature
        if self.top_k is None and self.top_p == 1:
            return _place(self._likely(_chances(logits)), draw)
        size = log_probabilities.shape[-1]
        require(
            size is not None,
            "`top_k` and `top_p` need logits whose last axis has a known size.",
            shape=tuple(log_probabilities.shape),
        )
        count = size if self.top_k is None else min(self.top_k, size)
        logits, tokens = ops.top_k(logits, count)  # the most probable first
        chances = _chances(logits)
        before = ops.cumsum(chances, axis=-1) - chances
        chances = ops.where(before < self.top_p, chances, 0.0)
        place = _place(self._likely(chances), draw)
        return ops.take_along_axis(tokens, place[..., None], axis=-1)[..., 0]

    def _likely(self, chances: Tensor) -> Tensor:
        if not self.min_p:
            return chances
        least = self.min_p * ops.max(chances, axis=-1, keepdims=True)
        return ops.where(chances >= least, chances, 0.0)


def _chances(logits: Tensor) -> Tensor:
    """The softmax, of which Keras warns where a single token is left."""
    return ops.exp(ops.log_softmax(logits, axis=-1))


def _place(chances: Tensor, draw: Tensor) -> Tensor:
    """Where `draw` times the sum of `chances` (B, K, n) falls among their running sums.

    Never at a chance of 0: sums taken in parallel are rounded each in its own way, so
    they may fall, or rise where nothing is added. If none is above the draw the most
    probable place is taken.
    """
    sums = ops.cumsum(chances, axis=-1)
    above = (sums > draw * sums[..., -1:]) & (chances > 0)
    return ops.argmax(ops.where(above, 2.0, chances), axis=-1)  # the first above
