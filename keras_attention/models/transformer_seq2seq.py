"""Encoder-decoder transformer."""

from typing import Any

import keras
from keras import ops

from keras_attention.blocks import (
    TokenAndPositionEmbedding,
    TransformerDecoder,
    TransformerEncoder,
)
from keras_attention.errors import positive_integer
from keras_attention.models._configured import ConfiguredModel
from keras_attention.models._text_decoders import TransformerTextDecoder, final_norm

Tensor = Any


@keras.saving.register_keras_serializable(package="keras_attention")
class TransformerSeq2Seq(ConfiguredModel):
    """Encoder-decoder transformer from token ids to next-token logits.

    A functional model of `{"source": (B, S), "target": (B, T)}` with one vocabulary for
    both sides, tied to the output. `initial_state` and `step` make it decodable by
    `keras_attention.decoding`, with key/value caches. Pre-norm by default.

    Shapes:
        B batch, S source length, T target length, V vocabulary size.

    Args:
        vocabulary_size: Number of tokens; id 0 is padding.
        num_layers: Blocks of the encoder and of the decoder.
        num_heads: Attention heads; must divide `hidden_dim`.
        hidden_dim: Model size.
        intermediate_dim: Hidden size of the feed-forward networks.
        dropout: Share dropped after embeddings and sub-blocks, and of the feed-forward
            networks' hidden units, in [0, 1).
        attention_dropout: Share of attention scores dropped, in [0, 1).
        activation: Activation of the feed-forward networks.
        normalize_first: Pre-norm (True) or post-norm.
        positions: `"sinusoidal"` or `"learned"`.
        max_sequence_length: Longest length; needed by learned positions.
        attention: Name of a multi-head layer of the registry.
        attention_options: Further arguments of those layers.
        **kwargs: Those of `keras.Model`.

    Call args:
        inputs: Dict of `source` `(B, S)` and `target` `(B, T)` token ids, 0 = padding.

    Returns:
        Logits `(B, T, V)`: row `t` predicts the token after `target[t]`.

    Raises:
        ValueError: for sizes that are not positive, or heads that do not divide.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import models
        >>> model = models.TransformerSeq2Seq(
        ...     vocabulary_size=11,
        ...     num_layers=1,
        ...     num_heads=2,
        ...     hidden_dim=8,
        ...     intermediate_dim=16,
        ... )
        >>> ids = np.array([[5, 6, 2, 0]])
        >>> tuple(model({"source": ids, "target": ids[:, :3]}).shape)
        (1, 3, 11)

    Source:
        Vaswani et al. 2017, arXiv:1706.03762; ours is pre-norm by default.
    """

    def __init__(
        self,
        vocabulary_size,
        num_layers,
        num_heads,
        hidden_dim,
        intermediate_dim,
        dropout=0.0,
        attention_dropout=0.0,
        activation="relu",
        normalize_first=True,
        positions="sinusoidal",
        max_sequence_length=None,
        attention="multi_head",
        attention_options=None,
        dtype=None,
        **kwargs,
    ):
        positive_integer("num_layers", num_layers)

        # === Layers ===
        tokens = {
            "vocabulary_size": vocabulary_size,
            "hidden_dim": hidden_dim,
            "positions": positions,
            "max_sequence_length": max_sequence_length,
        }
        embedding = TokenAndPositionEmbedding(
            **tokens, dropout=dropout, dtype=dtype, name="embedding"
        )
        block = {
            "intermediate_dim": intermediate_dim,
            "num_heads": num_heads,
            "dropout": dropout,
            "attention_dropout": attention_dropout,
            "activation": activation,
            "normalize_first": normalize_first,
            "attention": attention,
            "attention_options": attention_options,
            "dtype": dtype,
        }
        layers = range(num_layers)
        encoders = [TransformerEncoder(**block, name=f"encoder_{i}") for i in layers]
        decoders = [TransformerDecoder(**block, name=f"decoder_{i}") for i in layers]
        norms = [
            final_norm(normalize_first, dtype, f"{side}_norm")
            for side in ("encoder", "decoder")
        ]

        # === Functional graph ===
        text = TransformerTextDecoder(embedding, decoders, norms[1])
        inputs, logits = _graph(embedding, encoders, norms[0], text)
        super().__init__(inputs=inputs, outputs=logits, **kwargs)

        # === Config ===
        self.embedding, self.encoders, self.decoders = embedding, encoders, decoders
        self.encoder_norm, self.decoder_norm = norms
        self.text_decoder = text
        policy = keras.dtype_policies.serialize(embedding.dtype_policy)
        self._config = {**tokens, **block, "num_layers": num_layers, "dtype": policy}

    # ------------------------------------------------------------------------- decoding

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """Memory `(B, S, D)` and its mask `(B, S)`."""
        mask = ops.not_equal(source, 0)
        memory = self.embedding(source)
        for layer in self.encoders:
            memory = layer(memory, mask=mask)
        return self.encoder_norm(memory), mask

    def initial_state(
        self, source: Tensor, max_length: int, return_attention_scores: bool = False
    ) -> dict:
        """State before the first of at most `max_length` steps.

        Args:
            source: `(B, S)` token ids.
            max_length: Steps the caches have room for.
            return_attention_scores: Collect what each step looks at, as
                `state["attention_scores"]` `(B, N, max_length, S)`, from the last
                block. A search hands it on for the hypotheses it returns with
                `keep=lambda state: state["attention_scores"]`: a row for each token
                read, of no meaning after the end of its hypothesis.

        Raises:
            ValueError: learned positions end before `max_length`.
        """
        memory, mask = self.encode(source)
        return self.text_decoder.initial_state(
            memory, max_length, return_attention_scores, mask=mask
        )

    def step(self, tokens: Tensor, state: dict) -> tuple[Tensor, dict]:
        """Logits `(B, V)` after `tokens` `(B,)`, and the next state."""
        return self.text_decoder.step(tokens, state)

    def cross_attention_scores(self, source: Tensor, target: Tensor) -> Tensor:
        """What each step looked at: scores of the last block, `(B, N, T, S)`."""
        memory, mask = self.encode(source)
        _, scores = self.text_decoder.read(
            target, memory, mask=mask, return_attention_scores=True
        )
        return scores


def _graph(embedding, encoders, norm, text):
    """Inputs and logits of the functional model."""
    source = keras.Input((None,), dtype="int32", name="source")
    target = keras.Input((None,), dtype="int32", name="target")
    memory = embedding(source)
    for layer in encoders:
        memory = layer(memory)
    logits = text.predict(text.read(target, norm(memory)))
    return {"source": source, "target": target}, logits
