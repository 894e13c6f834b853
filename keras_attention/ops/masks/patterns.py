"""Known sparse patterns, each a union of simpler masks of positions.

The engine computes the parts one after the other, each in the order in which it lies
together, and merges their softmaxes: the cost is the sum of the parts'.
"""

import functools

import keras
import numpy as np

from keras_attention.errors import positive_integer, require
from keras_attention.ops.masks.base import Or
from keras_attention.ops.masks.positions import (
    Block,
    Dilated,
    Local,
    PositionMask,
    Prefix,
    states,
)
from keras_attention.ops.masks.windows import Order


class Pattern(PositionMask):
    """The union of `parts()`."""

    def parts(self) -> list[PositionMask]:
        raise NotImplementedError

    def allows(self, query, key):
        allowed = (part.allows(query, key) for part in self.parts())
        return functools.reduce(lambda a, b: a | b, allowed)

    def block_states(self, queries, keys):
        found = (part.block_states(queries, keys) for part in self.parts())
        return functools.reduce(np.maximum, found)

    def terms(self):
        return [term for part in self.parts() for term in part.terms()]


@keras.saving.register_keras_serializable(package="keras_attention")
class Strided(Pattern):
    """The last `stride` positions and every `stride`-th one.

    Cost `O(T (stride + T / stride))`, so `O(T sqrt(T))` at `stride = sqrt(T)`. Suits
    data with a period, such as rows of an image. Add `& Causal()` for the pattern of
    the paper.

    Args:
        stride: Distance between the positions that all see each other.

    Source:
        Child et al. 2019, arXiv:1904.10509, section 4.3, strided attention.
    """

    def __init__(self, stride: int):
        self.stride = positive_integer("stride", stride)

    def parts(self):
        return [Local(self.stride), Dilated(None, self.stride)]

    def get_config(self):
        return {"stride": self.stride}


@keras.saving.register_keras_serializable(package="keras_attention")
class Fixed(Pattern):
    """The query's own block and the last `summary` positions of every block.

    Cost `O(T (block_size + summary T / block_size))`. Suits text, where a period means
    nothing. Add `& Causal()` for the pattern of the paper.

    Args:
        block_size: Positions of a block.
        summary: Positions at the end of each block that everyone sees.

    Raises:
        ValueError: for a summary larger than its block.

    Source:
        Child et al. 2019, arXiv:1904.10509, section 4.3, fixed attention.
    """

    def __init__(self, block_size: int, summary: int = 1):
        self.block_size = positive_integer("block_size", block_size)
        self.summary = positive_integer("summary", summary)
        require(
            summary <= block_size,
            "`summary` must not exceed `block_size`.",
            summary=summary,
            block_size=block_size,
        )

    def parts(self):
        return [Block(self.block_size), _Ends(self.block_size, self.summary)]

    def get_config(self):
        return {"block_size": self.block_size, "summary": self.summary}


@keras.saving.register_keras_serializable(package="keras_attention")
class Global(Pattern):
    """The first positions attend everything and are attended by everything.

    Cost `O(T tokens)`. With `Local` the pattern of Longformer.

    Args:
        tokens: Number of positions.

    Source:
        Beltagy et al. 2020, arXiv:2004.05150, section 3.1.
    """

    def __init__(self, tokens: int):
        self.tokens = positive_integer("tokens", tokens)

    def parts(self):
        return [Prefix(self.tokens), _FirstQueries(self.tokens)]

    def get_config(self):
        return {"tokens": self.tokens}


@keras.saving.register_keras_serializable(package="keras_attention")
class RandomBlocks(Pattern):
    """Each block of queries attends some blocks of keys drawn once, by a seed.

    Cost `O(T blocks max(block_size, 128))`, as keys are computed in runs of 128, for up
    to 12 blocks together with the other terms of a union; beyond that every score is
    computed.

    Args:
        blocks: Blocks of keys for each block of queries, all different.
        block_size: Positions of a block.
        max_length: Keys are drawn below this position.
        seed: Of the draw.

    Source:
        Zaheer et al. 2020, arXiv:2007.14062, section 2 and appendix D.
    """

    def __init__(self, blocks: int, block_size: int, max_length: int, seed: int = 0):
        self.blocks = positive_integer("blocks", blocks)
        self.block_size = positive_integer("block_size", block_size)
        self.max_length = positive_integer("max_length", max_length)
        self.seed = seed
        available = -(-max_length // block_size)
        require(
            blocks <= available,
            "`blocks` must not exceed the blocks of `max_length`.",
            blocks=blocks,
            available=available,
        )

    def parts(self):
        shared = (self.blocks, self.block_size, self.max_length, self.seed)
        return [_RandomBlock(index, *shared) for index in range(self.blocks)]

    def get_config(self):
        return {
            "blocks": self.blocks,
            "block_size": self.block_size,
            "max_length": self.max_length,
            "seed": self.seed,
        }


def BigBird(  # noqa: N802 (stands beside classes)
    window: int,
    tokens: int,
    random_blocks: int,
    block_size: int,
    max_length: int,
    seed: int = 0,
) -> Or:
    """`Local(window) | Global(tokens) | RandomBlocks(...)`.

    Cost `O(T (window + tokens + random_blocks max(block_size, 128)))`.

    Source:
        Zaheer et al. 2020, arXiv:2007.14062, section 2.
    """
    drawn = RandomBlocks(random_blocks, block_size, max_length, seed)
    return Or(Local(window) | Global(tokens), drawn)


# ------------------------------------------------------------------------------- parts


@keras.saving.register_keras_serializable(package="keras_attention")
class _Ends(PositionMask):
    """Every query attends the last `summary` positions of each block."""

    def __init__(self, block_size: int, summary: int):
        self.block_size, self.summary = block_size, summary

    def allows(self, query, key):
        return key % self.block_size >= self.block_size - self.summary

    def block_states(self, queries, keys):
        low, high = keys.residues(self.block_size)
        begin = self.block_size - self.summary
        return states(high < begin, low >= begin, queries, keys)

    def orders(self, query_positions, key_length):
        keys = np.arange(key_length)
        return [Order(keys=keys[self.allows(0, keys)])]

    def get_config(self):
        return {"block_size": self.block_size, "summary": self.summary}


@keras.saving.register_keras_serializable(package="keras_attention")
class _FirstQueries(PositionMask):
    """The first queries attend everything."""

    def __init__(self, tokens: int):
        self.tokens = tokens

    def allows(self, query, key):
        return query < self.tokens

    def block_states(self, queries, keys):
        empty, full = queries.first >= self.tokens, queries.last < self.tokens
        return states(empty[:, None], full[:, None], queries, keys)

    def get_config(self):
        return {"tokens": self.tokens}


@keras.saving.register_keras_serializable(package="keras_attention")
class _RandomBlock(PositionMask):
    """The `index`-th block of keys drawn for each block of queries."""

    def __init__(
        self, index: int, blocks: int, block_size: int, max_length: int, seed: int
    ):
        self.index, self.blocks, self.block_size = index, blocks, block_size
        self.max_length, self.seed = max_length, seed

    def drawn(self) -> np.ndarray:
        """Block of keys for every block of queries."""
        count = -(-self.max_length // self.block_size)
        return _drawn(count, self.blocks, self.seed)[:, self.index]

    def allows(self, query, key):
        drawn = self.drawn()
        block = keras.ops.clip(query // self.block_size, 0, len(drawn) - 1)
        return key // self.block_size == keras.ops.take(drawn, block)

    def block_states(self, queries, keys):
        drawn = self.drawn()
        rows = np.clip(queries.positions // self.block_size, 0, len(drawn) - 1)
        low = np.minimum.reduceat(drawn[rows], queries.starts)[:, None]
        high = np.maximum.reduceat(drawn[rows], queries.starts)[:, None]
        key_low, key_high = keys.first // self.block_size, keys.last // self.block_size
        empty = (key_low > high) | (key_high < low)
        full = (low == high) & (key_low == key_high) & (low == key_low)
        return states(empty, full, queries, keys)

    def tile_rows(self, rows):
        return min(rows, self.block_size)

    def get_config(self):
        return {
            "index": self.index,
            "blocks": self.blocks,
            "block_size": self.block_size,
            "max_length": self.max_length,
            "seed": self.seed,
        }


@functools.lru_cache
def _drawn(count: int, blocks: int, seed: int) -> np.ndarray:
    """`(count, blocks)`: different blocks of keys for every block of queries."""
    random = np.random.default_rng(seed)
    drawn = random.integers(0, count, (count, blocks))
    while True:
        in_order = np.sort(drawn, axis=1)
        again = (in_order[:, 1:] == in_order[:, :-1]).any(axis=1)
        if not again.any():
            return drawn.astype("int32")
        drawn[again] = random.integers(0, count, (again.sum(), blocks))
