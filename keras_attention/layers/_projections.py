"""Projections into heads and back, and the options they share."""

from typing import Any

import keras
from keras import ops

from keras_attention.errors import positive_integer
from keras_attention.layers import _axes
from keras_attention.ops import _backend

_KINDS = {
    "initializer": keras.initializers,
    "regularizer": keras.regularizers,
    "constraint": keras.constraints,
}


class Projection(keras.layers.EinsumDense):
    """`EinsumDense` from the last axes of its input, as one product of matrices.

    For an einsum TensorFlow multiplies batches of matrices, which costs a step of
    decoding as much time to start as to compute.
    """

    def call(self, inputs, training=None):
        # In a symbolic call on PyTorch a variable has its own precision.
        kernel = ops.cast(self.kernel, inputs.dtype)
        outputs = _backend.project(inputs, kernel, self._contracted)
        if self.bias is not None:
            # `ops.add` of Keras 3.15 takes an (N, 1) for the last axis on TensorFlow.
            outputs = outputs + ops.cast(self.bias, inputs.dtype)
        return outputs if self.activation is None else self.activation(outputs)

    @property
    def _contracted(self) -> int:
        """How many axes of the input the kernel takes."""
        of_inputs, of_kernel = self.equation.split("->")[0].split(",")
        return len(set(of_inputs) & set(of_kernel))

    def quantize(self, mode=None, type_check=True, config=None):
        # The check is for subclasses that compute something else.
        super().quantize(mode, type_check=False, config=config)


class HeadProjections:
    """Before `keras.layers.Layer` among the bases: makes projections into heads.

    Args:
        num_heads: Number of heads, N.
        key_dim: Size of each head for query and key, H.
        value_dim: Size of each head for value, V; by default `key_dim`.
        use_bias: Whether the projections have a bias.
        output_shape: Size (or shape) of the output; by default the query's size.
        kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
        activity_regularizer, kernel_constraint, bias_constraint: As in
            `keras.layers.Dense`, for all projections.
        **kwargs: Those of the next base.
    """

    def __init__(
        self,
        *,
        num_heads: int,
        key_dim: int,
        value_dim: int | None = None,
        use_bias: bool = True,
        output_shape: Any = None,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.num_heads = positive_integer("num_heads", num_heads)
        self.key_dim = positive_integer("key_dim", key_dim)
        self.value_dim = positive_integer(
            "value_dim", key_dim if value_dim is None else value_dim
        )
        self.use_bias = use_bias
        self._output_shape = _axes.as_tuple(output_shape)
        given = {
            "kernel_initializer": kernel_initializer,
            "bias_initializer": bias_initializer,
            "kernel_regularizer": kernel_regularizer,
            "bias_regularizer": bias_regularizer,
            "activity_regularizer": activity_regularizer,
            "kernel_constraint": kernel_constraint,
            "bias_constraint": bias_constraint,
        }
        self._dense_options = {name: _kind(name).get(x) for name, x in given.items()}

    def _heads_dense(self, name, shape, heads, activation=None):
        """A built layer from `(B, L, D)` to `(B, L, N, H)` with `heads = (N, H)`."""
        dense = self._einsum_dense(
            "btd,dnh->btnh", (None, *heads), "nh", name, activation
        )
        dense.build((None, None, shape[-1]))
        return dense

    def _output_dense(self, query_shape):
        """A built layer from `(B, L, N, V)` to the output."""
        output_shape = self._output_shape or (query_shape[-1],)
        letters = "fgijk"[: len(output_shape)]
        dense = self._einsum_dense(
            f"btnh,nh{letters}->bt{letters}", (None, *output_shape), letters, "output"
        )
        dense.build((None, None, self.num_heads, self.value_dim))
        return dense

    def _einsum_dense(self, equation, output_shape, bias_axes, name, activation=None):
        dense = Projection(
            equation,
            output_shape=output_shape,
            bias_axes=bias_axes if self.use_bias else None,
            activation=activation,
            name=name,
            dtype=self.dtype_policy,
            **self._new_options(),
        )
        dense.supports_masking = True  # or it warns that it drops the mask
        return dense

    def _new_options(self):
        """The options for one projection: one initializer would start all alike."""
        return {
            name: x.clone() if isinstance(x, keras.Initializer) else x
            for name, x in self._dense_options.items()
        }

    def get_config(self):
        options = self._dense_options.items()
        return {
            **super().get_config(),
            "num_heads": self.num_heads,
            "key_dim": self.key_dim,
            "value_dim": self.value_dim,
            "use_bias": self.use_bias,
            "output_shape": self._output_shape,
            **{name: _kind(name).serialize(x) for name, x in options},
        }


def _kind(name: str) -> Any:
    """`keras.initializers` for `"kernel_initializer"`, and so on."""
    return _KINDS[name.rpartition("_")[2]]
