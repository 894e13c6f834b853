"""Linear attention: time and memory grow with the length, not with its square."""

from typing import Any

import keras

from keras_attention.errors import require
from keras_attention.layers._unscored import UnscoredAttention
from keras_attention.layers.base import zero_hidden
from keras_attention.ops import _backend
from keras_attention.ops.linear import (
    elu_features,
    linear_attention,
    linear_multiply_adds,
    linear_state,
    linear_step,
)
from keras_attention.ops.problem import drop

Tensor = Any


@keras.saving.register_keras_serializable(package="keras_attention")
class LinearAttention(UnscoredAttention):
    """Multi-head attention with `(elu(q) + 1).(elu(k) + 1)` in place of the softmax.

    `y_i = sum_j f(q_i).f(k_j) v_j / sum_j f(q_i).f(k_j)` with `f = elu + 1`. For long
    sequences, and for generation: `step` goes on from a state that never grows. It
    cannot look at one key as sharply as a softmax does, and trades that for its cost.
    Time `O(B N (T + S) H V)` plus the projections; memory `O(B (T + S) N (H + V))`,
    also causal and in training; multiply-adds
    `B N (T + S) (H (V + 1) + D (H + V))`, and causal multiply-adds
    `B N (P (C (H + V + 1) + 2 H (V + 1)) + (T + S) D (H + V))`; parameters as
    `MultiHeadAttention`.

    Shapes:
        B batch, T query length, S key length, D model size, N heads, H `key_dim`,
        V `value_dim`, L new positions of a step, C length of a causal chunk,
        `min(max(T, S), 128)`, P `max(T, S)` filled up to whole chunks.

    Args:
        num_heads: Number of attention heads, N.
        key_dim: Size of each head for query and key, H.
        value_dim: Size of each head for value; by default `key_dim`.
        dropout: Share of the heads' outputs dropped in training, in [0, 1): there are
            no scores to drop.
        use_bias: Whether the projections have a bias.
        output_shape: Size (or shape) of the output; by default the query's size.
        seed: Seed of the dropout.
        **kwargs: `kernel_initializer`, `bias_initializer`, `kernel_regularizer`,
            `bias_regularizer`, `activity_regularizer`, `kernel_constraint`,
            `bias_constraint` of the projections, as in `keras.layers.Dense`, and those
            of `keras.layers.Layer`.

    Call args:
        query: `(B, T, D)`.
        value: `(B, S, D)`.
        key: `(B, S, D)`; by default the value.
        query_mask, value_mask, key_mask: `(B, T)` or `(B, S)`, True = a real position.
            By default the hidden mask of the tensor.
        training: Whether to apply dropout.
        use_causal_mask: Query `i` sees keys up to `i + (S - T)`.
        attention_mask, attention_bias, return_attention_scores: Refused.

    Returns:
        `(B, T, D)`.

    Raises:
        ValueError: for sizes that are not positive, a `mask` of positions, a float
            mask, and what is refused in a call.

    Examples:
        >>> import keras, numpy as np
        >>> from keras_attention import layers
        >>> layer = layers.LinearAttention(num_heads=2, key_dim=3)
        >>> x = np.random.default_rng(0).normal(size=(1, 5, 4)).astype("float32")
        >>> y = layer(x, x, use_causal_mask=True)
        >>> state = layer.initial_state(batch_size=1)
        >>> for position in range(5):
        ...     now = x[:, position : position + 1]
        ...     output, state = layer.step(now, now, state)
        >>> errors = keras.ops.abs(output - y[:, 4:])
        >>> tuple(y.shape), bool(keras.ops.all(errors < 1e-5))
        ((1, 5, 4), True)

    Source:
        Katharopoulos et al. 2020, arXiv:2006.16236, equations 5 and 7, causal 9 to 12.
        `elu(x) + 1` is taken as `exp(x)` below 0, where the sum loses its digits.
    """

    # --------------------------------------------------------- what a variant overrides

    @property
    def feature_size(self) -> int:
        """Number of features of a head, F."""
        return self.key_dim

    def query_features(self, query: Tensor) -> Tensor:
        """`(B, T, N, H)` to features `(B, T, N, F)`, at least 0.

        A factor for each query does not matter.
        """
        return elu_features(query)

    def key_features(self, key: Tensor, mask: Tensor | None = None) -> Tensor:
        """`(B, S, N, H)` to features `(B, S, N, F)`, at least 0.

        A factor for each head does not matter. `mask` `(B, S)` says which keys count.
        """
        del mask
        return elu_features(key)

    def step_features(
        self, key: Tensor, mask: Tensor | None, state: tuple
    ) -> tuple[Tensor, tuple]:
        """Features of new keys, and the state scaled as they are."""
        return self.key_features(key, mask), state

    # ------------------------------------------------------------------------ the call

    def attend_heads(
        self,
        query,
        key,
        value,
        query_mask=None,
        value_mask=None,
        use_causal_mask=False,
        training=None,
    ):
        output = linear_attention(
            self.query_features(query),
            self.key_features(key, value_mask),
            value,
            mask=value_mask,
            query_mask=query_mask,
            use_causal_mask=use_causal_mask,
        )
        if training and self.dropout:
            seed, shape = self.seed_generator.next(), _backend.sizes(output)
            keep = _backend.keep_mask(seed, 0, shape, self.dropout)
            output = drop(output, keep, self.dropout)
        return output

    def multiply_adds(
        self, query_shape, key_shape, value_shape, use_causal_mask=False
    ) -> int:
        """What `attend_heads` multiplies: `B N (T + S) F (V + 1)`, or in chunks."""
        batch, query_length, num_heads, _ = query_shape
        sizes = query_length, key_shape[1], self.feature_size, value_shape[-1]
        return batch * num_heads * linear_multiply_adds(*sizes, use_causal_mask)

    # ------------------------------------------------------------------- step by step

    def initial_state(self, batch_size: Any) -> tuple:
        """The state before the first position: what `step` takes first.

        `N F (V + 1)` numbers a sequence, however long it gets.
        """
        dtype = keras.backend.result_type(self.compute_dtype, "float32")
        sizes = (self.num_heads, self.feature_size, self.value_dim)
        return (linear_state(batch_size, *sizes, dtype=dtype),)

    def step(
        self,
        query: Tensor,
        value: Tensor,
        state: tuple,
        key: Tensor | None = None,
        value_mask: Tensor | None = None,
    ) -> tuple[Tensor, tuple]:
        """The causal layer's output at the next positions, without dropout.

        Args:
            query: `(B, L, D)`: one position, or a prompt at once.
            value: `(B, L, D)`.
            state: From `initial_state` or the step before.
            key: `(B, L, D)`; by default the value.
            value_mask: `(B, L)`, True = a real position; others leave no trace.

        Returns:
            Output `(B, L, D)` and the next state.
        """
        require(self.built, "The layer must be built: call it once before `step`.")
        key = value if key is None else key
        query, key, value = zero_hidden(query, key, value, None, value_mask)
        features, (sums, *scale) = self.step_features(
            self.key_dense(key), value_mask, state
        )
        output, sums = linear_step(
            self.query_features(self.query_dense(query)),
            features,
            self.value_dense(value),
            sums,
            value_mask,
        )
        return self.output_dense(output), (sums, *scale)
