"""Masked language model."""

from typing import Any

import keras
from keras import ops

from keras_attention.models._language_model import LanguageModel
from keras_attention.ops import _backend

Tensor = Any


@keras.saving.register_keras_serializable(package="keras_attention")
class MaskedLM(LanguageModel):
    """Transformer that fills in hidden tokens from both sides.

    A functional model of the tokens, some of them replaced, and the places to predict.
    Only those places go through the head and the vocabulary: a dense layer, a norm and
    the tied output. Time of a training step
    `O(B T L (T D + D F) + B M (D^2 + D V))`.

    The layers by name: `embedding`, `position_bias` where there is one, `block_0`
    and so on with `self_attention` in each, `norm`, `head_dense`, `head_norm`.

    Shapes:
        B batch, T length, M places, V vocabulary size, D `hidden_dim`,
        F `intermediate_dim`, L `num_layers`, N heads.

    Args:
        vocabulary_size: Number of tokens, V, the mask token among them; id 0 is
            padding.
        num_layers: Blocks.
        num_heads: Attention heads; must divide `hidden_dim`.
        hidden_dim: Model size, D.
        intermediate_dim: Hidden size of the feed-forward networks, F.
        dropout: Share dropped after the embedding and sub-blocks, and of the
            feed-forward networks' hidden units, in [0, 1).
        attention_dropout: Share of attention scores dropped, in [0, 1).
        activation: Activation of the feed-forward networks and the head.
        normalize_first: Pre-norm (True) or post-norm, as BERT.
        positions: As in `CausalLM`.
        max_sequence_length: Longest length; needed by learned positions.
        attention: Name of a multi-head layer of the registry.
        attention_options: Further arguments of those layers.
        dtype: Precision of all layers.
        **kwargs: Those of `keras.Model`.

    Call args:
        inputs: Dict of `tokens` `(B, T)`, 0 = padding, and `positions` `(B, M)`, places
            in `0..T - 1`. Where a row has fewer, fill it up with any place and give it
            the sample weight 0.

    Returns:
        Logits `(B, M, V)` of the tokens at those places, without a hidden mask.

    Raises:
        ValueError: for sizes that are not positive, heads that do not divide, unknown
            positions or attention, and positions that the attention cannot take.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import models
        >>> model = models.MaskedLM(
        ...     vocabulary_size=11,
        ...     num_layers=1,
        ...     num_heads=2,
        ...     hidden_dim=8,
        ...     intermediate_dim=16,
        ...     max_sequence_length=4,
        ... )
        >>> tokens, places = np.array([[5, 6, 2, 0]]), np.array([[1, 2]])
        >>> tuple(model({"tokens": tokens, "positions": places}).shape)
        (1, 2, 11)

    Source:
        Devlin et al. 2019, arXiv:1810.04805, section 3.1 and their code's head. Ours is
        pre-norm by default, has no second segment and no bias of each token.
    """

    is_causal = False

    @classmethod
    def graph(cls, reader, block):
        size, dtype = reader.embedding.hidden_dim, block["dtype"]
        names = ("tokens", "positions")
        inputs = {
            name: keras.Input((None,), dtype="int32", name=name) for name in names
        }
        x = AtPlaces(dtype=dtype, name="at_places")(
            reader.read(inputs["tokens"]), inputs["positions"]
        )
        dense = keras.layers.Dense(
            size, block["activation"], dtype=dtype, name="head_dense"
        )
        norm = keras.layers.LayerNormalization(
            epsilon=1e-5, dtype=dtype, name="head_norm"
        )
        return inputs, reader.embedding(norm(dense(x)), reverse=True)


class AtPlaces(keras.layers.Layer):
    """The rows of `(B, T, D)` at places `(B, M)`: `(B, M, D)`, without a mask."""

    def __init__(self, **kwargs: Any):
        super().__init__(**kwargs)
        self.supports_masking = True  # or it warns that it drops the mask

    def call(self, inputs, places):
        batch_size, length, size = _backend.sizes(inputs)
        first = ops.arange(batch_size, dtype="int32")[:, None] * length
        rows = ops.reshape(inputs, (-1, size))
        return ops.take(rows, first + ops.cast(places, "int32"), axis=0)

    def multiply_adds(self) -> int:
        """No matrix products."""
        return 0

    def compute_mask(self, inputs, previous_mask):
        return None

    def compute_output_spec(self, inputs, places):
        shape = (*places.shape, inputs.shape[-1])
        return keras.KerasTensor(shape, dtype=self.compute_dtype)
