"""Attention over chosen axes of a tensor with more than three of them.

The attended axes are flattened into one sequence and the other axes join the batch, so
the layers themselves only ever see `(B, T, D)`.
"""

import math

from keras import ops

from keras_attention.errors import require
from keras_attention.ops import _backend


def as_tuple(axes):
    """An int, list or tuple of axes (or sizes) as a tuple; `None` stays."""
    if axes is None:
        return None
    return (axes,) if isinstance(axes, int) else tuple(axes)


def attended(rank: int, axes: tuple[int, ...] | None) -> tuple[int, ...]:
    """The attended axes, counted from the front."""
    if axes is None:
        return tuple(range(1, rank - 1))
    counted = tuple(axis + rank if axis < 0 else axis for axis in axes)
    require(
        all(0 < axis < rank - 1 for axis in counted) and len(set(counted)) == len(axes),
        "`attention_axes` must be different axes between batch and features.",
        attention_axes=axes,
        rank=rank,
    )
    return counted


def scores_shape(query_shape, value_shape, axes, num_heads):
    """Static shape of the scores: `(B, free axes..., N, T axes..., S axes...)`."""
    over = attended(len(query_shape), axes)
    free = [query_shape[a] for a in range(1, len(query_shape) - 1) if a not in over]
    queries = [query_shape[axis] for axis in over]
    keys = [value_shape[axis] for axis in over]
    return (query_shape[0], *free, num_heads, *queries, *keys)


class _Flattening:
    """Turns one tensor into `(B', L, D)` and back."""

    def __init__(self, tensor, axes):
        rank = len(tensor.shape)
        self.over = attended(rank, axes)
        self.free = tuple(a for a in range(1, rank - 1) if a not in self.over)
        self.order = (0, *self.free, *self.over, rank - 1)
        moved = [_backend.sizes(tensor)[axis] for axis in self.order]
        self.lead = moved[: 1 + len(self.free)]
        self.lengths = moved[1 + len(self.free) : -1]

    def flatten(self, tensor):
        width = tensor.shape[-1]
        lead, length = math.prod(self.lead), math.prod(self.lengths)
        return ops.reshape(ops.transpose(tensor, self.order), (lead, length, width))

    def flatten_mask(self, mask):
        """A mask with the tensor's axes but the last, as `(B', L)`."""
        if mask is None:
            return None
        return self.flatten(ops.convert_to_tensor(mask)[..., None])[..., 0]

    def spread(self, tensor):
        """`(B, ...)` or `(1, ...)`, the same at every free position: `(B', ...)`."""
        batch, *rest = _backend.sizes(tensor)
        if not self.free or (_backend.is_static(batch) and batch == 1):
            return tensor
        full = (batch, math.prod(self.lead[1:]), *rest)
        return ops.reshape(ops.broadcast_to(tensor[:, None], full), (-1, *rest))

    def restore(self, tensor):
        features = tensor.shape[2:]
        moved = ops.reshape(tensor, (*self.lead, *self.lengths, *features))
        order = self.order[:-1]
        back = sorted(range(len(order)), key=order.__getitem__)
        last = range(len(order), len(order) + len(features))
        return ops.transpose(moved, (*back, *last))


def call_flattened(call, axes, query, value, key=None, **options):
    """`call` on `(B', T, D)` tensors, the outputs restored to all axes.

    Masks of query, value and key have the axes of their tensor without the features.
    `attention_mask` and `attention_bias` stand for the flattened sequence: `T` and `S`
    are products of the attended axes. They hold for every position of the free axes.
    """
    shape = _Flattening(query, axes)
    value_shape = _Flattening(value, axes)
    options["query_mask"] = shape.flatten_mask(options["query_mask"])
    for name in ("value_mask", "key_mask"):
        options[name] = value_shape.flatten_mask(options[name])
    for name, rank in (("attention_mask", 3), ("attention_bias", 4)):
        if options[name] is not None and len(options[name].shape) >= rank:
            options[name] = shape.spread(ops.convert_to_tensor(options[name]))
    result = call(
        shape.flatten(query),
        value_shape.flatten(value),
        None if key is None else _Flattening(key, axes).flatten(key),
        **options,
    )
    if not options["return_attention_scores"]:
        return shape.restore(result)
    output, attention_scores = result
    heads = attention_scores.shape[1]
    full = (*shape.lead, heads, *shape.lengths, *value_shape.lengths)
    return shape.restore(output), ops.reshape(attention_scores, full)
