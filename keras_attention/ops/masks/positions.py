"""Masks of positions: whether query `i` may attend key `j` depends on both alone.

They are serializable and stand in layer configs.
"""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np

from keras_attention.errors import positive_integer
from keras_attention.ops.masks.base import Configured
from keras_attention.ops.masks.windows import (
    EMPTY,
    FULL,
    PARTIAL,
    Blocks,
    Order,
    Window,
)

Tensor = Any


class PositionMask(Configured):
    """A mask that depends on query and key positions alone; serializable."""

    @property
    def serializable(self) -> bool:
        return True

    def allows(self, query: Any, key: Any) -> Any:
        """Whether position `query` may attend `key`; arrays or tensors broadcast."""
        raise NotImplementedError

    def tile(self, window: Window) -> Tensor:
        query, key = window.query_positions(), window.key_positions()
        return self.allows(query[:, None], key[None, :])[None, None]


def states(empty: np.ndarray, full: np.ndarray, queries: Blocks, keys: Blocks) -> Any:
    """`EMPTY`, `FULL` or `PARTIAL` from where blocks are one of them."""
    shape = (len(queries), len(keys))
    return np.where(
        np.broadcast_to(empty, shape),
        EMPTY,
        np.where(np.broadcast_to(full, shape), FULL, PARTIAL),
    )


def distances(queries: Blocks, keys: Blocks) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of the least and the greatest `|i - j|` of each pair of blocks."""
    first_query, last_query = queries.first[:, None], queries.last[:, None]
    nearest = np.maximum(keys.first - last_query, first_query - keys.last)
    farthest = np.maximum(keys.last - first_query, last_query - keys.first)
    return np.maximum(nearest, 0), farthest


@keras.saving.register_keras_serializable(package="keras_attention")
class Causal(PositionMask):
    """A query attends its own position and earlier ones: `j <= i`."""

    def allows(self, query, key):
        return key <= query

    def block_states(self, queries, keys):
        empty = keys.first > queries.last[:, None]
        return states(empty, keys.last <= queries.first[:, None], queries, keys)


@keras.saving.register_keras_serializable(package="keras_attention")
class Local(PositionMask):
    """A query attends nearby positions: `|i - j| < window`, as `sliding_window` in
    Keras. Cost `O(T window)`.

    With `Causal()` that is exactly `window` keys, without it `2 * window - 1`.

    Args:
        window: Number of positions, the query's own one included.
    """

    def __init__(self, window: int):
        self.window = positive_integer("window", window)

    def allows(self, query, key):
        return (key - query < self.window) & (query - key < self.window)

    def block_states(self, queries, keys):
        nearest, farthest = distances(queries, keys)
        return states(nearest >= self.window, farthest < self.window, queries, keys)

    def get_config(self):
        return {"window": self.window}


@keras.saving.register_keras_serializable(package="keras_attention")
class Dilated(PositionMask):
    """Every `rate`-th position nearby: `|i - j| < window * rate` and `rate` divides
    `i - j`.

    The window of Longformer with gaps (Beltagy et al. 2020, arXiv:2004.05150, section
    3.1). Cost `O(T window)`: queries and keys are sorted by `position mod rate`, where
    a dilated window is a plain one.

    Args:
        window: Number of positions, the query's own one included, under `Causal()`;
            `None`: all.
        rate: Distance between positions that see each other.
    """

    def __init__(self, window: int | None, rate: int):
        self.window = None if window is None else positive_integer("window", window)
        self.rate = positive_integer("rate", rate)

    def allows(self, query, key):
        same = (query - key) % self.rate == 0
        if self.window is None:
            return same
        return same & Local(self.window * self.rate).allows(query, key)

    def block_states(self, queries, keys):
        low, high = (x[:, None] for x in queries.residues(self.rate))
        key_low, key_high = keys.residues(self.rate)
        apart = (key_low > high) | (key_high < low)
        same = (low == high) & (key_low == key_high) & (low == key_low)
        if self.window is not None:
            nearest, farthest = distances(queries, keys)
            apart = apart | (nearest >= self.window * self.rate)
            same = same & (farthest < self.window * self.rate)
        return states(apart, same, queries, keys)

    def orders(self, query_positions, key_length):
        keys = np.arange(key_length)
        by_residue = (np.lexsort((x, x % self.rate)) for x in (query_positions, keys))
        return [Order(*by_residue)]

    def get_config(self):
        return {"window": self.window, "rate": self.rate}


@keras.saving.register_keras_serializable(package="keras_attention")
class Block(PositionMask):
    """A query attends its own block: `i // size == j // size`. Cost `O(T size)`.

    Args:
        size: Positions of a block.
    """

    def __init__(self, size: int):
        self.size = positive_integer("size", size)

    def allows(self, query, key):
        return query // self.size == key // self.size

    def block_states(self, queries, keys):
        low, high = (x[:, None] // self.size for x in (queries.first, queries.last))
        key_low, key_high = keys.first // self.size, keys.last // self.size
        empty = (key_low > high) | (key_high < low)
        full = (low == high) & (key_low == key_high) & (low == key_low)
        return states(empty, full, queries, keys)

    def get_config(self):
        return {"size": self.size}


@keras.saving.register_keras_serializable(package="keras_attention")
class Prefix(PositionMask):
    """Every query attends the first positions: `j < length`. Cost `O(T length)`.

    `Causal() | Prefix(n)` reads a prompt of `n` positions in both directions and goes
    on from left to right (Raffel et al. 2020, arXiv:1910.10683, section 3.2.1).

    Args:
        length: Number of positions.
    """

    def __init__(self, length: int):
        self.length = positive_integer("length", length)

    def allows(self, query, key):
        return key < self.length

    def block_states(self, queries, keys):
        empty, full = keys.first >= self.length, keys.last < self.length
        return states(empty, full, queries, keys)

    def get_config(self):
        return {"length": self.length}


@keras.saving.register_keras_serializable(package="keras_attention")
class Predicate(PositionMask):
    """What a function of your own allows.

    Where lengths are known before run time, the function is asked about every pair
    once, so that blocks it leaves empty cost nothing.

    Args:
        function: `function(query, key) -> bool` on integer positions that broadcast,
            NumPy arrays as well as tensors: `lambda i, j: (i - j) % 3 < 2`. To save a
            layer that has it, register it with
            `keras.saving.register_keras_serializable`.
    """

    def __init__(self, function: Callable[[Any, Any], Any]):
        is_config = isinstance(function, (dict, str))
        restore = keras.saving.deserialize_keras_object
        self.function = restore(function) if is_config else function
        self._known_states: dict[tuple[bytes, ...], np.ndarray] = {}

    @property
    def serializable(self) -> bool:
        if not hasattr(self.function, "__name__"):  # such as a `functools.partial`
            return False
        name = keras.saving.get_registered_name(self.function)
        return keras.saving.get_registered_object(name) is self.function

    def _identity(self):
        return (self.function,)

    def __repr__(self):
        return f"Predicate({getattr(self.function, '__name__', self.function)})"

    def allows(self, query, key):
        return self.function(query, key) & (query == query)  # always of rank 2

    def block_states(self, queries, keys):
        parts = (queries.positions, queries.starts, keys.positions, keys.starts)
        asked = tuple(part.tobytes() for part in parts)
        if asked not in self._known_states:
            self._known_states[asked] = self._states(queries, keys)
        return self._known_states[asked]

    def _states(self, queries: Blocks, keys: Blocks) -> np.ndarray:
        rows = np.split(queries.positions, queries.starts[1:])
        found = np.empty((len(queries), len(keys)), int)
        for index, row in enumerate(rows):
            allowed = self.allows(row[:, None], keys.positions[None])
            allowed = np.broadcast_to(allowed, (len(row), len(keys.positions)))
            some = np.logical_or.reduceat(allowed.any(axis=0), keys.starts)
            every = np.logical_and.reduceat(allowed.all(axis=0), keys.starts)
            found[index] = np.where(every, FULL, np.where(some, PARTIAL, EMPTY))
        return found

    def get_config(self):
        return {"function": keras.saving.serialize_keras_object(self.function)}
