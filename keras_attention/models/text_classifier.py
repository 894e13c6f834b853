"""Classifiers of texts that differ in how words become one vector."""

from collections.abc import Callable
from typing import Any

import keras

from keras_attention import layers
from keras_attention.blocks import TransformerEncoder
from keras_attention.errors import one_of, positive_integer
from keras_attention.models._bidirectional import bidirectional_gru
from keras_attention.models._configured import ConfiguredModel

Tensor = Any

KINDS = ("self_attention", "additive_pooling", "transformer", "mean_embeddings")


@keras.saving.register_keras_serializable(package="keras_attention")
class TextClassifier(ConfiguredModel):
    """From token ids to the logits of classes, by one of four ways to pool a text.

    Embedding, then what `kind` says, then a hidden layer and the logits:

    - `"mean_embeddings"`: the mean of the embeddings. No attention and no order: what
      the others must beat.
    - `"self_attention"`: every token attends to all, `softmax(Q K^T / sqrt(H)) V` of
      one head; then the mean over positions. No order either.
    - `"additive_pooling"`: a bidirectional GRU reads the text; its last states ask,
      and Bahdanau's additive attention takes the mean of all states that it weighs.
      Not by cuDNN, which refuses blank texts: on a GPU it is the slow one.
    - `"transformer"`: learned positions, encoder blocks, a norm, the mean over
      positions.

    Padding (id 0) is seen by none of them, wherever it stands. A text of padding alone
    gives the logits of a vector of zeros (for the transformer too), never NaN. The
    layers by name: `embedding`, `attention` (or `encoder_0` and so on), `pooling`,
    `hidden`, `logits`.

    Shapes: B batch, T length, D `hidden_dim`, C classes.

    Args:
        vocabulary_size: Number of tokens; id 0 is padding.
        num_classes: Number of logits, C.
        kind: As above.
        hidden_dim: Size of an embedding, of the GRU's two directions together, and of
            queries, keys and values.
        intermediate_dim: Size of the hidden layer, and of the feed-forward networks.
        num_layers: Encoder blocks of the transformer.
        num_heads: Heads of the transformer.
        max_sequence_length: Positions the transformer knows; the others take any
            length.
        dropout: Share dropped after the embedding, around the hidden layer and in the
            encoder blocks, in [0, 1).
        attention: Multi-head layer of the registry, for the transformer.
        dtype: Precision of all layers but the logits, which are float32.
        **kwargs: Those of `keras.Model`.

    Call args:
        inputs: Token ids `(B, T)`, 0 = padding.

    Returns:
        Logits `(B, C)`, float32 under every precision.

    Raises:
        ValueError: for an unknown kind or attention, sizes that are not positive, an
            odd `hidden_dim` of the GRU, or heads that do not divide it.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import models
        >>> model = models.TextClassifier(11, num_classes=3, kind="self_attention")
        >>> tuple(model(np.array([[5, 6, 2, 0], [7, 0, 0, 0]])).shape)
        (2, 3)

    Source:
        Self-attention: Vaswani et al. 2017, arXiv:1706.03762, equation 1. Additive:
        Bahdanau et al. 2015, arXiv:1409.0473, appendix A.1.2, with one query; close to
        Yang et al. 2016, "Hierarchical attention networks", whose query is learned.
        Mean: Iyyer et al. 2015, "Deep unordered composition rivals syntactic methods
        for text classification", with one hidden layer.
    """

    def __init__(
        self,
        vocabulary_size,
        num_classes,
        kind="additive_pooling",
        hidden_dim=64,
        intermediate_dim=64,
        num_layers=2,
        num_heads=4,
        max_sequence_length=512,
        dropout=0.0,
        attention="multi_head",
        dtype=None,
        **kwargs,
    ):
        one_of("kind", kind, KINDS)
        for name, size in (
            ("vocabulary_size", vocabulary_size),
            ("num_classes", num_classes),
            ("hidden_dim", hidden_dim),
            ("intermediate_dim", intermediate_dim),
        ):
            positive_integer(name, size)
        sizes = {
            "hidden_dim": hidden_dim,
            "intermediate_dim": intermediate_dim,
            "num_layers": num_layers,
            "num_heads": num_heads,
            "max_sequence_length": max_sequence_length,
            "dropout": dropout,
            "attention": attention,
            "dtype": dtype,
        }

        # === Functional graph ===
        ids = keras.Input((None,), dtype="int32", name="ids")
        # Small numbers: a word too rare to learn stays near 0 and says nothing.
        embedding = keras.layers.Embedding(
            vocabulary_size,
            hidden_dim,
            embeddings_initializer=keras.initializers.RandomUniform(-0.05, 0.05),
            mask_zero=True,
            dtype=dtype,
            name="embedding",
        )
        x = keras.layers.Dropout(dropout, dtype=dtype)(embedding(ids))
        logits = _classified(_POOLINGS[kind](x, sizes), num_classes, sizes)
        super().__init__(inputs=ids, outputs=logits, **kwargs)

        # === Config ===
        self.kind = kind
        self._config = {
            "vocabulary_size": vocabulary_size,
            "num_classes": num_classes,
            "kind": kind,
            **sizes,
            "dtype": keras.dtype_policies.serialize(embedding.dtype_policy),
        }


def _classified(x: Tensor, num_classes: int, sizes: dict) -> Tensor:
    """From the vector of a text `(B, D)` to logits `(B, C)`."""
    dropout, dtype = sizes["dropout"], sizes["dtype"]
    x = keras.layers.Dropout(dropout, dtype=dtype)(x)
    hidden = keras.layers.Dense(
        sizes["intermediate_dim"], "relu", dtype=dtype, name="hidden"
    )
    x = keras.layers.Dropout(dropout, dtype=dtype)(hidden(x))
    return keras.layers.Dense(num_classes, dtype="float32", name="logits")(x)


# ---------------------------------------------- from (B, T, D) to one vector for a text


def _self_attention(x: Tensor, sizes: dict) -> Tensor:
    query, key, value = (
        keras.layers.Dense(
            sizes["hidden_dim"], use_bias=False, dtype=sizes["dtype"], name=name
        )(x)
        for name in ("query", "key", "value")
    )
    attention = layers.DotProductAttention(dtype=sizes["dtype"], name="attention")
    return _mean(attention(query, value, key), sizes)


def _additive_pooling(x: Tensor, sizes: dict) -> Tensor:
    size, dtype = sizes["hidden_dim"], sizes["dtype"]
    states, *last = bidirectional_gru(size, dtype, return_state=True)(x)
    query = keras.layers.Concatenate(dtype=dtype)(last)
    query = keras.layers.Reshape((1, size), dtype=dtype)(query)
    attention = layers.AdditiveAttention(size, dtype=dtype, name="attention")
    flat = keras.layers.Reshape((size,), dtype=dtype, name="pooling")
    return flat(attention(query, states))


def _transformer(x: Tensor, sizes: dict) -> Tensor:
    dtype = sizes["dtype"]
    positions = layers.PositionEmbedding(
        sizes["max_sequence_length"],
        initializer=keras.initializers.RandomUniform(-0.05, 0.05),
        dtype=dtype,
        name="positions",
    )
    x = positions(x)
    for number in range(positive_integer("num_layers", sizes["num_layers"])):
        x = TransformerEncoder(
            sizes["intermediate_dim"],
            sizes["num_heads"],
            dropout=sizes["dropout"],
            attention=sizes["attention"],
            dtype=dtype,
            name=f"encoder_{number}",
        )(x)
    norm = keras.layers.LayerNormalization(epsilon=1e-5, dtype=dtype, name="norm")
    return _mean(norm(x), sizes)


def _mean(x: Tensor, sizes: dict) -> Tensor:
    return layers.MaskedMeanPooling(dtype=sizes["dtype"], name="pooling")(x)


_POOLINGS: dict[str, Callable[[Tensor, dict], Tensor]] = {
    "mean_embeddings": _mean,
    "self_attention": _self_attention,
    "additive_pooling": _additive_pooling,
    "transformer": _transformer,
}
