"""Softmax attention approximated by positive random features, at linear cost."""

import math
import random
from typing import Any

import keras
from keras import ops

from keras_attention.errors import positive_integer
from keras_attention.layers.linear_attention import LinearAttention
from keras_attention.ops import masks
from keras_attention.ops.linear import log_random_features, random_directions
from keras_attention.ops.softmax import LOWEST

Tensor = Any


@keras.saving.register_keras_serializable(package="keras_attention")
class PerformerAttention(LinearAttention):
    """Multi-head softmax attention, approximated by F random features (FAVOR+).

    `LinearAttention` with `f(x) = exp(w.x - |x|^2 / 2)` for F random directions `w` and
    `x` over `H^(1/4)`: the mean of `f(q).f(k)` over draws is `exp(q.k / sqrt(H))`. For
    long sequences where softmax attention is wanted, such as to go on with weights
    trained with it. Time `O(B N (T + S) F (H + V))` plus the projections, memory
    `O(B (T + S) N (F + V))`, also causal and in training; multiply-adds
    `B N (T + S) (F (H + V + 1) + D (H + V))`, and causal multiply-adds
    `B N (P (C (F + V + 1) + 2 F (V + 1)) + (T + S) (F H + D (H + V)))`; parameters as
    `MultiHeadAttention`, and before them `H F` numbers that are saved but not trained.

    The error grows fast with the size of queries and keys. Measured as the share of the
    weight that lies on wrong keys, with 64 keys of normal numbers, H = 16 and F = 64,
    256, 1,024 and 4,096: 8, 5, 2.4 and 1.3 % for a standard deviation of 0.5, where it
    falls with `sqrt(F)`, but 37, 30, 22 and 17 % for 1.

    Shapes:
        B batch, T query length, S key length, D model size, N heads, H `key_dim`,
        V `value_dim`, F features, C and P as in `LinearAttention`.

    Args:
        num_heads: Number of attention heads, N.
        key_dim: Size of each head for query and key, H.
        num_features: F; about `H log(H)` and more.
        orthogonal: Draw directions that are orthogonal within each H of them: still
            unbiased, and a smaller error.
        value_dim: Size of each head for value; by default `key_dim`.
        dropout: Share of the heads' outputs dropped in training, in [0, 1).
        use_bias: Whether the projections have a bias.
        output_shape: Size (or shape) of the output; by default the query's size.
        seed: Seed of the directions and the dropout. A number gives the same
            directions on every backend.
        **kwargs: As in `LinearAttention`.

    Call args:
        As in `LinearAttention`, `initial_state` and `step` too.

    Returns:
        `(B, T, D)`.

    Raises:
        ValueError: as `LinearAttention`, and for a `num_features` that is not positive.

    Examples:
        >>> import keras, numpy as np
        >>> from keras_attention import layers
        >>> x = np.random.default_rng(0).uniform(size=(1, 5, 8)).astype("float32")
        >>> exact = layers.MultiHeadAttention(num_heads=2, key_dim=4)
        >>> y = exact(x, x)
        >>> layer = layers.PerformerAttention(2, 4, num_features=4096, seed=0)
        >>> layer.build(x.shape, x.shape)
        >>> layer.set_weights([*layer.get_weights()[:1], *exact.get_weights()])
        >>> errors = keras.ops.abs(layer(x, x) - y)
        >>> bool(keras.ops.all(errors < 0.1 * keras.ops.max(keras.ops.abs(y))))
        True

    Source:
        Choromanski et al. 2021, arXiv:2009.14794, lemma 1 and section 2.4. Without the
        small number their code adds to each feature; the directions are not redrawn
        while training.
    """

    def __init__(
        self,
        num_heads: int,
        key_dim: int,
        num_features: int = 256,
        orthogonal: bool = True,
        **kwargs: Any,
    ):
        super().__init__(num_heads, key_dim, **kwargs)
        self.num_features = positive_integer("num_features", num_features)
        self.orthogonal = orthogonal

    def build(self, query_shape, value_shape, key_shape=None):
        super().build(query_shape, value_shape, key_shape)
        self.directions = self.add_weight(
            shape=(self.key_dim, self.num_features),
            initializer=self._draw,
            trainable=False,
            autocast=False,
            name="directions",
        )

    def _draw(self, shape, dtype=None):
        # `random` is where Keras takes seeds from, so that `set_random_seed` holds.
        seed = random.randrange(2**31) if self.seed is None else self.seed
        directions = random_directions(*shape, orthogonal=self.orthogonal, seed=seed)
        return ops.convert_to_tensor(directions, dtype=dtype)

    # ------------------------------------------------------------------- the features

    @property
    def feature_size(self):
        return self.num_features

    # The factor that keeps `exp` finite is one for each query, and one for all keys of
    # a head. Both cancel in the quotient of sums, and so do their gradients.

    def query_features(self, query):
        logs = log_random_features(query, self.directions)
        top = ops.max(logs, axis=-1, keepdims=True)
        return ops.exp(logs - ops.stop_gradient(top))

    def key_features(self, key, mask=None):
        logs = self._log_key_features(key, mask)
        return _exp(logs, _top(logs))

    def step_features(self, key, mask, state):
        sums, top = state
        logs = self._log_key_features(key, mask)
        new_top = ops.maximum(top, _top(logs))
        return _exp(logs, new_top), (sums * ops.exp(top - new_top), new_top)

    def _log_key_features(self, key, mask):
        logs = log_random_features(key, self.directions)
        if mask is None:
            return logs
        mask = masks.as_boolean("value_mask", mask)[:, :, None, None]
        return ops.where(mask, logs, ops.cast(LOWEST, logs.dtype))

    def initial_state(self, batch_size):
        (sums,) = super().initial_state(batch_size)
        return sums, ops.full_like(sums[:, :, :1, :1], LOWEST)

    def multiply_adds(
        self, query_shape, key_shape, value_shape, use_causal_mask=False
    ) -> int:
        """As `LinearAttention`, and the features: `B N (T + S) H F`."""
        heads = query_shape, key_shape
        features = self.num_features * sum(math.prod(shape) for shape in heads)
        shapes = *heads, value_shape
        return features + super().multiply_adds(*shapes, use_causal_mask)

    def get_config(self):
        return {
            **super().get_config(),
            "num_features": self.num_features,
            "orthogonal": self.orthogonal,
        }


def _top(logs: Tensor) -> Tensor:
    """The largest feature of each head, `(B, S, N, F)` to `(B, N, 1, 1)`."""
    return ops.stop_gradient(ops.max(logs, axis=(1, 3)))[:, :, None, None]


def _exp(logs: Tensor, top: Tensor) -> Tensor:
    return ops.exp(logs - ops.swapaxes(top, 1, 2))
