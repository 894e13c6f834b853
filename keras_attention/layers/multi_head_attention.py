"""Multi-head attention: Keras's layer under our contract, with what it lacks."""

from typing import Any

import keras

from keras_attention.errors import one_of, positive_integer, require
from keras_attention.layers import _axes
from keras_attention.layers._key_value_cache import KeyValueCache
from keras_attention.layers._projections import HeadProjections
from keras_attention.layers.base import (
    BaseAttention,
    call_arguments,
    carry_mask,
    key_and_its_mask,
)
from keras_attention.layers.rotary_embedding import rotary_layer
from keras_attention.ops import masks, scores


@keras.saving.register_keras_serializable(package="keras_attention")
class MultiHeadAttention(HeadProjections, KeyValueCache, BaseAttention):
    """Several attentions side by side, each in learned spaces of its own.

    `concat_n(softmax(Q_n K_n^T / sqrt(H)) V_n) W_o`. The default for self-attention and
    cross-attention; the constructor is that of `keras.layers.MultiHeadAttention` and
    `set_weights(keras_layer.get_weights())` gives the same numbers. Time
    `O(B N T S H)` plus the projections, the same for any number of heads: multiply-adds
    `B N T S (H + V) + B D (T N (H + V) + S K (H + V))`; parameters without bias
    `D (N + K) (H + V)`.

    Shapes:
        B batch, T query length, S key length, D model size, N heads, K key/value heads,
        H `key_dim`, V `value_dim`.

    Args:
        num_heads: Number of attention heads, N.
        key_dim: Size of each head for query and key, H.
        value_dim: Size of each head for value; by default `key_dim`.
        dropout: Share of attention scores dropped in training, in [0, 1).
        use_bias: Whether the projections have a bias.
        output_shape: Size (or shape) of the output; by default the query's size.
        attention_axes: Axes attended over, for inputs of more than three axes; by
            default all but batch and features.
        sliding_window: Same as `mask=masks.Local(sliding_window)`.
        flash_attention: `None` chooses the path by shape, `True` takes the path without
            `T x S` scores, `False` the dense one. Unlike Keras's, results agree and
            dropout or scores may be asked for with all of them.
        kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
        activity_regularizer, kernel_constraint, bias_constraint: As in
            `keras.layers.Dense`, for all projections. With `attention_axes` the free
            axes count as batch, by which activities are divided.
        use_gate: Multiply the heads' output by `sigmoid(W_g query)`.
        seed: Seed of the dropout.
        num_key_value_heads: K, a divisor of `num_heads`: 1 is multi-query attention,
            in between grouped-query attention.
        score: Name of the score that compares query and key heads
            (`ops.scores.names()`).
        mask: A mask of positions, and-ed with all others.
        qk_norm: Scale each query and key head to a root mean square of 1, times a
            learned vector `(H,)` each: logits cannot grow without bound.
        logit_soft_cap: Bound of the logits, `cap * tanh(logits / cap)` before any bias;
            50 in Gemma 2. `None`: no bound.
        rotary: Turn query and key heads by their positions: `True`, a dict of arguments
            of `RotaryEmbedding`, or such a layer (`RotaryEmbedding2D` for images). Not
            with a cache that is only read.
        attention_sinks: Learn a logit for each head of a key without value, which takes
            its share of every row: a head can attend nothing.

    Call args:
        query: `(B, T, D)`, or more axes with `attention_axes`.
        value: `(B, S, D)`.
        key: `(B, S, D)`; by default the value.
        query_mask, value_mask, key_mask: `(B, T)` or `(B, S)`, True = a real position.
            By default the hidden mask of the tensor.
        attention_mask: `(T, S)`, `(B, T, S)` or `(B, N, T, S)`, True = may attend.
        return_attention_scores: Also return the scores before dropout.
        training: Whether to apply dropout.
        use_causal_mask: Query `i` sees keys up to `i + (S - T)`.
        attention_bias: Added to the logits, broadcastable to `(B, N, T, S)`.
        cache: Keys `(B, K, S, H)` and values `(B, K, S, V)`, projected, the keys also
            normalised and turned: from `empty_cache`, `cache_of` or the step before.
        cache_update_index: Position of the first query: projections of `value` are
            written there and queries see what is written so far; hide padding inside
            the cache by an `attention_mask` `(B, T, S)`. Without it the cache is used
            as it is (cross-attention) and `value` is not looked at.

    Returns:
        `(B, T, D)`; with scores `(B, N, T, S)` second; with `cache`, the cache last.

    Raises:
        ValueError: for sizes that are not positive, heads that do not divide, or a
            float `attention_mask` (numbers go to `attention_bias`).

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> layer = layers.MultiHeadAttention(num_heads=2, key_dim=3)
        >>> x = np.ones((1, 5, 4), "float32")
        >>> y, scores = layer(x, x, use_causal_mask=True, return_attention_scores=True)
        >>> tuple(y.shape), tuple(scores.shape)
        ((1, 5, 4), (1, 2, 5, 5))

    Source:
        Vaswani et al. 2017, arXiv:1706.03762, section 3.2.2; fewer key/value heads
        Ainslie et al. 2023, arXiv:2305.13245; gate Qiu et al. 2025, arXiv:2505.06708;
        normalised queries and keys Henry et al. 2020, arXiv:2010.04245, whose learned
        scale of the cosine is here one for each feature (ViT-22B, arXiv:2302.05442, has
        layer normalisation); soft cap Gemma Team 2024, arXiv:2408.00118;
        sinks OpenAI 2025, arXiv:2508.10925.
    """

    def __init__(
        self,
        num_heads,
        key_dim,
        value_dim=None,
        dropout=0.0,
        use_bias=True,
        output_shape=None,
        attention_axes=None,
        sliding_window=None,
        flash_attention=None,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        use_gate=False,
        seed=None,
        *,
        num_key_value_heads=None,
        score="scaled_dot",
        mask=None,
        qk_norm=False,
        logit_soft_cap=None,
        rotary=None,
        attention_sinks=False,
        **kwargs,
    ):
        super().__init__(
            num_heads=num_heads,
            key_dim=key_dim,
            value_dim=value_dim,
            use_bias=use_bias,
            output_shape=output_shape,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint,
            dropout=dropout,
            mask=mask,
            flash_attention=flash_attention,
            seed=seed,
            **kwargs,
        )
        self.num_key_value_heads = _shared_heads(num_heads, num_key_value_heads)
        self.sliding_window = _positive_or_none("sliding_window", sliding_window)
        self.use_gate, self.qk_norm = use_gate, qk_norm
        self.attention_axes = _axes.as_tuple(attention_axes)
        self.score_name = one_of("score", score, scores.names())
        self.score = score
        if logit_soft_cap is not None:
            self.score = scores.SoftCapped(score, logit_soft_cap)
        self.logit_soft_cap = logit_soft_cap
        self.rotary = rotary_layer(rotary, self.key_dim)
        self.attention_sinks = attention_sinks

    # ------------------------------------------------------------------------- weights

    def build(self, query_shape, value_shape, key_shape=None):
        key_shape = value_shape if key_shape is None else key_shape
        shared = (self.num_key_value_heads, self.key_dim)
        # In Keras's order, so that `set_weights` takes over its weights.
        self.query_dense = self._heads_dense(
            "query", query_shape, (self.num_heads, self.key_dim)
        )
        self.key_dense = self._heads_dense("key", key_shape, shared)
        if self.use_gate:
            heads = (self.num_heads, self.value_dim)
            self.gate_dense = self._heads_dense("gate", query_shape, heads, "sigmoid")
        self.value_dense = self._heads_dense(
            "value", value_shape, (self.num_key_value_heads, self.value_dim)
        )
        self.output_dense = self._output_dense(query_shape)
        self.add_score_weights(self.key_dim, self.key_dim)
        if self.qk_norm:
            self.query_norm = self._heads_norm("query_norm")
            self.key_norm = self._heads_norm("key_norm")
        if self.attention_sinks:
            self.sinks = self.add_weight(
                shape=(self.num_heads,), initializer="zeros", name="sinks"
            )

    def _heads_norm(self, name):
        norm = keras.layers.RMSNormalization(name=name, dtype=self.dtype_policy)
        norm.build((None, None, None, self.key_dim))
        return norm

    # ------------------------------------------------------------ what differs by head

    def project_query(self, query, start_index=None):
        query = self.query_dense(query)
        query = self.query_norm(query) if self.qk_norm else query
        return self._rotated(query, start_index)

    def project_key(self, key, start_index=None):
        key = self.key_dense(key)
        key = self.key_norm(key) if self.qk_norm else key
        return self._rotated(key, start_index)

    def _rotated(self, heads, start_index):
        # Past `__call__`, which would cast the heads to the dtype of that layer.
        if self.rotary is None:
            return heads
        if start_index is None:
            return self.rotary.aligned_to_the_end(heads)
        return self.rotary.call(heads, start_index)

    def project_value(self, value):
        return self.value_dense(value)

    def shape_scores(self, attention_scores):
        return attention_scores

    def combine(self, output, query):
        if self.use_gate:
            output = output * self.gate_dense(query)
        return self.output_dense(output)

    def combined_mask(self, query_mask, value_mask, attention_mask, use_causal_mask):
        mask = super().combined_mask(
            query_mask, value_mask, attention_mask, use_causal_mask
        )
        if self.sliding_window is None:
            return mask
        return masks.combine(masks.Local(self.sliding_window), mask)

    # ------------------------------------------------------------------------ the call

    def call(
        self,
        query,
        value,
        key=None,
        query_mask=None,
        value_mask=None,
        key_mask=None,
        attention_mask=None,
        return_attention_scores=False,
        training=None,
        use_causal_mask=False,
        attention_bias=None,
        cache=None,
        cache_update_index=None,
    ):
        require(
            cache is not None or cache_update_index is None,
            "`cache_update_index` needs a `cache`.",
            cache_update_index=cache_update_index,
        )
        require(
            cache is None or len(query.shape) == 3,
            "A `cache` needs a query (B, T, D).",
            query_shape=tuple(query.shape),
        )
        require(
            cache is None or cache_update_index is not None or self.rotary is None,
            "`rotary` needs a `cache_update_index` beside a `cache`, to know the "
            "position of the query.",
            cache_update_index=cache_update_index,
        )
        options = {
            "query_mask": query_mask,
            "attention_mask": attention_mask,
            "return_attention_scores": return_attention_scores,
            "training": training,
            "use_causal_mask": use_causal_mask,
            "attention_bias": attention_bias,
        }
        if cache is not None:
            key, value_mask = key_and_its_mask(key, value, key_mask, value_mask)
            return self._call_cached(
                query, value, key, value_mask, cache, cache_update_index, **options
            )
        options |= {"value_mask": value_mask, "key_mask": key_mask}
        if len(query.shape) == 3:
            return super().call(query, value, key, **options)
        result = _axes.call_flattened(
            super().call, self.attention_axes, query, value, key, **options
        )
        if return_attention_scores:
            return carry_mask(result[0], query_mask), result[1]
        return carry_mask(result, query_mask)

    # --------------------------------------------------------------- shapes and config

    def compute_output_shape(self, query_shape, value_shape, key_shape=None):
        return (*query_shape[:-1], *(self._output_shape or query_shape[-1:]))

    def compute_scores_shape(self, query_shape, value_shape):
        return _axes.scores_shape(
            query_shape, value_shape, self.attention_axes, self.num_heads
        )

    def compute_output_spec(self, *args, **kwargs):
        given = call_arguments(self, *args, **kwargs)
        cache, value = given["cache"], given["value"]
        if cache is None:
            return super().compute_output_spec(*args, **kwargs)
        # What is attended is as long as the cache.
        shape = (value.shape[0], cache[0].shape[2], value.shape[-1])
        given["value"] = keras.KerasTensor(shape, dtype=value.dtype)
        outputs = keras.tree.flatten(super().compute_output_spec(**given))
        specs: Any = tuple(keras.KerasTensor(x.shape, dtype=x.dtype) for x in cache)
        return (*outputs, specs)

    def get_config(self):
        return {
            **super().get_config(),
            "attention_axes": self.attention_axes,
            "sliding_window": self.sliding_window,
            "use_gate": self.use_gate,
            "num_key_value_heads": self.num_key_value_heads,
            "score": self.score_name,
            "attention_sinks": self.attention_sinks,
            "qk_norm": self.qk_norm,
            "logit_soft_cap": self.logit_soft_cap,
            "rotary": keras.saving.serialize_keras_object(self.rotary),
        }


def _shared_heads(num_heads: int, num_key_value_heads: int | None) -> int:
    """Number of key/value heads, by default as many as there are query heads."""
    if num_key_value_heads is None:
        return num_heads
    positive_integer("num_key_value_heads", num_key_value_heads)
    require(
        num_heads % num_key_value_heads == 0,
        "`num_key_value_heads` must divide `num_heads`.",
        num_key_value_heads=num_key_value_heads,
        num_heads=num_heads,
    )
    return num_key_value_heads


def _positive_or_none(name: str, value: int | None) -> int | None:
    return None if value is None else positive_integer(name, value)
