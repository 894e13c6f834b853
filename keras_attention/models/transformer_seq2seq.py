"""Encoder-decoder transformer."""

from typing import Any

import keras
from keras import ops

from keras_attention.blocks import (
    TokenAndPositionEmbedding,
    TransformerDecoder,
    TransformerEncoder,
)
from keras_attention.errors import positive_integer, require

Tensor = Any


@keras.saving.register_keras_serializable(package="keras_attention")
class TransformerSeq2Seq(keras.Model):
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
            _final_norm(normalize_first, dtype, f"{side}_norm")
            for side in ("encoder", "decoder")
        ]

        # === Functional graph ===
        inputs, logits = _graph(embedding, encoders, decoders, *norms)
        super().__init__(inputs=inputs, outputs=logits, **kwargs)

        # === Config ===
        self.embedding, self.encoders, self.decoders = embedding, encoders, decoders
        self.encoder_norm, self.decoder_norm = norms
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
        longest = self.embedding.max_sequence_length
        require(
            self.embedding.positions != "learned" or max_length <= longest,
            "Learned positions end at `max_sequence_length`.",
            max_length=max_length,
            max_sequence_length=longest,
        )
        memory, mask = self.encode(source)
        batch_size, source_length = ops.shape(source)
        scores = None
        if return_attention_scores:
            heads = self.decoders[-1].num_heads
            shape = (batch_size, heads, max_length, source_length)
            scores = ops.zeros(shape, dtype=self.embedding.compute_dtype)
        return {
            "position": ops.convert_to_tensor(0, dtype="int32"),
            "memory_mask": mask,
            "attention_scores": scores,
            "self": [
                layer.empty_cache(batch_size, max_length) for layer in self.decoders
            ],
            "cross": [
                layer.cross_attention_cache(memory, mask) for layer in self.decoders
            ],
        }

    def step(self, tokens: Tensor, state: dict) -> tuple[Tensor, dict]:
        """Logits `(B, V)` after `tokens` `(B,)`, and the next state."""
        position = state["position"]
        x = self.embedding(tokens[:, None], start_index=position)
        caches, scores = [], state["attention_scores"]
        for layer, self_cache, cross_cache in zip(
            self.decoders, state["self"], state["cross"], strict=True
        ):
            is_shown = scores is not None and layer is self.decoders[-1]
            x, *seen, self_cache = layer(
                x,
                None,
                memory_mask=state["memory_mask"],
                return_attention_scores=is_shown,
                self_attention_cache=self_cache,
                self_attention_cache_update_index=position,
                cross_attention_cache=cross_cache,
            )
            caches.append(self_cache)
            if is_shown:
                here = ops.arange(scores.shape[2]) == position
                scores = ops.where(here[:, None], seen[-1], scores)
        logits = self.embedding(self.decoder_norm(x), reverse=True)[:, 0]
        after = {"position": position + 1, "self": caches, "attention_scores": scores}
        return logits, {**state, **after}

    def cross_attention_scores(self, source: Tensor, target: Tensor) -> Tensor:
        """What each step looked at: scores of the last block, `(B, N, T, S)`."""
        memory, mask = self.encode(source)
        x = self.embedding(target)
        target_mask = ops.not_equal(target, 0)
        for layer in self.decoders:
            x, _, scores = layer(
                x,
                memory,
                inputs_mask=target_mask,
                memory_mask=mask,
                return_attention_scores=True,
            )
        return scores

    def get_config(self):
        return {"name": self.name, "trainable": self.trainable, **self._config}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


def _graph(embedding, encoders, decoders, encoder_norm, decoder_norm):
    """Inputs and logits of the functional model."""
    source = keras.Input((None,), dtype="int32", name="source")
    target = keras.Input((None,), dtype="int32", name="target")
    memory = embedding(source)
    for layer in encoders:
        memory = layer(memory)
    memory = encoder_norm(memory)
    x = embedding(target)
    for layer in decoders:
        x = layer(x, memory)
    logits = embedding(decoder_norm(x), reverse=True)
    return {"source": source, "target": target}, logits


def _final_norm(normalize_first, dtype, name):
    """Pre-norm stacks end in a normalisation, post-norm stacks already have one."""
    if not normalize_first:
        return keras.layers.Identity(dtype=dtype, name=name)
    return keras.layers.LayerNormalization(epsilon=1e-5, dtype=dtype, name=name)
