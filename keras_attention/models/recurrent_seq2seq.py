"""Recurrent encoder-decoder, with or without attention."""

from typing import Any

import keras
from keras import ops

from keras_attention.blocks import RecurrentDecoder, TokenAndPositionEmbedding
from keras_attention.errors import require
from keras_attention.models._configured import ConfiguredModel
from keras_attention.models._text_decoders import RecurrentTextDecoder

Tensor = Any


@keras.saving.register_keras_serializable(package="keras_attention")
class RecurrentSeq2Seq(ConfiguredModel):
    """Bidirectional GRU encoder and GRU decoder from token ids to next-token logits.

    The systems that attention was invented for, under the same interface as
    `TransformerSeq2Seq`: with `attention="none"` the whole source must fit one vector,
    with `"additive"` (Bahdanau) or `"general"` (Luong) the decoder looks back at every
    step. One vocabulary for both sides, tied to the output.

    Shapes:
        B batch, S source length, T target length, V vocabulary size.

    Args:
        vocabulary_size: Number of tokens; id 0 is padding.
        hidden_dim: Size of embeddings, of the decoder and of both encoder directions
            together; even.
        attention: `"additive"`, `"general"`, `"dot_product"`, `"location_aware"`,
            `"monotonic"`, `"coverage"` or `"none"`, see `blocks.RecurrentDecoder`.
        order: `"bahdanau"` or `"luong"`, see `layers.AttentionCell`.
        dropout: Share dropped after the embedding and before the output, in [0, 1).
        **kwargs: Those of `keras.Model`.

    Call args:
        inputs: Dict of `source` `(B, S)` and `target` `(B, T)` token ids, 0 = padding.

    Returns:
        Logits `(B, T, V)`: row `t` predicts the token after `target[t]`.

    Raises:
        ValueError: for an unknown attention or order, or an odd `hidden_dim`.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import models
        >>> model = models.RecurrentSeq2Seq(vocabulary_size=11, hidden_dim=8)
        >>> ids = np.array([[5, 6, 2, 0]])
        >>> tuple(model({"source": ids, "target": ids[:, :3]}).shape)
        (1, 3, 11)

    Source:
        Bahdanau et al. 2015, arXiv:1409.0473; Luong et al. 2015, arXiv:1508.04025;
        Cho et al. 2014, arXiv:1406.1078. One layer on each side.
    """

    def __init__(
        self,
        vocabulary_size,
        hidden_dim,
        attention="additive",
        order="bahdanau",
        dropout=0.0,
        dtype=None,
        **kwargs,
    ):
        require(
            hidden_dim % 2 == 0,
            "`hidden_dim` must be even: half for each direction of the encoder.",
            hidden_dim=hidden_dim,
        )

        # === Layers ===
        embedding = TokenAndPositionEmbedding(
            vocabulary_size,
            hidden_dim,
            positions="none",
            dropout=dropout,
            dtype=dtype,
            name="embedding",
        )
        gru = keras.layers.GRU(
            hidden_dim // 2, return_sequences=True, return_state=True, dtype=dtype
        )
        encoder = keras.layers.Bidirectional(gru, dtype=dtype, name="encoder")
        decoder = RecurrentDecoder(
            hidden_dim, attention, order, dtype=dtype, name="decoder"
        )
        output_dropout = keras.layers.Dropout(
            dropout, dtype=dtype, name="output_dropout"
        )
        text = RecurrentTextDecoder(embedding, decoder, output_dropout)

        # === Functional graph ===
        source = keras.Input((None,), dtype="int32", name="source")
        target = keras.Input((None,), dtype="int32", name="target")
        memory, *finals = encoder(embedding(source))
        summary = keras.layers.Concatenate(dtype=dtype)(finals)
        logits = text.predict(text.read(target, memory, summary))
        super().__init__(
            inputs={"source": source, "target": target}, outputs=logits, **kwargs
        )

        # === Config ===
        self.embedding, self.encoder, self.decoder = embedding, encoder, decoder
        self.text_decoder = text
        self._config = {
            "vocabulary_size": vocabulary_size,
            "hidden_dim": hidden_dim,
            "attention": attention,
            "order": order,
            "dropout": dropout,
            "dtype": keras.dtype_policies.serialize(embedding.dtype_policy),
        }

    # ------------------------------------------------------------------------- decoding

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Memory `(B, S, D)`, its summary `(B, D)` and its mask `(B, S)`."""
        mask = ops.not_equal(source, 0)
        memory, *finals = self.encoder(self.embedding(source), mask=mask)
        return memory, ops.concatenate(finals, axis=-1), mask

    def initial_state(
        self, source: Tensor, max_length: int, return_attention_scores: bool = False
    ) -> dict:
        """State before the first step.

        Args:
            source: `(B, S)` token ids.
            max_length: Steps whose scores are collected; else any number fits.
            return_attention_scores: Collect what each step looks at, as
                `state["attention_scores"]` `(B, 1, max_length, S)`.

        Raises:
            ValueError: scores of a model without attention.
        """
        memory, summary, mask = self.encode(source)
        return self.text_decoder.initial_state(
            memory, max_length, return_attention_scores, summary, mask
        )

    def step(self, tokens: Tensor, state: dict) -> tuple[Tensor, dict]:
        """Logits `(B, V)` after `tokens` `(B,)`, and the next state."""
        return self.text_decoder.step(tokens, state)

    def cross_attention_scores(self, source: Tensor, target: Tensor) -> Tensor:
        """Alignments `(B, 1, T, S)`: what each step looked at.

        Raises:
            ValueError: for a model without attention.
        """
        encoded = self.encode(source)
        _, scores = self.text_decoder.read(
            target, *encoded, return_attention_scores=True
        )
        return scores
