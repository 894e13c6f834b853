"""Decoding by attention and CTC together."""

from typing import Any, Protocol

from keras import ops

from keras_attention.decoding.ctc_prefix import CTCPrefixScores
from keras_attention.decoding.search import LogScores
from keras_attention.errors import require

Tensor = Any


class Hybrid(Protocol):
    """A model with an attention decoder and CTC logits over one memory."""

    def encode(self, *inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Memory (B, S, D) and its mask (B, S)."""

    def ctc_logits(self, memory: Tensor) -> Tensor:
        """CTC logits (B, S, V) of the memory."""

    def memory_state(
        self, memory: Tensor, mask: Tensor, max_length: int, **options: Any
    ) -> Any:
        """The decoder's state before the first token."""

    def step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        """Logits (B, V) of the token that follows `tokens` (B,), and the next state."""


class JointCTC:
    """A model whose tokens must please its decoder and its CTC logits alike.

    A token `c` after a prefix `g` has the score
    `(1 - w) log p_attention(c | g) + w (log psi(g c) - log psi(g))`, see
    `CTCPrefixScores`, so that a whole text `y` has
    `(1 - w) log p_attention(y) + w log p_ctc(y)`. Attention alone may skip a part of a
    clip, say it twice or not end; CTC has heard all frames once and in order. Any
    search decodes it as it would the model.

    Shapes:
        B batch, V vocabulary size.

    Args:
        model: Has `encode`, `ctc_logits`, `memory_state` and `step`, see `Hybrid`, such
            as a `models.SpeechRecognizer`.
        weight: w, the share of CTC in (0, 1]; 0.3 is usual. Without CTC decode the
            model itself.
        start_token: What the first step reads.
        end_token: What the search ends with.
        blank: Class of the blank.

    Raises:
        ValueError: `weight` is not in (0, 1].

    Examples:
        >>> import numpy as np
        >>> from keras_attention import models
        >>> from keras_attention.decoding import BeamSearch, JointCTC
        >>> model = models.SpeechRecognizer(
        ...     9, frame_size=8, hidden_dim=8, num_layers=1, num_heads=2, filters=2
        ... )
        >>> joint = JointCTC(model, weight=0.3)
        >>> search = BeamSearch(max_length=3, start_token=1, end_token=2)
        >>> frames, mask = np.ones((2, 20, 8), "float32"), np.ones((2, 20), bool)
        >>> state = joint.initial_state(frames, mask, max_length=3)
        >>> tuple(search.search(joint.step, state, batch_size=2).tokens.shape)
        (2, 1, 3)

    Source:
        Watanabe et al. 2017, "Hybrid CTC/attention architecture for end-to-end speech
        recognition", section II-D, equations 19 to 23.
    """

    def __init__(
        self,
        model: Hybrid,
        weight: float = 0.3,
        start_token: int = 1,
        end_token: int = 2,
        blank: int = 0,
    ) -> None:
        require(0 < weight <= 1, "`weight` must be in (0, 1].", weight=weight)
        self.model, self.weight = model, weight
        self.prefix_scores = CTCPrefixScores(start_token, end_token, blank)

    def initial_state(self, *inputs: Tensor, max_length: int, **options: Any) -> dict:
        """The state before the first token, `"model"` and `"ctc"`.

        Args:
            *inputs: Those of the model's `encode`.
            max_length: Steps there is room for.
            **options: Further ones of the model's `memory_state`, such as
                `return_attention_scores`; a search hands those scores on with
                `keep=lambda state: state["model"]["attention_scores"]`.
        """
        memory, mask = self.model.encode(*inputs)
        logits = self.model.ctc_logits(memory)
        return {
            "model": self.model.memory_state(memory, mask, max_length, **options),
            "ctc": self.prefix_scores.initial_state(logits, mask),
        }

    def step(self, tokens: Tensor, state: dict) -> tuple[LogScores, dict]:
        """Scores `(B, V)` of the token after `tokens` `(B,)`, and the next state."""
        logits, model = self.model.step(tokens, state["model"])
        heard, ctc = self.prefix_scores.step(tokens, state["ctc"])
        scores = heard.values
        if self.weight < 1:
            attended = ops.log_softmax(ops.cast(logits, "float32"), axis=-1)
            scores = (1 - self.weight) * attended + self.weight * scores
        return LogScores(scores), {"model": model, "ctc": ctc}
