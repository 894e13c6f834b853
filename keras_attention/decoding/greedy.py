"""Greedy search: the most probable token at every step."""

from keras import ops

from keras_attention.decoding.search import Hypotheses, Search, Tensor


class GreedySearch(Search):
    """Takes the most probable token at every step.

    The fastest search and the one to start with: one row of the model's step for each
    item and token. `BeamSearch` looks further at `num_beams` times the cost.

    Shapes: `B` batch, `L` = `max_length`.

    Args:
        max_length: Most tokens to generate, the end token included.
        start_token: What the first step reads where no prompt is given.
        end_token: Ends a row; several, each of them does.
        pad_token: Fills a row after its end.
        **options: `min_length` and `rules`, see `Search`.

    Returns:
        `search` returns a `Decoded` of one hypothesis for each item; its score is its
        log-probability.

    Raises:
        ValueError: `max_length` is not a positive integer or a token is negative.

    Examples:
    A model that counts up to 3, where token 0 is padding:

    >>> from keras import ops
    >>> from keras_attention.decoding import GreedySearch
    >>> def step(tokens, state):
    ...     return 10.0 * ops.one_hot(tokens + 1, 4), state
    >>> search = GreedySearch(max_length=5, start_token=0, end_token=3)
    >>> found = search.search(step, state=(), batch_size=2)
    >>> tuple(found.tokens.shape)
    (2, 1, 5)
    >>> ops.convert_to_numpy(found.tokens)[0, 0].tolist()
    [1, 2, 3, 0, 0]
    >>> ops.convert_to_numpy(found.lengths)[0].tolist()
    [3]
    """

    def select(
        self, log_probabilities: Tensor, hypotheses: Hypotheses, draws: None = None
    ) -> tuple[None, Tensor, Tensor]:
        before = hypotheses.log_probabilities
        after = before + ops.max(log_probabilities, axis=-1)
        tokens = ops.argmax(log_probabilities, axis=-1)
        return None, tokens, ops.where(hypotheses.finished, before, after)
