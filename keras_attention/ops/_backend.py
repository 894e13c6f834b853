"""The one place with backend-specific code.

Keras has no sequential loop that stacks results, no vector-Jacobian product and no
dropout from a seed tensor. The blockwise engine needs the three, CTC's loss a loop that
XLA can differentiate; everything else in the library is `keras.ops`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import keras
from keras.src import backend as keras_backend  # these have no public alias
from keras.src.backend.common.stateless_scope import in_stateless_scope
from keras.src.utils.jax_utils import is_in_jax_tracing_scope

BACKEND = keras.backend.backend()

if BACKEND == "tensorflow":
    import tensorflow as tf
elif BACKEND == "jax":
    import jax
elif BACKEND == "torch":
    import torch
else:
    raise ImportError(
        "keras_attention runs on the Keras backends tensorflow, jax and torch. "
        f"Received: KERAS_BACKEND={BACKEND!r}."
    )

Tensor = Any
Size = Any  # a Python int where it is known, else an integer scalar tensor


class Spec(NamedTuple):
    """Shape (`None` where unknown) and dtype of what a step of `scan` emits."""

    shape: tuple
    dtype: str


def sizes(tensor: Tensor) -> tuple[Size, ...]:
    """The shape with Python ints where known and scalar tensors elsewhere."""
    return tuple(keras.ops.shape(tensor))


def read(x: Any) -> Tensor:
    """`x` as a plain tensor; a variable gives its value.

    `keras.ops.convert_to_tensor` leaves TensorFlow's variables what they are, and
    `custom_gradient` refuses variables.
    """
    x = keras.ops.convert_to_tensor(x)
    return tf.convert_to_tensor(x) if BACKEND == "tensorflow" else x


def untaped(x: Tensor) -> Tensor:
    """`x` for the inside of a function that has a gradient of its own.

    Eager TensorFlow would record what happens there as well, and PyTorch would tie the
    output to itself. JAX must not lose sight of `x`: for second gradients it
    differentiates the inside.
    """
    return x if BACKEND == "jax" else keras.ops.stop_gradient(x)


def differentiable_once(x: Tensor) -> Tensor:
    """A gradient that TensorFlow may not differentiate again: it would get it wrong."""
    if BACKEND != "tensorflow":
        return x

    @tf.custom_gradient
    def identity(x):
        def second(*_):
            raise NotImplementedError(
                "The blockwise path has no second gradient on TensorFlow. Take "
                "implementation='dense', or flash_attention=False of a layer."
            )

        return tf.identity(x), second

    return identity(x)


def as_written(function: Callable) -> Callable:
    """`function` without TensorFlow's AutoGraph, which would translate all it calls.

    That takes seconds inside a `tf.function`. A function of the user's own that is
    called inside branches on tensors with `keras.ops.cond` and `where`.
    """
    if BACKEND == "tensorflow":
        return tf.autograph.experimental.do_not_convert(function)
    return function


def loses_state() -> bool:
    """Whether a variable assigned here is lost: JAX is tracing, and not for Keras."""
    if BACKEND != "jax":
        return False
    return is_in_jax_tracing_scope() and not in_stateless_scope()


def is_static(*values: Size) -> bool:
    return all(isinstance(value, int) for value in values)


def require_at_run_time(conditions: list, expected: str, **received: Any) -> None:
    """As `errors.require`, of sizes that only a TensorFlow graph that runs knows.

    The other backends know every size before; there, and under XLA, this does nothing.

    Args:
        conditions: What must be true, each a boolean or a scalar tensor.
        expected: As in `errors.require`.
        **received: As in `errors.require`; sizes and sequences of them.
    """
    if BACKEND == "tensorflow":
        words: list = [f"{expected} Received:"]
        for name, value in received.items():
            words += [f"{name}=", tf.stack(value)]
        tf.debugging.Assert(tf.reduce_all(tf.stack(conditions)), words)


def has_fused_attention(key: Tensor, value: Tensor) -> bool:
    """Whether `keras.ops.dot_product_attention` never holds `T x S` scores here.

    PyTorch has such a kernel on every device and JAX on GPUs for half precision, both
    for values as wide as keys; TensorFlow has none. (On TPUs Keras 3.15 applies the
    mask of the first row to all.)
    """
    if BACKEND == "tensorflow" or key.shape[-1] != value.shape[-1]:
        return False
    is_half = keras.backend.standardize_dtype(key.dtype) in ("float16", "bfloat16")
    return BACKEND == "torch" or (is_half and jax.default_backend() == "gpu")


def has_ctc_loss() -> bool:
    """Whether `keras.ops.ctc_loss` is fast, and right for improbable labels too."""
    return BACKEND != "tensorflow"


def matmul_transposed(a: Tensor, b: Tensor) -> Tensor:
    """`a @ b^T` over the last two axes.

    TensorFlow's gradient of `matmul(a, swapaxes(b))` would copy the gradient of `b` to
    turn it over.
    """
    if BACKEND != "tensorflow":
        return keras.ops.matmul(a, keras.ops.swapaxes(b, -1, -2))
    batch = a.shape[:-2], b.shape[:-2]
    if len(batch[0]) < 2 or any(size != 1 for axes in batch for size in axes):
        return tf.matmul(a, b, transpose_b=True)
    # TensorFlow 2.21 multiplies bfloat16 wrongly on processors with AMX where there are
    # several batch axes and all are 1, for some lengths of `b` (50, 53, 63).
    first = (0,) * len(batch[0])
    product = tf.matmul(a[first], b[first], transpose_b=True)
    return tf.reshape(product, (*batch[0], *sizes(product)))


def get_mask(tensor: Tensor) -> Tensor | None:
    """Keras's hidden mask of a tensor."""
    return keras_backend.get_keras_mask(tensor)


def set_mask(tensor: Tensor, mask: Tensor | None) -> Tensor:
    """Attach `mask` to `tensor` as Keras's hidden mask and return the tensor."""
    keras_backend.set_keras_mask(tensor, mask)
    return tensor


# ------------------------------------------------------------------ sequential loop


def scan(
    step: Callable[[Any, Tensor], tuple[Any, tuple]],
    carry: tuple,
    length: Size,
    emits: tuple[Spec, ...],
    after: tuple[Tensor, ...] = (),
) -> tuple[tuple, tuple]:
    """Run `step(carry, index) -> (carry, outputs)` strictly one after the other.

    The point is memory: the intermediate tensors of one step are gone before the next
    begins. An unrolled loop, or `keras.ops.map` on TensorFlow, holds several at once.

    Args:
        step: One step.
        carry: What the first step receives.
        length: Number of steps.
        emits: Shape and dtype of each output of a step.
        after: Tensors that are computed before the loop begins; TensorFlow's graphs
            start independent loops together otherwise.

    Returns:
        The last carry, and each output stacked along a new first axis.
    """
    if is_static(length) and length == 1:
        carry, outputs = step(carry, 0)
        return carry, tuple(keras.ops.expand_dims(x, 0) for x in outputs)
    if BACKEND == "tensorflow":
        return _scan_tensorflow(step, carry, length, emits, after)
    if BACKEND == "jax":
        return jax.lax.scan(step, tuple(carry), jax.numpy.arange(length))
    collected: list[tuple] = []
    for index in range(length):
        carry, outputs = step(carry, index)
        collected.append(outputs)
    return carry, tuple(torch.stack(column) for column in zip(*collected, strict=True))


def _scan_tensorflow(step, carry, length, emits, after):
    arrays = tuple(
        tf.TensorArray(spec.dtype, length, element_shape=spec.shape) for spec in emits
    )

    def body(index, carry, arrays):
        carry, outputs = step(carry, index)
        arrays = tuple(a.write(index, x) for a, x in zip(arrays, outputs, strict=True))
        return index + 1, carry, arrays

    with tf.control_dependencies(after):
        first = tf.identity(tf.constant(0))
    _, carry, arrays = tf.while_loop(
        lambda index, *_: index < length,
        body,
        (first, tuple(carry), arrays),
        parallel_iterations=1,
        maximum_iterations=length,  # XLA cannot differentiate the loop without
    )
    return carry, tuple(array.stack() for array in arrays)


def fold(
    step: Callable[[Tensor, Tensor], Tensor], carry: Tensor, rows: Tensor
) -> Tensor:
    """The last carry of `carry = step(carry, row)` over the first axis of `rows`.

    Unlike in `scan` the gradient for a row costs no more than the row. Unlike in
    `keras.ops.scan` TensorFlow knows how many steps there are at most, without which
    XLA cannot differentiate the loop.
    """
    if BACKEND != "tensorflow":
        return keras.ops.scan(lambda *x: (step(*x), None), carry, rows)[0]
    count = sizes(rows)[0]
    array = tf.TensorArray(rows.dtype, count, element_shape=rows.shape[1:])
    array = array.unstack(rows)
    _, carry = tf.while_loop(
        lambda index, _: index < count,
        lambda index, carry: (index + 1, step(carry, array.read(index))),
        (tf.constant(0), carry),
        maximum_iterations=count,
    )
    return carry


def add_to_slice(tensor: Tensor, start: tuple, update: Tensor) -> Tensor:
    """`tensor` with `update` added at `start`."""
    if is_static(*sizes(tensor)) and tuple(tensor.shape) == tuple(update.shape):
        return tensor + update
    old = keras.ops.slice(tensor, start, sizes(update))
    return keras.ops.slice_update(tensor, start, old + update)


def write_rows(tensor: Tensor, start: Any, rows: Tensor) -> Tensor:
    """`tensor` `(B, N, L, H)` with `rows` `(B, N, T, H)` from place `start` on.

    With `keras.ops.slice_update`, a program of XLA for each call, decoding takes 1 to
    14 % more CPU time in TensorFlow's graphs and 1 to 4 % more under XLA.
    """
    if BACKEND != "tensorflow":
        return keras.ops.slice_update(tensor, (0, 0, start, 0), rows)
    batch, heads, count, _ = sizes(rows)
    axes = tf.range(batch), tf.range(heads), tf.range(count) + start
    places = tf.stack(tf.meshgrid(*axes, indexing="ij"), axis=-1)
    return tf.tensor_scatter_nd_update(tensor, places, rows)


def project(inputs: Tensor, kernel: Tensor, axes: int) -> Tensor:
    """`inputs` times `kernel` over the last and first `axes` of them.

    XLA multiplies a single row by a kernel of heads in a plain loop, and two rows by a
    product of matrices, which is faster in spite of the second: it is dropped.
    """
    is_one_row = all(size == 1 for size in inputs.shape[:-axes])
    if not is_one_row or BACKEND == "torch":
        return keras.ops.tensordot(inputs, kernel, axes=axes)
    twice = keras.ops.concatenate([inputs, inputs], axis=0)
    return keras.ops.tensordot(twice, kernel, axes=axes)[:1]


# ------------------------------------------------------------ vector-Jacobian product


def vjp(function: Callable, *args: Tensor) -> tuple[Tensor, Callable]:
    """`function(*args)` and the function that pulls a cotangent back to `args`."""
    return _VJPS[BACKEND](function, *args)


def _vjp_tensorflow(function, *args):
    args = tuple(tf.convert_to_tensor(x) for x in args)
    with tf.GradientTape() as tape:
        tape.watch(args)
        output = function(*args)

    def pull_back(cotangent):
        return tape.gradient(
            output, args, cotangent, unconnected_gradients=tf.UnconnectedGradients.ZERO
        )

    return output, pull_back


def _vjp_jax(function, *args):
    return jax.vjp(function, *args)


def _vjp_torch(function, *args):
    leaves = [x.detach().requires_grad_() for x in args]
    with torch.enable_grad():
        output = function(*leaves)

    def pull_back(cotangent):
        grads = torch.autograd.grad(output, leaves, cotangent, allow_unused=True)
        pairs = zip(grads, leaves, strict=True)
        return tuple(torch.zeros_like(x) if g is None else g for g, x in pairs)

    return output.detach(), pull_back


_VJPS = {"tensorflow": _vjp_tensorflow, "jax": _vjp_jax, "torch": _vjp_torch}


# ------------------------------------------------------------------ stateless dropout


def keep_mask(seed: Tensor, index: Tensor, shape: tuple, rate: float) -> Tensor:
    """Boolean tensor, True with probability `1 - rate`, fixed by `(seed, index)`.

    Args:
        seed: Integer tensor of shape `(2,)`, as `SeedGenerator.next()` gives.
        index: Integer scalar: which tile of the call this is.
        shape: Shape of the result.
        rate: Share of False entries, in [0, 1).
    """
    return uniform(seed, index, shape) >= rate


def uniform(seed: Tensor, index: Tensor, shape: tuple) -> Tensor:
    """float32 numbers in [0, 1), fixed by `(seed, index)` as in `keep_mask`.

    On a CPU those of the first rows do not depend on how many rows there are.
    """
    return _UNIFORMS[BACKEND](seed, index, shape)


def _uniform_tensorflow(seed, index, shape):
    seed = tf.bitcast(tf.cast(seed, "uint32"), "int32")
    seed = tf.random.experimental.stateless_fold_in(seed, index)
    return tf.random.stateless_uniform(shape, seed)


def _uniform_jax(seed, index, shape):
    key = jax.random.fold_in(seed.astype("uint32"), index)
    return jax.random.uniform(key, shape)


def _uniform_torch(seed, index, shape):
    first, second = (int(x) for x in seed.tolist())
    generator = torch.Generator(device=seed.device)
    mixed = (first * 2654435761 + second * 40503 + int(index) * 97) % 2**63
    generator.manual_seed(mixed)
    return torch.rand(shape, generator=generator, device=seed.device)


_UNIFORMS = {
    "tensorflow": _uniform_tensorflow,
    "jax": _uniform_jax,
    "torch": _uniform_torch,
}
