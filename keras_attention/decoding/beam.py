"""Beam search: the best few hypotheses at every step."""

from collections.abc import Sequence
from math import inf
from typing import Any

from keras import ops

from keras_attention.decoding.penalty import KINDS, length_penalty
from keras_attention.decoding.search import Hypotheses, Search, Tensor
from keras_attention.errors import one_of, positive_integer, require


class BeamSearch(Search):
    """Keeps the `num_beams` most probable hypotheses at every step.

    Finds better outputs than `GreedySearch` at `num_beams` times its cost; 4 to 8
    beams are usual in translation.

    A hypothesis that ends is frozen: it keeps its place and its own length, and the
    beams that still run share the places left. So one beam is greedy search whatever
    the penalty, and with as many beams as there are sequences (`V ** (L - 1)` are
    enough for the best one) the search is exhaustive.

    A running beam is given up once it cannot come among the `num_return` best: its
    log-probability `p` can only fall and the penalty only grow, so none of its
    continuations scores above `p / penalty(max_length)`. The search of an item ends
    when no beam runs any more.

    Shapes: `B` batch, `n` = `num_return`, `L` = `max_length`, `V` vocabulary.

    Args:
        max_length: Most tokens to generate, the end token included.
        start_token: What the first step reads where no prompt is given.
        end_token: Ends a hypothesis; several, each of them does.
        pad_token: Fills a hypothesis after its end.
        num_beams: Hypotheses kept for each item.
        length_penalty: `alpha` of `keras_attention.decoding.length_penalty`, at
            least 0. The default 0 compares log-probabilities; 1 compares their means
            per token, and larger values favour longer hypotheses.
        length_penalty_kind: `"length"` or `"gnmt"`.
        num_return: Hypotheses returned for each item, at most `num_beams`.
        **options: `min_length` and `rules`, see `Search`.

    Returns:
        `search` returns a `Decoded` of `num_return` hypotheses for each item, the one
        with the highest score `log-probability / penalty(own length)` first.

    Raises:
        ValueError: An argument is out of its range.

    Examples:
    The most probable first token (1, of 0.6) does not start the most probable
    sequence (2, then the end token 3, of 0.4):

    >>> from keras import ops
    >>> from keras_attention.decoding import BeamSearch
    >>> chain = ops.log(
    ...     ops.array(
    ...         [
    ...             [1e-9, 0.6, 0.4, 1e-9],
    ...             [1e-9, 0.5, 1e-9, 0.5],
    ...             [1e-9, 1e-9, 1e-9, 1.0],
    ...             [1.0, 1e-9, 1e-9, 1e-9],
    ...         ]
    ...     )
    ... )
    >>> def step(tokens, state):
    ...     return ops.take(chain, tokens, axis=0), state
    >>> tokens = dict(max_length=4, start_token=0, end_token=3)
    >>> found = BeamSearch(num_beams=3, num_return=2, **tokens).search(
    ...     step, state=(), batch_size=1
    ... )
    >>> ops.convert_to_numpy(found.tokens).tolist()
    [[[2, 3, 0, 0], [1, 3, 0, 0]]]
    >>> [round(float(score), 3) for score in found.scores[0]]
    [-0.916, -1.204]
    """

    def __init__(
        self,
        max_length: int,
        start_token: int,
        end_token: int | Sequence[int],
        pad_token: int = 0,
        num_beams: int = 4,
        length_penalty: float = 0.0,
        length_penalty_kind: str = "length",
        num_return: int = 1,
        **options: Any,
    ) -> None:
        super().__init__(max_length, start_token, end_token, pad_token, **options)
        self.num_beams = positive_integer("num_beams", num_beams)
        self.num_return = positive_integer("num_return", num_return)
        require(
            num_return <= num_beams,
            "`num_return` must be at most `num_beams`.",
            num_return=num_return,
            num_beams=num_beams,
        )
        require(
            length_penalty >= 0,
            "`length_penalty` must be at least 0; larger favours longer hypotheses.",
            length_penalty=length_penalty,
        )
        self.length_penalty = length_penalty
        self.length_penalty_kind = one_of(
            "length_penalty_kind", length_penalty_kind, KINDS
        )

    def select(
        self, log_probabilities: Tensor, hypotheses: Hypotheses, draws: None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        size = ops.shape(log_probabilities)[-1]
        before = hypotheses.log_probabilities
        totals = before[..., None] + log_probabilities  # (B, K, V)
        # A frozen hypothesis has one candidate, itself, ahead of all that run.
        itself = ops.where(ops.arange(size) == 0, inf, -inf)
        ranks = ops.where(hypotheses.finished[..., None], itself, totals)
        ranks = ops.reshape(ranks, (-1, self.num_beams * size))
        best, index = ops.top_k(ranks, self.num_beams)  # (B, K)
        index = ops.cast(index, "int32")
        parents, tokens = index // size, index % size
        frozen = best == inf
        own = ops.take_along_axis(before, parents, axis=1)
        return parents, tokens, ops.where(frozen, own, best)

    def score(self, log_probabilities: Tensor, lengths: Tensor | int) -> Tensor:
        penalty = length_penalty(lengths, self.length_penalty, self.length_penalty_kind)
        return log_probabilities / penalty

    def prune(self, hypotheses: Hypotheses) -> Hypotheses:
        total, finished = hypotheses.log_probabilities, hypotheses.finished
        scores = self.score(total, hypotheses.lengths)
        scores = ops.where(finished, scores, -inf)
        to_beat = ops.top_k(scores, self.num_return)[0][:, -1:]  # (B, 1)
        hopeless = self.score(total, self.max_length) <= to_beat
        hopeless = ops.logical_and(hopeless, ops.logical_not(finished))
        return hypotheses._replace(log_probabilities=ops.where(hopeless, -inf, total))
