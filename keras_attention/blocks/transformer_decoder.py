"""Transformer decoder block."""

import keras

from keras_attention.blocks.transformer_block import TransformerBlock, cached
from keras_attention.layers.base import call_arguments, carry_mask, zero_rows


@keras.saving.register_keras_serializable(package="keras_attention")
class TransformerDecoder(TransformerBlock):
    """Causal self-attention, attention to a memory, and a feed-forward network.

    One layer of an encoder-decoder transformer. Time `O(B (T^2 + T S) D + B T D F)`,
    parameters `8 D^2 + 2 D F` and biases. With caches a step costs `O(B (L + S) D)`.

    Shapes:
        B batch, T length of the output so far, S memory length, D model size, N heads,
        K key/value heads, H head size, L cache length.

    Args:
        **kwargs: Those of `TransformerBlock` (`intermediate_dim`, `num_heads`, ...).

    Call args:
        inputs: `(B, T, D)`.
        memory: `(B, S, D)`, the encoder's output; ignored with a cross-attention cache.
        inputs_mask, memory_mask: `(B, T)`, `(B, S)`, True = a real position; by
            default the hidden mask.
        return_attention_scores: Also return both scores before dropout.
        training: Whether to apply dropout.
        self_attention_cache: Keys and values `(B, K, L, H)`, first `empty_cache`.
        self_attention_cache_update_index: Position of the first input in that cache.
        cross_attention_cache: Those of the memory, `cross_attention_cache(memory)`.

    Returns:
        `(B, T, D)`; with scores those of self-attention `(B, N, T, T or L)` and
        cross-attention `(B, N, T, S)`; with a self-attention cache, it comes last.

    Raises:
        ValueError: for sizes that are not positive, or heads that do not divide D.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import blocks
        >>> block = blocks.TransformerDecoder(intermediate_dim=16, num_heads=2)
        >>> y = block(np.ones((2, 5, 8), "float32"), np.ones((2, 3, 8), "float32"))
        >>> tuple(y.shape)
        (2, 5, 8)

    Source:
        Vaswani et al. 2017, arXiv:1706.03762, section 3.1; pre-norm Xiong et al. 2020,
        arXiv:2002.04745.
    """

    def build(self, inputs_shape, memory_shape):
        size = inputs_shape[-1]
        self.self_attention = self.make_attention(size, "self_attention")
        self.self_attention.build(inputs_shape, inputs_shape)
        self.self_attention_norm = self.make_norm(inputs_shape, "self_attention_norm")
        self.cross_attention = self.make_attention(
            size, "cross_attention", is_self=False
        )
        self.cross_attention.build(inputs_shape, memory_shape)
        self.cross_attention_norm = self.make_norm(inputs_shape, "cross_attention_norm")
        self.make_feed_forward(inputs_shape)

    def call(
        self,
        inputs,
        memory,
        inputs_mask=None,
        memory_mask=None,
        return_attention_scores=False,
        training=None,
        self_attention_cache=None,
        self_attention_cache_update_index=None,
        cross_attention_cache=None,
    ):
        flags = {
            "query_mask": inputs_mask,
            "return_attention_scores": return_attention_scores,
            "training": training,
        }
        inputs = zero_rows(inputs, inputs_mask, "inputs_mask")
        norm = self.self_attention_norm
        x = self.before(norm, inputs)
        update, *seen = _listed(
            self.self_attention(
                x,
                x,
                value_mask=inputs_mask,
                use_causal_mask=True,
                **_cache(self_attention_cache, self_attention_cache_update_index),
                **flags,
            )
        )
        x = self.after(norm, inputs, update, training)

        norm = self.cross_attention_norm
        y = self.before(norm, x)
        update, *remembered = _listed(
            self.cross_attention(
                y,
                y if memory is None else memory,
                value_mask=memory_mask,
                **_cache(cross_attention_cache),
                **flags,
            )
        )
        y = self.after(norm, x, update, training)

        y = carry_mask(self.feed_forward_residual(y, training), inputs_mask)
        scores = (seen[0], remembered[0]) if return_attention_scores else ()
        cache = () if self_attention_cache is None else (seen[-1],)
        outputs = (y, *scores, *cache)
        return outputs if len(outputs) > 1 else y

    def cross_attention_cache(self, memory, memory_mask=None):
        """Projected keys and values of a memory, each `(B, K, S, H)`."""
        memory = zero_rows(memory, memory_mask, "memory_mask")
        return cached(self.cross_attention).cache_of(memory)

    def empty_cache(self, batch_size, length):
        """A self-attention cache with room for `length` positions."""
        return cached(self.self_attention).empty_cache(batch_size, length)

    def compute_mask(self, inputs, previous_mask):
        return previous_mask

    def compute_output_shape(self, inputs_shape, memory_shape=None):
        return inputs_shape

    def compute_output_spec(self, *args, **kwargs):
        given = call_arguments(self, *args, **kwargs)
        inputs, cache = given["inputs"], given["self_attention_cache"]
        batch, length, _ = inputs.shape

        def spec(shape):
            return keras.KerasTensor(shape, dtype=self.compute_dtype)

        outputs = [carry_mask(spec(inputs.shape), given["inputs_mask"])]
        if given["return_attention_scores"]:
            seen = length if cache is None else cache[0].shape[2]
            outputs.append(spec((batch, self.num_heads, length, seen)))
            outputs.append(spec((batch, self.num_heads, length, _length(given))))
        if cache is not None:
            outputs.append(tuple(spec(x.shape) for x in cache))
        return tuple(outputs) if len(outputs) > 1 else outputs[0]


def _length(given) -> int | None:
    """Length of the memory, or of the cache that stands for it."""
    cache = given["cross_attention_cache"]
    return given["memory"].shape[1] if cache is None else cache[0].shape[2]


def _listed(outputs) -> list:
    return list(outputs) if isinstance(outputs, tuple) else [outputs]


def _cache(cache, index=None) -> dict:
    """Cache arguments, only where there is one: not every mechanism knows them."""
    if cache is None:
        return {}
    return {"cache": cache, "cache_update_index": index}
