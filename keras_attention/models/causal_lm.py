"""Causal language model."""

from typing import Any

import keras
from keras import ops

from keras_attention.models._language_model import LanguageModel

Tensor = Any


@keras.saving.register_keras_serializable(package="keras_attention")
class CausalLM(LanguageModel):
    """Transformer that predicts each next token from those before it.

    A functional model from token ids `(B, T)` to logits, tied to its embedding and
    pre-norm by default. `initial_state` and `step` make it decodable by
    `keras_attention.decoding`. Time of a training step `O(B T (L (T D + D F) + D V))`;
    of `B T V` numbers the model holds the logits alone.

    What a step of decoding costs depends on the attention. With keys and values kept
    (`multi_head` with any of its options, `talking_heads`, `relative_position`) it is
    `O(B L (S D + D F))` for `S` tokens of room; with a `linear` or `performer` state
    `O(B L D F)`, however long the text is. `block_summary` keeps nothing: each step
    reads all `S` places again, at the cost of the whole model. Attention that cannot
    hide the future, such as `linformer`, is refused; `layers.causal_multi_head()`
    lists what can.

    The layers by name: `embedding`, `position_bias` where there is one, `block_0`
    and so on with `self_attention` in each, `norm`.

    Shapes:
        B batch, T length, P prompt length, V vocabulary size, D `hidden_dim`,
        F `intermediate_dim`, L `num_layers`, N heads.

    Args:
        vocabulary_size: Number of tokens, V; id 0 is padding.
        num_layers: Blocks.
        num_heads: Attention heads; must divide `hidden_dim`.
        hidden_dim: Model size, D.
        intermediate_dim: Hidden size of the feed-forward networks, F.
        dropout: Share dropped after the embedding and sub-blocks, and of the
            feed-forward networks' hidden units, in [0, 1).
        attention_dropout: Share of attention scores dropped, in [0, 1).
        activation: Activation of the feed-forward networks.
        normalize_first: Pre-norm (True) or post-norm.
        positions: `"learned"` or `"sinusoidal"`, added to the embedding; `"rotary"`,
            which turns queries and keys; `"alibi"` or `"relative"`, a bias of
            `(1, N, T, T)` numbers that all blocks share; or `"none"`. Attention that
            is linear in the length takes those that are added, or none.
        max_sequence_length: Longest length; needed by learned positions.
        attention: Name of a multi-head layer of the registry.
        attention_options: Further arguments of those layers, such as
            `{"mask": masks.Local(128)}`.
        dtype: Precision of all layers.
        **kwargs: Those of `keras.Model`.

    Call args:
        inputs: Token ids `(B, T)`, 0 = padding.

    Returns:
        Logits `(B, T, V)`: row `t` predicts token `t + 1`. They carry the padding mask.

    Raises:
        ValueError: for sizes that are not positive, heads that do not divide, unknown
            positions or attention, and positions or a causal mask that the attention
            cannot take.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import decoding, models
        >>> lm = models.CausalLM(
        ...     vocabulary_size=11,
        ...     num_layers=1,
        ...     num_heads=2,
        ...     hidden_dim=8,
        ...     intermediate_dim=16,
        ...     positions="rotary",
        ... )
        >>> prompt = np.array([[1, 5, 6, 2]])
        >>> tuple(lm(prompt).shape)
        (1, 4, 11)
        >>> search = decoding.GreedySearch(max_length=3, start_token=1, end_token=3)
        >>> state = lm.initial_state(prompt, search.max_length)
        >>> read = state["position"]
        >>> found = search.search(lm.step, state, prompt=prompt, prompt_read=read)
        >>> tuple(found.tokens.shape)
        (1, 1, 3)

    Source:
        Radford et al. 2019, "Language models are unsupervised multitask learners",
        section 2.3 (pre-norm, a norm after the last block, learned positions). Ours
        scales embeddings by `sqrt(D)`, as Vaswani et al. 2017, arXiv:1706.03762,
        section 3.4, and starts all residual layers alike.
    """

    is_causal = True

    @classmethod
    def graph(cls, reader, block):
        del block
        tokens = keras.Input((None,), dtype="int32", name="tokens")
        return tokens, reader.embedding(reader.read(tokens), reverse=True)

    def initial_state(
        self, prompt: Tensor, max_length: int, position: int | Tensor | None = None
    ) -> dict:
        """State after the tokens of a prompt before `position`, read in one go.

        Args:
            prompt: `(B, P)` token ids.
            max_length: Tokens the state has room for after the prompt.
            position: Of the token that the search reads first, by default the last one.
                Where prompts of several lengths are padded at their end it is that of
                the shortest one's last token. The search takes it as
                `prompt_read=state["position"]`.

        Raises:
            ValueError: learned positions end before `P + max_length`. In a TensorFlow
                graph that does not know `P`, TensorFlow's own error as it runs.
        """
        prompt = ops.cast(prompt, "int32")
        position = ops.shape(prompt)[1] - 1 if position is None else position
        return self.reader.start(prompt, max_length, ops.cast(position, "int32"))

    def step(self, tokens: Tensor, state: dict) -> tuple[Tensor, dict]:
        """Logits `(B, V)` after `tokens` `(B,)`, and the next state."""
        hidden, state = self.reader.advance(ops.cast(tokens, "int32"), state)
        return self.embedding(hidden[:, None], reverse=True)[:, 0], state
