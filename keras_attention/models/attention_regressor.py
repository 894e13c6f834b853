"""A function of one number, from points that are known: kernel or learned attention."""

from typing import Any

import keras
from keras import ops

from keras_attention import layers
from keras_attention.errors import one_of, positive_integer

Tensor = Any

KINDS = ("fixed", "learned", "attention")


@keras.saving.register_keras_serializable(package="keras_attention")
class AttentionRegressor(keras.Model):
    """The `y` of an `x`, as the mean of known `y` that attention weighs.

    The points are kept in the model, as weights that are not trained: queries are the
    `x` that is asked for, keys the known `x`, values the known `y`. How near a query is
    to a key is what `kind` says:

    - `"fixed"`: `KernelAttention`, the kernel regression of Nadaraya and Watson.
    - `"learned"`: the same, its bandwidth trained.
    - `"attention"`: scaled dot product of projections of a hidden layer, which sees `x`
      with the range of the known points moved to [-1, 1]. A scalar times a scalar is
      largest at the end of the range, not where both are equal: hence the layer.

    With `training=True` a query does not see points of its own `x` (leave-one-out), so
    that a known point is predicted from the others. Everything is float32: in half
    precision different `x` would be equal. Time `O(T S)`, for `"attention"` with a
    factor of `hidden_dim`.

    Shapes: T queries, S known points.

    Args:
        num_points: S.
        kind: As above.
        bandwidth: Of the kernel, in units of `x`; where `"learned"` starts.
        hidden_dim: Size of the hidden layer, of queries and of keys.
        **kwargs: Those of `keras.Model`.

    Call args:
        x: `(T, 1)`.
        training: Whether to leave out points of the same `x`.

    Returns:
        `(T, 1)`; 0 where no point is left.

    Raises:
        ValueError: for an unknown kind, a size or bandwidth that is not positive.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import models
        >>> model = models.AttentionRegressor(3, "fixed", bandwidth=1.0)
        >>> model.remember(np.array([-1.0, 0.0, 1.0]), np.array([1.0, 5.0, 3.0]))
        >>> float(model(np.array([[0.0]]), training=True)[0, 0])  # without the 5
        2.0

    Source:
        Nadaraya 1964; Watson 1964. Scaled dot product: Vaswani et al. 2017,
        arXiv:1706.03762, equation 1.
    """

    def __init__(
        self, num_points, kind="attention", bandwidth=1.0, hidden_dim=32, **kwargs
    ):
        super().__init__(**{**kwargs, "dtype": "float32"})
        one_of("kind", kind, KINDS)
        positive_integer("hidden_dim", hidden_dim)
        self.kind = kind
        self._config = {
            "num_points": positive_integer("num_points", num_points),
            "kind": kind,
            "bandwidth": bandwidth,
            "hidden_dim": hidden_dim,
        }
        self.known_x, self.known_y = (
            self.add_weight(
                shape=(num_points, 1), initializer="zeros", trainable=False, name=name
            )
            for name in ("known_x", "known_y")
        )
        options = {"dtype": "float32"}
        if kind == "attention":
            self.hidden = keras.layers.Dense(
                hidden_dim,
                "tanh",
                kernel_initializer=keras.initializers.RandomNormal(stddev=1.0),
                name="hidden",
                **options,
            )
            self.query, self.key = (
                keras.layers.Dense(hidden_dim, use_bias=False, name=name, **options)
                for name in ("query", "key")
            )
            self.attention = layers.DotProductAttention(name="attention", **options)
        else:
            self.attention = layers.KernelAttention(
                bandwidth, learnable=kind == "learned", name="attention", **options
            )
        self.build((None, 1))

    def build(self, input_shape):
        if self.kind == "attention":
            self.hidden.build((1, None, 1))
            for projection in (self.query, self.key):
                projection.build((1, None, self.hidden.units))
        shape = (1, None, 1)
        self.attention.build(shape, shape, shape)
        self.built = True

    def remember(self, x: Any, y: Any) -> None:
        """Keep known points `(S,)` in the place of those there are."""
        for kept, numbers in ((self.known_x, x), (self.known_y, y)):
            numbers = ops.convert_to_tensor(numbers, dtype="float32")
            kept.assign(ops.reshape(numbers, kept.shape))

    def call(self, x, training=False):
        keys = ops.convert_to_tensor(self.known_x)
        others = ops.not_equal(x, ops.transpose(keys))[None] if training else None
        query, key = x, keys
        if self.kind == "attention":
            query, key = (
                project(self.hidden(self._scaled(points)))
                for project, points in ((self.query, x), (self.key, keys))
            )
        return self.attention(
            query[None],
            ops.convert_to_tensor(self.known_y)[None],
            key[None],
            attention_mask=others,
        )[0]

    def compute_output_shape(self, input_shape):
        return input_shape

    @property
    def bandwidth(self) -> float | None:
        """The kernel's now, in units of `x`; `None` without a kernel."""
        if self.kind == "attention":
            return None
        (bandwidth,) = self.attention.score_weights()
        return float(ops.convert_to_numpy(bandwidth))

    def get_config(self):
        return {**super().get_config(), **self._config}

    def _scaled(self, x: Tensor) -> Tensor:
        """`x` with the range of the known points moved to [-1, 1]."""
        low, high = ops.min(self.known_x), ops.max(self.known_x)
        return (2 * x - low - high) / ops.maximum(high - low, 1e-6)
