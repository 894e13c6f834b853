"""A while loop over trees, and what a search does to the trees of a model."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from keras_attention.errors import require

Tensor = Any
Tree = Any


def while_loop(
    proceed: Callable[..., Tensor], advance: Callable[..., tuple], carry: tuple
) -> tuple:
    """`keras.ops.while_loop` over trees, with shapes and dtypes kept.

    TensorFlow refuses a loop whose body forgets a static shape it was given, as a
    gather or a reshape may; here such a shape is put back. A tensor that `advance`
    returns as the very object it got is handed on as it is.

    Args:
        proceed: Called with the items of the carry; a scalar bool.
        advance: Called with the items of the carry; returns the next ones.
        carry: Trees of tensors. `None` may stand for a tensor and stays `None`.

    Returns:
        The last carry.

    Raises:
        ValueError: `advance` returns other leaves, shapes or dtypes than it got.
    """
    leaves = keras.tree.flatten(carry)

    def pack(values: tuple) -> Any:
        following = iter(values)
        filled = [None if leaf is None else next(following) for leaf in leaves]
        return keras.tree.pack_sequence_as(carry, filled)

    def body(*values: Tensor) -> tuple:
        before = pack(values)
        after = _leaves(advance(*before), before)
        tensors = [leaf for leaf in after if leaf is not None]
        return tuple(map(_like, tensors, values))

    tensors = tuple(leaf for leaf in leaves if leaf is not None)
    return pack(ops.while_loop(lambda *values: proceed(*pack(values)), body, tensors))


def as_tensors(state: Tree) -> Tree:
    """Every leaf as a tensor; `None` stays."""
    return keras.tree.map_structure(
        lambda leaf: None if leaf is None else ops.convert_to_tensor(leaf), state
    )


def repeat_rows(state: Tree, times: int) -> Tree:
    """Repeat every row of every batched leaf: (B, ...) to (B * times, ...)."""
    if times == 1:
        return state
    return keras.tree.map_structure(
        lambda leaf: ops.repeat(leaf, times, axis=0) if _batched(leaf) else leaf, state
    )


def reorder_rows(after: Tree, before: Tree, rows: Tensor) -> Tree:
    """Take `rows` of every batched leaf that the step has changed.

    A leaf that is the very object the step was given holds the same for all the
    hypotheses of an item, such as the encoder's output, and stays where it is.
    """
    leaves = [
        ops.take(new, rows, axis=0) if new is not old and _batched(new) else new
        for new, old in zip(
            _leaves(after, before), keras.tree.flatten(before), strict=True
        )
    ]
    return keras.tree.pack_sequence_as(before, leaves)


def _leaves(after: Tree, before: Tree) -> list:
    """The leaves of `after`: as many as in `before`, with `None` in the same places."""
    leaves, received = keras.tree.flatten(after), keras.tree.flatten(before)
    require(
        [leaf is None for leaf in leaves] == [leaf is None for leaf in received],
        "A step must return a state of the structure it received.",
        returned=len(leaves),
        received=len(received),
    )
    return leaves


def _batched(leaf: Tensor) -> bool:
    return leaf is not None and len(leaf.shape) > 0


def _like(new: Tensor, old: Tensor) -> Tensor:
    """`new` with the static shape of `old`; an error if it cannot have it."""
    if new is old:
        return new
    new = ops.convert_to_tensor(new)
    got, expected = tuple(new.shape), tuple(old.shape)
    fits = len(got) == len(expected) and all(
        a is None or b is None or a == b for a, b in zip(got, expected, strict=True)
    )
    dtypes = [keras.backend.standardize_dtype(tensor.dtype) for tensor in (new, old)]
    require(
        fits and dtypes[0] == dtypes[1],
        "A step must return a state of the shapes and dtypes it received; a cache "
        "has its full length from the start.",
        received=(expected, dtypes[1]),
        returned=(got, dtypes[0]),
    )
    # A search has no gradient; PyTorch would otherwise keep the graph of every step.
    new = ops.stop_gradient(new)
    return new if got == expected else ops.reshape(new, ops.shape(old))
