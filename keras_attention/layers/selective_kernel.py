"""Selective kernel: every channel chooses how far its convolution sees."""

import math

import keras
from keras import ops

from keras_attention.errors import positive_integer, require
from keras_attention.layers._feature_map import FeatureMapLayer
from keras_attention.layers._gate import BatchNormalization, mean
from keras_attention.layers.base import zero_rows
from keras_attention.ops.softmax import at_least_float32, softmax


@keras.saving.register_keras_serializable(package="keras_attention")
class SelectiveKernel(FeatureMapLayer):
    """Convolutions of several reaches, mixed for every channel by attention.

    `sum_m a_m * U_m` with `U_m = relu(norm(conv_m(x)))`, the m-th convolution dilated
    by the m-th rate, and for every channel a softmax `a` over m that a small network
    makes of `mean(sum_m U_m)`. It takes the place of a convolution, and costs M of
    them: for objects of different sizes. Time `O(B M h w C^2 k^2)`, memory
    `O(B M h w C)`; multiply-adds `B (M h w C I k^2 + (M + 1) C R)`.

    Convolutions and the hidden layer are normalised by batch: train with batches.

    Shapes:
        B batch, h and w height and width, C channels, M number of convolutions,
        k kernel size, I = C / groups inputs of a channel,
        R = max(min_units, C // ratio) hidden units.

    Args:
        dilation_rates: M distances between the positions that a kernel reads; 3 x 3
            kernels of rates 1 and 2 reach over 3 and 5 positions.
        kernel_size: Side of each kernel, k.
        groups: Parts of the channels that are convolved apart; 32 in the paper. Must
            divide C.
        ratio: How many channels share a hidden unit.
        min_units: The least number of hidden units; 1 is allowed.
        data_format: `"channels_last"` or `"channels_first"`; `None` takes
            `keras.config.image_data_format()`.
        **kwargs: Those of `keras.layers.Layer`.

    Call args:
        inputs: `(B, h, w, C)`, or `(B, C, h, w)` with channels first.
        mask: `(B, h, w)`, True = a real position; by default the hidden mask. Others
            are 0 and counted in no mean.
        return_attention_scores: Also return the shares.
        training: Whether to normalise by the batch.

    Returns:
        As `inputs`, 0 where hidden; with scores the shares `(B, 1, 1, C, M)` or
        `(B, C, 1, 1, M)` second. Those of a channel sum to 1, or to 0 in a map without
        a real position.

    Raises:
        ValueError: for fewer than two rates, sizes below 1, groups that do not divide,
            an unknown format, inputs of other than four axes, channels that are not
            known, or a float mask.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import layers
        >>> y, shares = layers.SelectiveKernel()(
        ...     np.ones((2, 5, 7, 8)), return_attention_scores=True
        ... )
        >>> tuple(y.shape), tuple(shares.shape)
        ((2, 5, 7, 8), (2, 1, 1, 8, 2))

    Source:
        Li et al. 2019, arXiv:1903.06586, section 3.1.
    """

    def __init__(
        self,
        dilation_rates: tuple[int, ...] = (1, 2),
        kernel_size: int = 3,
        groups: int = 1,
        ratio: int = 16,
        min_units: int = 32,
        data_format: str | None = None,
        **kwargs,
    ):
        super().__init__(data_format=data_format, **kwargs)
        require(
            isinstance(dilation_rates, (tuple, list)) and len(dilation_rates) > 1,
            "`dilation_rates` must be two numbers or more, one a convolution.",
            dilation_rates=dilation_rates,
        )
        self.dilation_rates = tuple(
            positive_integer("dilation_rates", rate) for rate in dilation_rates
        )
        self.kernel_size = positive_integer("kernel_size", kernel_size)
        self.groups = positive_integer("groups", groups)
        self.ratio = positive_integer("ratio", ratio)
        self.min_units = positive_integer("min_units", min_units)

    def build_map(self, shape):
        channels = shape[-1]
        require(
            channels % self.groups == 0,
            "`groups` must divide the channels.",
            groups=self.groups,
            channels=channels,
        )
        units = max(self.min_units, channels // self.ratio)
        means, hidden = (shape[0], channels), (shape[0], units)
        dense, norm = keras.layers.Dense, BatchNormalization
        branches = range(len(self.dilation_rates))
        self.convs = [self._conv(index, shape) for index in branches]
        self.norms = [self.part(norm, shape, name=f"norm_{i}") for i in branches]
        self.squeeze = self.part(dense, means, units, use_bias=False, name="squeeze")
        self.squeeze_norm = self.part(norm, hidden, name="squeeze_norm")
        self.select = self.part(
            dense, hidden, channels * len(branches), use_bias=False, name="select"
        )

    def _conv(self, index, shape):
        return self.part(
            keras.layers.Conv2D,
            shape,
            shape[-1],
            self.kernel_size,
            padding="same",
            dilation_rate=self.dilation_rates[index],
            groups=self.groups,
            use_bias=False,
            data_format="channels_last",
            name=f"conv_{index}",
        )

    def attend_map(self, inputs, mask, training, asked):
        branches = []
        for conv, norm in zip(self.convs, self.norms, strict=True):
            convolved = norm(conv(inputs), training=training, mask=mask)
            branches.append(zero_rows(ops.relu(convolved), mask))
        shares = self._shares(sum(branches), mask, training)  # (B, 1, 1, C, M)
        weighed = [x * shares[..., m] for m, x in enumerate(branches)]
        return sum(weighed), shares

    def _shares(self, summed, mask, training):
        seen = None if mask is None else ops.any(mask, axis=(1, 2))
        hidden = self.squeeze(mean(summed, mask, (1, 2)))
        hidden = ops.relu(self.squeeze_norm(hidden, training=training, mask=seen))
        logits = self.select(hidden)
        channels, branches = summed.shape[-1], len(self.dilation_rates)
        logits = ops.reshape(logits, (-1, 1, 1, channels, branches))
        shares = ops.cast(softmax(at_least_float32(logits)), summed.dtype)
        return shares if seen is None else zero_rows(shares, seen[:, None, None, None])

    def compute_scores_shape(self, shape):
        return (shape[0], 1, 1, shape[-1], len(self.dilation_rates))

    def held_numbers(self, inputs_shape) -> int:
        """The mixed map and the parts of it, which no layer inside returns."""
        return (1 + len(self.dilation_rates)) * math.prod(inputs_shape)

    def get_config(self):
        return {
            **super().get_config(),
            "dilation_rates": self.dilation_rates,
            "kernel_size": self.kernel_size,
            "groups": self.groups,
            "ratio": self.ratio,
            "min_units": self.min_units,
        }
