"""What the layers share that pool a sequence by attention scores."""

from math import prod
from typing import Any

import keras
from keras import ops

from keras_attention.layers.base import ScoresOnRequest, zero_rows
from keras_attention.ops import attend, masks

Tensor = Any


class BasePooling(ScoresOnRequest, keras.layers.Layer):
    """Base of the layers that make one vector, or a few, of a sequence.

    A layer overrides `pool` alone, and the two shapes if it makes several vectors.

    Args:
        **kwargs: Those of `keras.layers.Layer`.
    """

    def __init__(self, **kwargs: Any):
        super().__init__(**kwargs)
        self.supports_masking = True

    def pool(self, inputs: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """Vectors and scores of `(B, S, D)`, where hidden rows are already 0."""
        raise NotImplementedError

    def call(self, inputs, mask=None, return_attention_scores=False):
        output, scores = self.pool(zero_rows(inputs, mask), mask)
        return (output, scores) if return_attention_scores else output

    def held_numbers(self, inputs_shape) -> int:
        """Numbers a call holds beside its output, for `costs.report`: the scores."""
        return prod(self.compute_scores_shape(inputs_shape))

    def compute_mask(self, inputs, previous_mask):
        return None  # the axis it belongs to is gone

    def compute_output_shape(self, input_shape):
        return (input_shape[0], input_shape[-1])

    def compute_scores_shape(self, input_shape):
        return tuple(input_shape[:2])

    def compute_output_spec(self, inputs, mask=None, return_attention_scores=False):
        def spec(shape):
            return keras.KerasTensor(shape, dtype=self.compute_dtype)

        output = spec(self.compute_output_shape(inputs.shape))
        if not return_attention_scores:
            return output
        return output, spec(self.compute_scores_shape(inputs.shape))


def weigh(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    score: str = "dot",
    score_weights: tuple[Tensor, ...] = (),
) -> tuple[Tensor, Tensor]:
    """Single-head attention of `k` queries that are the same, or one each, per row.

    Args:
        query: `(k, H)` for every row, or `(B, k, H)`.
        key: `(B, S, H)`.
        value: `(B, S, D)`.
        mask: `(B, S)`, True = a real position.
        score: Name of the score.
        score_weights: Its weights.

    Returns:
        `(B, k, D)` and scores `(B, k, S)`.
    """
    query = ops.convert_to_tensor(query)
    if len(query.shape) == 2:
        query = ops.broadcast_to(query[None], (ops.shape(key)[0], *query.shape))
    query, key, value = (x[:, :, None, :] for x in (query, key, value))
    output, scores = attend(
        query,
        key,
        value,
        None if mask is None else masks.Padding(mask),
        score=score,
        score_weights=score_weights,
        return_attention_scores=True,
    )
    return output[:, :, 0], scores[:, 0]
