"""Self-attention between all positions of a feature map."""

import keras

from keras_attention.errors import fraction, one_of, positive_integer, require
from keras_attention.layers import _axes
from keras_attention.layers._feature_map import FeatureMapLayer
from keras_attention.layers._grid import as_grid
from keras_attention.layers.multi_head_attention import MultiHeadAttention
from keras_attention.layers.rotary_embedding_2d import RotaryEmbedding2D
from keras_attention.ops import masks


@keras.saving.register_keras_serializable(package="keras_attention")
class FeatureMapAttention(FeatureMapLayer):
    """Multi-head self-attention between all positions of a feature map.

    `MultiHeadAttention(x, x)` over the `h w` positions: each may read from everywhere,
    where a convolution reaches a few pixels. For the small maps at the end of a CNN, in
    place of its last convolutions; on large ones take `AxialAttention`. There is no
    residual connection and no norm. Without `rotary_grid` it does not know where a
    position is: add a position encoding before it, or let convolutions around it tell.
    Time `O(B N H (h w)^2)` plus the projections, memory that of the scores on the dense
    path and `O(B h w C)` on the blockwise one; multiply-adds
    `2 B h w N H (h w + 2 C)`, parameters without bias `4 C N H`.

    Shapes:
        B batch, h and w height and width, C channels, N heads, H `key_dim`.

    Args:
        num_heads: Number of attention heads, N.
        key_dim: Size of each head, H.
        dropout: Share of attention scores dropped in training, in [0, 1).
        mask: A mask of positions, counted row by row, such as `masks.Block(w)`.
        flash_attention: `None` chooses the path by shape, `True` takes the path that
            never holds the scores, `False` the dense one. Results agree.
        seed: Seed of the dropout.
        rotary_grid: `(h, w)`: turn query and key heads with row and column
            (`RotaryEmbedding2D`), on maps of this size; H is then a multiple of four.
        attention_options: Further arguments of `MultiHeadAttention`, such as
            `{"num_key_value_heads": 1}`.
        data_format: `"channels_last"` or `"channels_first"`; `None` takes
            `keras.config.image_data_format()`.
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        inputs: `(B, h, w, C)`, or `(B, C, h, w)` with channels first.
        mask: `(B, h, w)`, True = a real position; by default the hidden mask.
        return_attention_scores: Also return the scores before dropout.
        training: Whether to apply dropout.
        use_causal_mask: A position sees itself and what is before it, row by row.

    Returns:
        As `inputs`; with scores `(B, N, h, w, h, w)` second, the attended position
        last. A position with nothing to attend gives 0 (before the output projection).

    Raises:
        ValueError: for sizes that are not positive, an `output_shape`, an unknown
            format, inputs of other than four axes, maps that do not fit `rotary_grid`,
            or a float mask.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> layer = layers.FeatureMapAttention(num_heads=2, key_dim=4)
        >>> y, scores = layer(np.ones((1, 3, 5, 8)), return_attention_scores=True)
        >>> tuple(y.shape), tuple(scores.shape)
        ((1, 3, 5, 8), (1, 2, 3, 5, 3, 5))

    Source:
        Srinivas et al. 2021, arXiv:2101.11605, with rotary in place of relative
        positions; Wang et al. 2018, arXiv:1711.07971, has one head.
    """

    def __init__(
        self,
        num_heads: int,
        key_dim: int,
        dropout: float = 0.0,
        mask: masks.Mask | None = None,
        flash_attention: bool | None = None,
        seed: int | None = None,
        rotary_grid: tuple[int, int] | None = None,
        attention_options: dict | None = None,
        data_format: str | None = None,
        **kwargs,
    ):
        super().__init__(data_format=data_format, **kwargs)
        self.num_heads = positive_integer("num_heads", num_heads)
        self.key_dim = positive_integer("key_dim", key_dim)
        self.dropout = fraction("dropout", dropout)
        self.mask = masks.position_mask(mask)
        self.flash_attention = one_of(
            "flash_attention", flash_attention, (None, True, False)
        )
        self.seed = seed
        self.rotary_grid = as_grid(rotary_grid)
        self.attention_options = dict(attention_options or {})
        require(
            "output_shape" not in self.attention_options,
            "FeatureMapAttention keeps the channels of its input: `attention_options` "
            "takes no `output_shape`.",
            attention_options=self.attention_options,
        )

    def build_map(self, shape):
        options = dict(self.attention_options)
        if self.rotary_grid is not None:
            options["rotary"] = RotaryEmbedding2D(grid=self.rotary_grid)
        self.attention = MultiHeadAttention(
            self.num_heads,
            self.key_dim,
            attention_axes=(1, 2),
            dropout=self.dropout,
            mask=self.mask,
            flash_attention=self.flash_attention,
            seed=self.seed,
            **options,
            name="attention",
            dtype=self.dtype_policy,
        )
        self.attention.build(shape, shape)

    def call(
        self,
        inputs,
        mask=None,
        return_attention_scores=False,
        training=None,
        use_causal_mask=False,
    ):
        return self.call_map(
            inputs,
            mask,
            return_attention_scores,
            training,
            use_causal_mask=use_causal_mask,
        )

    def attend_map(self, inputs, mask, training, asked, use_causal_mask=False):
        result = self.attention(
            inputs,
            inputs,
            query_mask=mask,
            value_mask=mask,
            return_attention_scores=asked,
            training=training,
            use_causal_mask=use_causal_mask,
        )
        return result if asked else (result, None)

    def multiply_adds(self, inputs_shape) -> int:
        """0: the attention inside counts its own."""
        return super().multiply_adds(inputs_shape)

    def scores_in_format(self, axes):
        return axes  # heads and positions: no channels

    def compute_scores_shape(self, shape):
        return _axes.scores_shape(shape, shape, (1, 2), self.num_heads)

    def get_config(self):
        return {
            **super().get_config(),
            "num_heads": self.num_heads,
            "key_dim": self.key_dim,
            "dropout": self.dropout,
            "mask": masks.serialize(self.mask),
            "flash_attention": self.flash_attention,
            "seed": self.seed,
            "rotary_grid": self.rotary_grid,
            "attention_options": self.attention_options,
        }
