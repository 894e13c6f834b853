"""The one way tests differentiate, compile and read numbers on every backend."""

from collections.abc import Callable, Iterable
from typing import Any

import keras
import numpy as np
import pytest
from keras import ops
from keras.src import backend as keras_backend  # hidden masks have no public access

BACKEND = keras.backend.backend()

tensorflow_only = pytest.mark.skipif(
    BACKEND != "tensorflow", reason="a property of TensorFlow"
)
jax_only = pytest.mark.skipif(BACKEND != "jax", reason="a property of JAX")
torch_only = pytest.mark.skipif(BACKEND != "torch", reason="a property of PyTorch")


def slow_on_jax(cases: Iterable, *fast: Any) -> list:
    """`cases` for `parametrize`; JAX compiles each: there all but `fast` are slow."""
    return [
        pytest.param(x, marks=pytest.mark.slow)
        if BACKEND == "jax" and x not in fast
        else x
        for x in cases
    ]


def thorough_but(kept: Iterable, cases: Iterable) -> list:
    """`cases` for `parametrize`: all but `kept`, which stand for them, are thorough."""
    kept = list(kept)
    return [
        pytest.param(
            *(x if isinstance(x, tuple) else (x,)),
            marks=() if x in kept else pytest.mark.thorough,
        )
        for x in cases
    ]


def to_numpy(x: Any) -> np.ndarray:
    """Any tensor as a NumPy array; half precision becomes float32."""
    if hasattr(x, "dtype") and "float16" in str(x.dtype):
        x = ops.cast(x, "float32")
    return np.asarray(ops.convert_to_numpy(x))


def tensor(*shape: int, seed: int = 0, dtype: str = "float32") -> Any:
    """Normally distributed numbers, fixed by `seed` and shape."""
    numbers = np.random.default_rng([seed, *shape]).normal(size=shape)
    return ops.convert_to_tensor(numbers, dtype=dtype)


def compiled(function: Callable, jit: bool = False) -> Callable:
    """`function` as its backend compiles it; `jit` asks TensorFlow for XLA."""
    if BACKEND == "tensorflow":
        import tensorflow as tf

        return tf.function(function, jit_compile=jit, autograph=False)
    if BACKEND == "jax":
        import jax

        return jax.jit(function)
    return function


def value_and_gradients(
    function: Callable, *tensors: Any, jit: bool | None = None
) -> tuple[np.ndarray, list[np.ndarray]]:
    """`function(*tensors)`, and the gradient of `sum(sin(value))` for each tensor.

    The sine gives every entry of the value an upstream gradient of its own. On
    TensorFlow `jit=None` runs eagerly, `False` in a graph, `True` under XLA; JAX always
    compiles and PyTorch never does.
    """
    step = _STEPS[BACKEND](function)
    if BACKEND == "jax" or (BACKEND == "tensorflow" and jit is not None):
        step = compiled(step, bool(jit))
    value, gradients = step(*tensors)
    return to_numpy(value), [to_numpy(gradient) for gradient in gradients]


def _loss(value: Any) -> Any:
    return ops.sum(ops.sin(ops.cast(value, "float32")))


def _tensorflow_step(function: Callable) -> Callable:
    import tensorflow as tf

    def step(*tensors):
        with tf.GradientTape() as tape:
            tape.watch(tensors)
            value = function(*tensors)
            loss = _loss(value)
        unconnected = tf.UnconnectedGradients.ZERO
        gradients = tape.gradient(loss, tensors, unconnected_gradients=unconnected)
        return value, gradients

    return step


def _jax_step(function: Callable) -> Callable:
    import jax

    def step(*tensors):
        def with_value(*tensors):
            value = function(*tensors)
            return _loss(value), value

        indices = tuple(range(len(tensors)))
        differentiate = jax.value_and_grad(with_value, indices, has_aux=True)
        (_, value), gradients = differentiate(*tensors)
        return value, gradients

    return step


def _torch_step(function: Callable) -> Callable:
    import torch

    def step(*tensors):
        leaves = [x.detach().clone().requires_grad_() for x in tensors]
        value = function(*leaves)
        loss = _loss(value)
        if loss.requires_grad:
            loss.backward()
        gradients = [torch.zeros_like(x) if x.grad is None else x.grad for x in leaves]
        return value.detach(), gradients

    return step


_STEPS = {"tensorflow": _tensorflow_step, "jax": _jax_step, "torch": _torch_step}


def of_variables(layer: Any, function: Callable) -> tuple[Callable, list]:
    """`function` as a pure function of the layer's trainable variables first.

    Returns:
        `pure(*variable_values, *tensors)` and the present values.
    """
    variables = layer.trainable_variables
    count = len(variables)

    def pure(*tensors):
        mapping = list(zip(variables, tensors[:count], strict=True))
        with keras.StatelessScope(state_mapping=mapping):
            return function(*tensors[count:])

    return pure, [ops.convert_to_tensor(to_numpy(x)) for x in variables]


def with_mask(x: Any, mask: Any) -> Any:
    """`x` with `mask` as its hidden mask, as an `Embedding` layer attaches it."""
    keras_backend.set_keras_mask(x, ops.convert_to_tensor(mask))
    return x


def mask_of(x: Any) -> np.ndarray | None:
    """The hidden mask of `x`."""
    mask = keras_backend.get_keras_mask(x)
    return None if mask is None else to_numpy(mask)


def second_gradient(function, query, key, value):
    """The gradient for `key` of the sum of squares of the gradient for `query`."""

    def loss(query, key):
        return ops.sum(ops.sin(function(query, key, value)))

    if BACKEND == "tensorflow":
        import tensorflow as tf

        with tf.GradientTape() as outer:
            outer.watch(key)
            with tf.GradientTape() as inner:
                inner.watch(query)
                first = loss(query, key)
            squares = tf.reduce_sum(inner.gradient(first, query) ** 2)
        return to_numpy(outer.gradient(squares, key))
    if BACKEND == "jax":
        import jax

        def squares(key):
            return (jax.grad(loss)(query, key) ** 2).sum()

        return to_numpy(jax.jit(jax.grad(squares))(key))
    import torch

    query, key = (x.detach().clone().requires_grad_() for x in (query, key))
    (first,) = torch.autograd.grad(loss(query, key), query, create_graph=True)
    return to_numpy(torch.autograd.grad((first**2).sum(), key)[0])
