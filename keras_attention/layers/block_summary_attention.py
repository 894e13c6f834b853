"""Block attention with a summary of every other block."""

from typing import Any, NamedTuple

import keras

from keras_attention.errors import positive_integer, require
from keras_attention.layers.multi_head_attention import MultiHeadAttention
from keras_attention.ops import masks
from keras_attention.ops.block_summary import attend_blocks

Tensor = Any


@keras.saving.register_keras_serializable(package="keras_attention")
class BlockSummaryAttention(MultiHeadAttention):
    """Multi-head attention exact inside a block, to one mean vector per other block.

    For long sequences whose detail is near and whose gist is far. A query attends the
    projected keys of its own block and, for every other block, the mean of its
    projected keys and values, weighted as all of them: where the keys of a block are
    equal this is full attention. Time `O(B N T (size + S / size) H)`, so
    `O(T sqrt(T))` at `block_size = sqrt(S)`. On the dense path multiply-adds those of
    `MultiHeadAttention` plus `B N T M (H + V)`; parameters as there.

    Shapes:
        B batch, T query length, S key length, D model size, N heads, H `key_dim`,
        V `value_dim`, M blocks, `ceil(S / block_size)`.

    Args:
        num_heads: Number of attention heads, N.
        key_dim: Size of each head for query and key.
        block_size: Positions of a block.
        **kwargs: Those of `MultiHeadAttention`; `mask` and `sliding_window` restrict
            single keys, summaries are seen whole.

    Call args:
        query: `(B, T, D)`.
        value: `(B, S, D)`.
        key: `(B, S, D)`; by default the value.
        query_mask, value_mask, key_mask: `(B, T)` or `(B, S)`, True = a real position.
        use_causal_mask: Query `i` sees keys of its block up to `i + (S - T)` and
            summaries of the blocks before.
        return_attention_scores, training: As in `MultiHeadAttention`.

    Returns:
        `(B, T, D)`, and with scores `(B, N, T, S + M)`: those of single keys, then
        those of summaries.

    Raises:
        ValueError: for inputs of another rank, and for an `attention_mask`,
            `attention_bias` or `cache`: a summary has no position they could speak of.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> layer = layers.BlockSummaryAttention(num_heads=2, key_dim=3, block_size=4)
        >>> x = np.ones((1, 10, 6), "float32")
        >>> y, scores = layer(x, x, return_attention_scores=True)
        >>> tuple(y.shape), tuple(scores.shape)
        ((1, 10, 6), (1, 2, 10, 13))

    Source:
        The blocks of Liu et al. 2018, arXiv:1801.10198, section 4.2.4, whose far keys
        are compressed by a convolution; here by their mean, with the weight of all.
    """

    keeps_cache = False

    def __init__(self, num_heads: int, key_dim: int, block_size: int, **kwargs):
        super().__init__(num_heads, key_dim, **kwargs)
        self.block_size = positive_integer("block_size", block_size)

    def build(self, query_shape, value_shape, key_shape=None):
        require(
            len(query_shape) == 3,
            "BlockSummaryAttention attends sequences (B, T, D).",
            query_shape=tuple(query_shape),
        )
        super().build(query_shape, value_shape, key_shape)

    def _call_cached(self, query, value, key, value_mask, cache, index, **options):
        _refuse(cache=cache)

    def combined_mask(self, query_mask, value_mask, attention_mask, use_causal_mask):
        _refuse(attention_mask=attention_mask)
        own = super().combined_mask(None, None, None, False)
        return _Given(
            _boolean("query_mask", query_mask),
            _boolean("value_mask", value_mask),
            use_causal_mask,
            own,
        )

    def attend_projected(
        self,
        query,
        key,
        value,
        mask=None,
        bias=None,
        training=None,
        return_attention_scores=False,
        query_offset=None,
    ):
        del query_offset
        _refuse(attention_bias=bias)
        result = attend_blocks(
            query,
            key,
            value,
            self.block_size,
            key_mask=mask.keys,
            query_mask=mask.queries,
            is_causal=mask.is_causal,
            mask=mask.positions,
            implementation=self.implementation,
            return_attention_scores=return_attention_scores,
            **self.attend_options(training),
        )
        return result if return_attention_scores else (result, None)

    def compute_scores_shape(self, query_shape, value_shape):
        *shape, length = super().compute_scores_shape(query_shape, value_shape)
        if length is not None:
            length += -(-length // self.block_size)
        return (*shape, length)

    def multiply_adds(self, query_shape, key_shape, value_shape):
        return super().multiply_adds(
            query_shape, self._extended(key_shape), self._extended(value_shape)
        )

    def held_numbers(self, query_shape, key_shape, value_shape):
        return super().held_numbers(
            query_shape, self._extended(key_shape), self._extended(value_shape)
        )

    def _extended(self, shape):
        """The shape of keys with the summaries behind them."""
        batch, length, *rest = shape
        return (batch, length + -(-length // self.block_size), *rest)

    def get_config(self):
        return {**super().get_config(), "block_size": self.block_size}


class _Given(NamedTuple):
    """The masks of a call, apart, on their way to `attend_projected`."""

    queries: Tensor | None
    keys: Tensor | None
    is_causal: bool
    positions: masks.Mask | None


def _refuse(**given: Any) -> None:
    for name, value in given.items():
        require(
            value is None,
            "BlockSummaryAttention takes no `attention_mask`, `attention_bias` or "
            "`cache`: a summary has no position that they could speak of.",
            **{name: type(value).__name__},
        )


def _boolean(name: str, mask: Tensor | None) -> Tensor | None:
    return None if mask is None else masks.as_boolean(name, mask)
