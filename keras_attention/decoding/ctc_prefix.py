"""How probable the next token of a text is, by its CTC logits alone."""

from math import inf
from typing import Any

from keras import ops

from keras_attention.decoding._log_recurrence import log_recurrence
from keras_attention.decoding.ctc import log_frames
from keras_attention.decoding.search import LogScores

Tensor = Any


class CTCPrefixScores:
    """CTC logits as a model that predicts one token at a time.

    With `psi(g)` the probability of all texts that begin with `g`, the next token `c`
    has `psi(g c) / psi(g)`, and the end `p(g) / psi(g)`: a distribution that sums to 1.
    So every search here finds the most probable text of CTC logits, and `JointCTC` that
    of CTC and attention together. Start and end token are taken from the classes of a
    frame: no frame says them, and what a model gives them goes to the others.

    The state holds the forward variables of the prefix over all frames; a step takes
    time `O(B S (V + log S))`, of which no more than `log2(S)` follow each other.

    Shapes:
        B batch, S frames, V classes.

    Args:
        start_token: What the first step reads; it is no part of the text.
        end_token: What the search ends with.
        blank: Class of the blank.

    Examples:
        The best text of two frames, see `ctc_beam_search`:

        >>> from keras import ops
        >>> from keras_attention.decoding import BeamSearch, CTCPrefixScores
        >>> frames = ops.log(ops.array([[[0.6, 1e-9, 1e-9, 0.4]] * 2]))
        >>> ctc = CTCPrefixScores(start_token=1, end_token=2)
        >>> search = BeamSearch(max_length=3, start_token=1, end_token=2)
        >>> found = search.search(ctc.step, ctc.initial_state(frames), batch_size=1)
        >>> ops.convert_to_numpy(found.tokens).tolist()
        [[[3, 2, 0]]]
        >>> round(float(ops.exp(found.scores[0, 0])), 2)
        0.64

    Source:
        Watanabe et al. 2017, "Hybrid CTC/attention architecture for end-to-end speech
        recognition", section II-D and algorithm 2; the recurrence over frames is
        computed by doubling.
    """

    def __init__(
        self, start_token: int = 1, end_token: int = 2, blank: int = 0
    ) -> None:
        self.start_token, self.end_token = start_token, end_token
        self.blank = blank

    def initial_state(self, logits: Tensor, mask: Tensor | None = None) -> dict:
        """The state before the start token.

        Args:
            logits: `(B, S, V)`.
            mask: `(B, S)`, True = a real frame; by default all are.
        """
        specials = (self.start_token, self.end_token)
        frames = log_frames(logits, mask, self.blank, without=specials)
        # Of an empty prefix: blanks alone. Place 0 is before the first frame.
        blank = _after_nothing(ops.cumsum(frames[..., self.blank], axis=1), 0.0)
        return {
            "frames": frames,
            "blank": blank,  # (B, S + 1), log-probability with a blank last
            "label": ops.full_like(blank, -inf),  # (B, S + 1), with the last token
            "last": ops.full_like(frames[:, 0, 0], -1, dtype="int32"),  # (B,)
        }

    def step(self, tokens: Tensor, state: dict) -> tuple[LogScores, dict]:
        """Log-probabilities `(B, V)` of the token after `tokens` `(B,)`, and state.

        As they are: a prefix that no alignment has is followed by nothing, of which
        nothing can be made that sums to 1.
        """
        tokens = ops.cast(tokens, "int32")
        begins = tokens == self.start_token
        total, after = self._grown(tokens, state)
        total = ops.where(begins, 0.0, total)[:, None]
        for name in ("blank", "label", "last"):
            is_first = begins if name == "last" else begins[:, None]
            after[name] = ops.where(is_first, state[name], after[name])
        following = self._following(after)
        scores = ops.where(following > -inf, following - total, -inf)
        return LogScores(ops.minimum(scores, 0.0)), after

    def _grown(self, tokens: Tensor, state: dict) -> tuple[Tensor, dict]:
        """`log psi` `(B,)` of the prefixes one token longer, and their state."""
        frames = state["frames"]
        said = ops.take_along_axis(frames, tokens[:, None, None], axis=2)[..., 0]
        both = ops.logaddexp(state["blank"], state["label"])
        # A token said again needs a blank between.
        again = (tokens == state["last"])[:, None]
        before = ops.where(again, state["blank"], both)[:, :-1]
        begun = before + said  # (B, S): the token is said first in this frame
        label = _after_nothing(log_recurrence(said, begun), -inf)
        silent = frames[..., self.blank]
        blank = log_recurrence(silent, silent + label[:, :-1])
        after = {
            "frames": frames,
            "blank": _after_nothing(blank, -inf),
            "label": label,
            "last": tokens,
        }
        return ops.logsumexp(begun, axis=1), after

    def _following(self, state: dict) -> Tensor:
        """`log psi` `(B, V)` of the prefix and each token, at the end its own `log p`.

        Of any token but the last one in a single sum, since only the last one needs to
        know whether a blank stands between.
        """
        frames, last = state["frames"], state["last"]
        both = ops.logaddexp(state["blank"], state["label"])
        scores = ops.logsumexp(both[:, :-1, None] + frames, axis=1)  # (B, V)
        token = ops.maximum(last, 0)[:, None, None]
        said = ops.take_along_axis(frames, token, axis=2)[..., 0]
        again = ops.logsumexp(state["blank"][:, :-1] + said, axis=1)
        classes = ops.arange(ops.shape(scores)[1], dtype="int32")
        scores = ops.where(classes == last[:, None], again[:, None], scores)
        scores = ops.where(classes == self.blank, -inf, scores)
        return ops.where(classes == self.end_token, both[:, -1:], scores)


def _after_nothing(x: Tensor, first: float) -> Tensor:
    """`(B, S)` with one place more, before the first frame."""
    return ops.pad(x, [[0, 0], [1, 0]], constant_values=first)
