"""Layers of the recommenders: what they drop, when it was, and sampled logits."""

from typing import Any

import keras
from keras import ops

from keras_attention.blocks import TokenAndPositionEmbedding
from keras_attention.errors import fraction, positive_integer
from keras_attention.losses import sampled_logits
from keras_attention.ops import _backend

Tensor = Any


class ItemDropout(keras.layers.Layer):
    """Takes items `(B, T)` out of histories in training, as if they were padding.

    Args:
        rate: Share of the items, in [0, 1).
        num_items: Ids above it, such as a mask token, stay.
        **kwargs: Those of `keras.layers.Layer`.
    """

    def __init__(self, rate: float, num_items: int, **kwargs: Any):
        super().__init__(**kwargs)
        self.rate, self.num_items = fraction("item_dropout", rate), num_items
        if rate:
            self.seed_generator = keras.random.SeedGenerator()

    def call(self, inputs, training=None):
        if not training or not self.rate:
            return inputs
        numbers = keras.random.uniform(ops.shape(inputs), seed=self.seed_generator)
        kept = ops.logical_or(numbers >= self.rate, inputs > self.num_items)
        return ops.where(kept, inputs, ops.zeros_like(inputs))

    def compute_output_spec(self, inputs, training=None):
        return keras.KerasTensor(inputs.shape, dtype=inputs.dtype)


class RecencyEmbedding(keras.layers.Layer):
    """Adds a learned vector for how many real items came after: `(B, T, D)`.

    Args:
        longest: Number of vectors; older items share the last one.
        **kwargs: Those of `keras.layers.Layer`.
    """

    def __init__(self, longest: int, **kwargs: Any):
        super().__init__(**kwargs)
        self.longest = positive_integer("max_sequence_length", longest)
        self.supports_masking = True

    def build(self, input_shape):
        self.embeddings = self.add_weight(
            shape=(self.longest, input_shape[-1]),
            initializer="glorot_uniform",
            name="embeddings",
        )

    def call(self, inputs, mask=None):
        if mask is None:
            mask = ops.ones_like(inputs[..., 0], dtype="bool")
        real = ops.cast(mask, "int32")
        later = ops.sum(real, axis=1, keepdims=True) - ops.cumsum(real, axis=1)
        table = ops.convert_to_tensor(self.embeddings, dtype=self.compute_dtype)
        return inputs + ops.take(table, ops.minimum(later, self.longest - 1), axis=0)

    def compute_output_shape(self, input_shape):
        return input_shape


class SampledLogits(keras.layers.Layer):
    """`losses.sampled_logits` of every target of a row, `(B, P, 1 + K)`, in float32.

    Here the logits are at hand already, as a model has them that reads the candidates.
    What the others have to compute, they compute in `both`.

    Args:
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        inputs: Logits `(B, P + K)` of the targets and then the negatives.
        targets: Ids `(B, P)`.
        negatives: Ids `(B, K)`, for all targets of the row.
        log_q: `(B, K)`.
    """

    def __init__(self, **kwargs: Any):
        super().__init__(**{"dtype": "float32", **kwargs})
        self.supports_masking = True

    def both(self, inputs: Tensor, targets: Tensor, negatives: Tensor) -> tuple:
        """Logits of the targets `(B, P)` and of the negatives `(B, P, K)`."""
        number, drawn = _backend.sizes(targets)[1], _backend.sizes(negatives)
        shared = inputs[:, None, number:]
        return inputs[:, :number], ops.broadcast_to(
            shared, (drawn[0], number, drawn[1])
        )

    def call(self, inputs, targets, negatives, log_q):
        target, negative = self.both(inputs, targets, negatives)
        shared = negatives[:, None], log_q[:, None]  # (B, 1, K)
        return sampled_logits(target, negative, targets, *shared)

    def compute_mask(self, inputs, previous_mask):
        return None  # which targets count, the labels say

    def compute_output_spec(self, inputs, targets, negatives, log_q):
        drawn = negatives.shape[1]
        width = None if drawn is None else 1 + drawn
        return keras.KerasTensor((*targets.shape, width), dtype="float32")

    def multiply_adds(self, inputs_shape: tuple, negatives_shape: tuple) -> int:
        """No matrix products."""
        del inputs_shape, negatives_shape
        return 0


class TiedSampledLogits(SampledLogits):
    """The same from states `(B, P, D)`, by the rows of a tied embedding.

    Only the rows of targets and negatives are looked at, never all V.

    Args:
        embedding: Of the items.
        **kwargs: Those of `keras.layers.Layer`.
    """

    def __init__(self, embedding: TokenAndPositionEmbedding, **kwargs: Any):
        super().__init__(**kwargs)
        self.embedding = embedding

    def both(self, inputs, targets, negatives):
        own = item_rows(self.embedding, targets, self.compute_dtype)  # (B, P, D)
        others = item_rows(self.embedding, negatives, self.compute_dtype)  # (B, K, D)
        return ops.sum(inputs * own, axis=-1), _backend.matmul_transposed(
            inputs, others
        )

    def compute_mask(self, inputs, previous_mask):
        return previous_mask

    def multiply_adds(self, inputs_shape: tuple, negatives_shape: tuple) -> int:
        """`B P K D`; a target's own logit is a sum, no matrix product."""
        batch, number, size = inputs_shape
        return batch * number * negatives_shape[1] * size


def item_rows(
    embedding: TokenAndPositionEmbedding, items: Tensor, dtype: Any
) -> Tensor:
    """The rows of the table for items of any shape, unscaled as the tied output is."""
    table = ops.convert_to_tensor(embedding.embeddings, dtype=dtype)
    return ops.take(table, ops.cast(items, "int32"), axis=0)
