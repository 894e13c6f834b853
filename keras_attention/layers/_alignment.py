"""What the attentions share that continue from the scores of the step before."""

from typing import Any

import keras
from keras import ops

from keras_attention.errors import positive_integer, require
from keras_attention.layers.base import BaseAttention
from keras_attention.ops import _backend, alignments, masks
from keras_attention.ops.problem import drop

Tensor = Any


class AlignmentAttention(BaseAttention):
    """Base of the additive attentions of a decoder that remembers where it looked.

    Called on `T` queries at once it goes through them in their order, one after the
    other. A layer overrides `energies`, `normalise` and `first_alignments`, and adds
    its own weights to those of `build`.

    Args:
        units: Size of the hidden layer that compares query and key, H.
        **kwargs: `dropout`, `mask`, `flash_attention`, `seed` of `BaseAttention`. There
            is one path, so `flash_attention=True` is refused.
    """

    def __init__(self, units: int, **kwargs: Any):
        super().__init__(**kwargs)
        self.units = positive_integer("units", units)
        require(
            self.flash_attention is not True,
            "`flash_attention` must be None or False: each step needs the scores of "
            "the step before.",
            flash_attention=self.flash_attention,
        )

    # ------------------------------------------------------- what a variant overrides

    def energies(self, query: Tensor, key: Tensor, previous: Tensor) -> Tensor:
        """Logits `(B, S)` of projected `(B, H)` and `(B, S, H)`, given `(B, S)`."""
        raise NotImplementedError

    def normalise(
        self, logits: Tensor, previous: Tensor, allowed: Tensor | None
    ) -> Tensor:
        """Scores `(B, S)` of the logits, 0 where `allowed` `(B, S)` is False."""
        raise NotImplementedError

    def first_alignments(self, key: Tensor) -> Tensor:
        """What the first step continues from, `(B, S)`, for keys `(B, S, 1, H)`."""
        raise NotImplementedError

    def remember(self, previous: Tensor, scores: Tensor) -> Tensor:
        """What the next step continues from, `(B, S)`: by default the scores."""
        return alignments.last(previous, scores)

    # ------------------------------------------------------------------------- weights

    def build(self, query_shape, value_shape, key_shape=None):
        key_shape = value_shape if key_shape is None else key_shape
        self.query_dense = self.hidden_dense("query", query_shape[-1], use_bias=True)
        self.key_dense = self.hidden_dense("key", key_shape[-1])
        self.scale = self.add_weight(
            shape=(self.units,), initializer="glorot_uniform", name="scale"
        )

    def hidden_dense(
        self, name: str, size: int, use_bias: bool = False
    ) -> keras.layers.Layer:
        """A built projection from `size` into the hidden layer."""
        dense = keras.layers.Dense(
            self.units, use_bias=use_bias, name=name, dtype=self.dtype_policy
        )
        dense.build((None, size))
        return dense

    def project_query(self, query):
        return self.query_dense(query)[:, :, None, :]

    def project_key(self, key):
        return self.key_dense(key)[:, :, None, :]

    # ----------------------------------------------------------------------- the steps

    def attend_projected(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: masks.Mask | None = None,
        bias: Tensor | None = None,
        training: bool | None = None,
        return_attention_scores: bool = False,
        query_offset: Any = None,
        previous: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """As in `BaseAttention`; the first query continues from `previous` `(B, S)`."""
        batch, query_length = _backend.sizes(query)[:2]
        key_length = _backend.sizes(key)[1]
        shape = (batch, 1, query_length, key_length)
        allowed = None
        if mask is not None:
            offset = key_length - query_length if query_offset is None else query_offset
            dense = mask.dense(query_length, key_length, offset)
            allowed = ops.broadcast_to(dense, shape)[:, 0]
        if bias is not None:
            bias = ops.broadcast_to(ops.convert_to_tensor(bias), shape)[:, 0]
        keys = key[:, :, 0]
        scores = alignments.follow(
            lambda one, before: self.energies(one, keys, before),
            self.normalise,
            query[:, :, 0],
            self.first_alignments(key) if previous is None else previous,
            allowed,
            bias,
            self.remember,
        )
        used = scores
        if training and self.dropout:
            shape, seed = _backend.sizes(used), self.seed_generator.next()
            keep = _backend.keep_mask(seed, 0, shape, self.dropout)
            used = drop(used, keep, self.dropout)
        output = ops.matmul(ops.cast(used, value.dtype), value[:, :, 0])[:, :, None]
        if not return_attention_scores:
            return output, None
        return output, self.shape_scores(ops.cast(scores, value.dtype)[:, None])

    def multiply_adds(self, query_shape, key_shape, value_shape) -> int:
        """`B T S (H + V)`: the logits of all steps and the weighted sum."""
        batch, query_length = query_shape[:2]
        sizes = self.units + value_shape[-1]
        return batch * query_length * key_shape[1] * sizes

    def held_numbers(self, query_shape, key_shape, value_shape) -> int:
        """The scores `(B, T, S)`, and what one step compares, `(B, S, H)`."""
        batch, query_length = query_shape[:2]
        return batch * key_shape[1] * (query_length + self.units)

    def get_config(self):
        return {**super().get_config(), "units": self.units}
