"""Multi-head attention step by step: keys and values of what was seen are kept."""

from typing import Any

from keras import ops

from keras_attention.layers.base import carry_mask, zero_hidden
from keras_attention.ops import _backend, masks


class KeyValueCache:
    """Before `BaseAttention` among the bases of a layer with head projections.

    A cache is a pair, keys `(B, K, S, H)` and values `(B, K, S, V)`. Heads come first,
    as `attend` multiplies them: inside a TensorFlow graph the transpositions to its
    layout and back fall away, so that a step copies neither (but with `K < N`, where
    `attend` repeats them).

    Attributes:
        keeps_cache: Whether the layer can; a variant that cannot says so.
    """

    keeps_cache = True

    def empty_cache(self, batch_size: Any, length: int) -> tuple[Any, Any]:
        """A cache with room for `length` positions, none of them written."""
        heads = (batch_size, self.num_key_value_heads, length)
        keys, values = (
            ops.zeros((*heads, size), dtype=self.compute_dtype)
            for size in (self.key_dim, self.value_dim)
        )
        return keys, values

    def cache_of(self, value, key=None, index=None) -> tuple[Any, Any]:
        """Keys `(B, K, S, H)` and values `(B, K, S, V)` of a whole memory `(B, S, D)`.

        `index` is the position of its first row, for `rotary`.
        """
        key = self.project_key(value if key is None else key, index)
        keys, values = (
            ops.transpose(x, (0, 2, 1, 3)) for x in (key, self.project_value(value))
        )
        return keys, values

    def _call_cached(
        self,
        query,
        value,
        key,
        value_mask,
        cache,
        index,
        query_mask,
        attention_mask,
        return_attention_scores,
        training,
        use_causal_mask,
        attention_bias,
    ):
        # With an update `value_mask` tells about the new positions only, not the cache.
        seen_mask = value_mask if index is None else None
        mask = self.combined_mask(
            query_mask, seen_mask, attention_mask, use_causal_mask
        )
        new_mask = None if index is None else value_mask
        query, key, value = zero_hidden(query, key, value, query_mask, new_mask)
        if index is not None:
            new = self.cache_of(value, key, index)
            cache = tuple(
                _backend.write_rows(old, index, rows)
                for old, rows in zip(cache, new, strict=True)
            )
            length = _backend.sizes(cache[0])[2]
            written = ops.arange(length) < index + ops.shape(query)[1]
            mask = masks.combine(mask, masks.Dense(written[None, :]))
        keys, values = (ops.transpose(x, (0, 2, 1, 3)) for x in cache)
        output, attention_scores = self.attend_projected(
            self.project_query(query, index),
            keys,
            values,
            mask=mask,
            bias=attention_bias,
            training=training,
            return_attention_scores=return_attention_scores,
            query_offset=index,
        )
        output = carry_mask(self.combine(output, query), query_mask)
        if return_attention_scores:
            return output, attention_scores, cache
        return output, cache
