"""Axial attention: self-attention along one axis of a feature map at a time."""

import keras

from keras_attention.errors import fraction, one_of, positive_integer, require
from keras_attention.layers import _axes
from keras_attention.layers.base import (
    ScoresOnRequest,
    call_arguments,
    carry_mask,
)
from keras_attention.layers.multi_head_attention import MultiHeadAttention
from keras_attention.ops import masks


@keras.saving.register_keras_serializable(package="keras_attention")
class AxialAttention(ScoresOnRequest, keras.layers.Layer):
    """Multi-head self-attention along one axis of a feature map, or several in turn.

    `y[b, i, :] = MultiHeadAttention(x[b, i, :])` for attention along the width: each
    row is a sequence of its own, the other axes count as batch. For images, videos and
    spectrograms, where attention between all positions costs too much. Several axes
    are taken one after the other, each with its own weights and reading what the axis
    before wrote, so that after the last one every position has seen the whole map (a
    sum over axes would see one row and one column). There is no residual connection
    and no norm in between: put them around layers of one axis each, as the paper does.

    On a map `h x w` both axes together cost time `O(N H (h^2 w + h w^2))`, where
    attention between all positions costs `O(N H h^2 w^2)`; memory is that of the
    scores on the dense path and `O(h w)` on the blockwise one. One axis takes
    multiply-adds `2 B h w N H (L + 2 C)`, both take multiply-adds
    `2 B h w N H (h + w + 4 C)`. Parameters: those of one `MultiHeadAttention` for each
    axis.

    Shapes:
        B batch, spatial one or more axes, such as h and w, C channels, N heads,
        H `key_dim`, L length of the attended axis, others the spatial axes without it.

    Args:
        axis: The attended axis as NumPy counts it, channels included: in
            `(B, h, w, C)` the width is 2 or -2. A tuple: these axes in turn.
        num_heads: Number of attention heads, N.
        key_dim: Size of each head for query and key, H.
        dropout: Share of attention scores dropped in training, in [0, 1).
        mask: A mask of positions along the axis, such as `masks.Local(7)`.
        flash_attention: `None` chooses the path by shape, `True` takes the path that
            never holds `L x L` scores, `False` the dense one. Results agree.
        seed: Seed of the dropout; each further axis takes the next integer.
        attention_options: Further arguments of `MultiHeadAttention`, such as
            `{"num_key_value_heads": 1}`.
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        inputs: `(B, *spatial, C)`.
        mask: `(B, *spatial)`, True = a real position; by default the hidden mask.
        return_attention_scores: Also return the scores before dropout.
        training: Whether to apply dropout.
        use_causal_mask: A position sees itself and what is before it on the axis; with
            several axes, what is before it on each of them.

    Returns:
        `(B, *spatial, C)`; with scores `(B, *others, N, L, L)` second, and with
        several axes the scores of each of them after it.

    Raises:
        ValueError: for the batch or channel axis, an axis the input lacks, the same
            axis twice, or a float mask.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> x = np.ones((2, 3, 5, 4), "float32")
        >>> layer = layers.AxialAttention(axis=(1, 2), num_heads=2, key_dim=2)
        >>> y, along_height, along_width = layer(x, return_attention_scores=True)
        >>> tuple(y.shape), tuple(along_height.shape), tuple(along_width.shape)
        ((2, 3, 5, 4), (2, 5, 2, 3, 3), (2, 3, 2, 5, 5))

    Source:
        Ho et al. 2019, arXiv:1912.12180, section 3.
    """

    def __init__(
        self,
        axis: int | tuple[int, ...],
        num_heads: int,
        key_dim: int,
        dropout: float = 0.0,
        mask: masks.Mask | None = None,
        flash_attention: bool | None = None,
        seed: int | None = None,
        attention_options: dict | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.axis = _axes.as_tuple(axis)
        require(
            bool(self.axis) and all(isinstance(one, int) for one in self.axis),
            "`axis` must be an integer or a tuple of integers.",
            axis=axis,
        )
        _refuse_ends(self.axis, first=0, last=-1)
        self.num_heads = positive_integer("num_heads", num_heads)
        self.key_dim = positive_integer("key_dim", key_dim)
        self.dropout = fraction("dropout", dropout)
        self.mask = masks.position_mask(mask)
        self.flash_attention = one_of(
            "flash_attention", flash_attention, (None, True, False)
        )
        self.seed = seed
        self.attention_options = dict(attention_options or {})
        require(
            "output_shape" not in self.attention_options,
            "AxialAttention keeps the channels of its input: `attention_options` takes "
            "no `output_shape`.",
            attention_options=self.attention_options,
        )
        self.supports_masking = True

    def build(self, input_shape):
        rank = len(input_shape)
        _refuse_ends(self.axis, first=-rank, last=rank - 1)
        require(
            all(-rank < one < rank for one in self.axis),
            f"`axis` must name axes between batch and channels, here 1 to {rank - 2}.",
            axis=self.axis,
            input_shape=tuple(input_shape),
        )
        require(
            len({one % rank for one in self.axis}) == len(self.axis),
            "`axis` must not name an axis twice.",
            axis=self.axis,
            input_shape=tuple(input_shape),
        )
        self.attentions = [
            MultiHeadAttention(
                self.num_heads,
                self.key_dim,
                attention_axes=one,
                dropout=self.dropout,
                mask=self.mask,
                flash_attention=self.flash_attention,
                seed=None if self.seed is None else self.seed + index,
                **self.attention_options,
                name=f"attention_{index}",
                dtype=self.dtype_policy,
            )
            for index, one in enumerate(self.axis)
        ]
        for attention in self.attentions:
            attention.build(input_shape, input_shape)

    def call(
        self,
        inputs,
        mask=None,
        return_attention_scores=False,
        training=None,
        use_causal_mask=False,
    ):
        if mask is not None:
            mask = masks.as_boolean("mask", mask)
        outputs, scores = inputs, []
        for attention in self.attentions:
            outputs, *seen = keras.tree.flatten(
                attention(
                    outputs,
                    outputs,
                    query_mask=mask,
                    value_mask=mask,
                    return_attention_scores=return_attention_scores,
                    training=training,
                    use_causal_mask=use_causal_mask,
                )
            )
            scores += seen
        return (outputs, *scores) if return_attention_scores else outputs

    def compute_mask(self, inputs, previous_mask):
        return previous_mask

    def compute_output_shape(self, input_shape):
        return input_shape

    def compute_output_spec(self, *args, **kwargs):
        given = call_arguments(self, *args, **kwargs)
        shape = given["inputs"].shape
        output = keras.KerasTensor(shape, dtype=self.compute_dtype)
        output = carry_mask(output, given["mask"])
        if not given["return_attention_scores"]:
            return output
        scores = [
            keras.KerasTensor(
                _axes.scores_shape(shape, shape, (one,), self.num_heads),
                dtype=self.compute_dtype,
            )
            for one in self.axis
        ]
        return (output, *scores)

    def get_config(self):
        return {
            **super().get_config(),
            "axis": self.axis,
            "num_heads": self.num_heads,
            "key_dim": self.key_dim,
            "dropout": self.dropout,
            "mask": masks.serialize(self.mask),
            "flash_attention": self.flash_attention,
            "seed": self.seed,
            "attention_options": self.attention_options,
        }


def _refuse_ends(axis: tuple[int, ...], first: int, last: int) -> None:
    """Refuse the batch axis, counted `first`, and the channel axis, counted `last`."""
    for name, end in (("batch", first), ("channel", last)):
        require(
            end not in axis,
            f"`axis` must not be the {name} axis: attention runs between positions.",
            axis=axis,
        )
