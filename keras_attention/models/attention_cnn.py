"""Residual network for images, with or without attention in its blocks."""

from typing import Any

import keras

from keras_attention import layers
from keras_attention.errors import one_of, positive_integer, require
from keras_attention.models._configured import ConfiguredModel
from keras_attention.models._images import image_shape, rescaling

Tensor = Any

ATTENTIONS = (
    "none",
    "squeeze_excitation",
    "efficient_channel",
    "spatial",
    "cbam",
    "bam",
    "coordinate",
    "sc_se",
    "selective_kernel",
)


@keras.saving.register_keras_serializable(package="keras_attention")
class AttentionCNN(ConfiguredModel):
    """Classifies images by a residual network whose blocks may hold attention.

    A functional model from images to logits, for comparing gates on feature maps: the
    network around them stays the same. Its first layer scales pixels from 0..255 to
    -1..1, the only place where that is done. Each stage but the first halves the map; a
    block is two 3 x 3 convolutions, each normalised by batch, and a way around them.

    Attention stands where its paper puts it: a gate on the branch of every block,
    before the addition; `"bam"` between stages, before the map is halved;
    `"selective_kernel"` in place of the second convolution of every block.

    The layers by name: `rescaling`, `stem`, `stage_0_block_0_conv_0`,
    `stage_0_block_0_attention`, `stage_0_block_0` (the block's output) and so on,
    `stage_0_attention` of `"bam"`, `pooling`, `logits`. The last map, for Grad-CAM, is
    the output of the layer that `last_map` names; `grid` has its rows and columns,
    `None` where the image's are.

    Shapes:
        B batch, h and w height and width, c channels.

    Args:
        num_classes: Number of logits.
        input_shape: `(h, w, c)` of an image; h and w may be `None`.
        filters: Channels of each stage.
        blocks_per_stage: Blocks of a stage, one number for all or one each.
        stem_strides: Steps of the first convolution: 2 halves the map at once, for a
            quarter of the time; 1 suits CIFAR's recipe.
        attention: `"none"` or a name of the registry: `"squeeze_excitation"`,
            `"efficient_channel"`, `"spatial"`, `"cbam"`, `"bam"`, `"coordinate"`,
            `"sc_se"` or `"selective_kernel"`.
        attention_options: Further arguments of those layers, such as `{"ratio": 8}`.
        dropout: Share of the pooled features dropped in training, in [0, 1).
        dtype: Precision of all layers but the first and those after the last map, which
            are float32.
        **kwargs: Those of `keras.Model`.

    Call args:
        inputs: Images `(B, h, w, c)`, 0..255, integers or floats, channels last.

    Returns:
        Logits `(B, num_classes)`, float32 under every precision.

    Raises:
        ValueError: for sizes that are not positive, an unknown attention, options of
            none, or `"bam"` with a single stage.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import models
        >>> model = models.AttentionCNN(
        ...     num_classes=10,
        ...     input_shape=(None, None, 3),
        ...     filters=(8, 16),
        ...     attention="squeeze_excitation",
        ...     attention_options={"ratio": 4},
        ... )
        >>> tuple(model(np.zeros((1, 20, 28, 3), "uint8")).shape)
        (1, 10)

    Source:
        He et al. 2016, arXiv:1512.03385, section 3, with projections where the shape
        changes and no pooling after the stem. Attention: the layers' own pages.
    """

    def __init__(
        self,
        num_classes,
        input_shape,
        filters=(32, 64, 128),
        blocks_per_stage=2,
        stem_strides=2,
        attention="none",
        attention_options=None,
        dropout=0.0,
        dtype=None,
        **kwargs,
    ):
        positive_integer("num_classes", num_classes)
        one_of("attention", attention, ATTENTIONS)
        require(
            attention != "none" or not attention_options,
            "`attention_options` needs an `attention`.",
            attention=attention,
            attention_options=attention_options,
        )
        input_shape = image_shape(input_shape, any_size=True)
        filters = _each("filters", filters)
        require(
            attention != "bam" or len(filters) > 1,
            '`attention="bam"` stands between stages: `filters` must have two or more.',
            filters=filters,
        )
        blocks = _blocks(blocks_per_stage, len(filters))

        # === Functional graph ===
        graph = _Graph(attention, attention_options or {}, dtype)
        images = keras.Input(input_shape, name="images")
        x = rescaling()(images)
        x = graph.stem(x, filters[0], positive_integer("stem_strides", stem_strides))
        for stage, (size, count) in enumerate(zip(filters, blocks, strict=True)):
            for block in range(count):
                strides = 2 if stage > 0 and block == 0 else 1
                x = graph.block(x, size, strides, f"stage_{stage}_block_{block}")
            if attention == "bam" and stage < len(filters) - 1:
                x = graph.attend(x, f"stage_{stage}_attention")
        logits = _head(x, num_classes, dropout)
        super().__init__(inputs=images, outputs=logits, **kwargs)

        # === Config ===
        self.last_map = f"stage_{len(filters) - 1}_block_{blocks[-1] - 1}"
        last = self.get_layer(self.last_map)
        self.grid = last.output.shape[1:3]
        self._config = {
            "num_classes": num_classes,
            "input_shape": input_shape,
            "filters": filters,
            "blocks_per_stage": blocks,
            "stem_strides": stem_strides,
            "attention": attention,
            "attention_options": attention_options,
            "dropout": dropout,
            "dtype": keras.dtype_policies.serialize(last.dtype_policy),
        }

    def feature_model(self) -> keras.Model:
        """The network without its head: from images to tokens `(B, L, D)`.

        A token is a place of the last map, row by row on `grid`. The weights are those
        of this model, not copies.
        """
        last = self.get_layer(self.last_map)
        tokens = keras.layers.Reshape(
            (-1, last.output.shape[-1]), dtype=last.dtype_policy, name="tokens"
        )
        return keras.Model(self.input, tokens(last.output), name="features")


class _Graph:
    """Puts layers of one precision, and attention of one kind, into the graph."""

    def __init__(self, attention: str, options: dict, dtype: Any):
        self.attention, self.options, self.dtype = attention, options, dtype

    def stem(self, x: Tensor, filters: int, strides: int) -> Tensor:
        """The first convolution."""
        x = self._norm(self._conv(x, filters, 3, strides, "stem"), "stem_norm")
        return self._relu(x, "stem_relu")

    def block(self, x: Tensor, filters: int, strides: int, name: str) -> Tensor:
        """Two convolutions and the way around them."""
        branch = self._conv(x, filters, 3, strides, f"{name}_conv_0")
        branch = self._relu(self._norm(branch, f"{name}_norm_0"), f"{name}_relu_0")
        if self.attention == "selective_kernel":
            branch = self.attend(branch, f"{name}_attention")
        else:
            branch = self._conv(branch, filters, 3, 1, f"{name}_conv_1")
        branch = self._norm(branch, f"{name}_norm_1")
        if self.attention not in ("none", "bam", "selective_kernel"):
            branch = self.attend(branch, f"{name}_attention")
        if strides > 1 or x.shape[-1] != filters:
            x = self._conv(x, filters, 1, strides, f"{name}_shortcut")
            x = self._norm(x, f"{name}_shortcut_norm")
        add = keras.layers.Add(dtype=self.dtype, name=f"{name}_add")
        return self._relu(add([x, branch]), name)

    def attend(self, x: Tensor, name: str) -> Tensor:
        """The attention of this network."""
        shared = {"data_format": "channels_last", "dtype": self.dtype, "name": name}
        return layers.get(self.attention, **self.options, **shared)(x)

    def _conv(self, x, filters, kernel_size, strides, name):
        return keras.layers.Conv2D(
            filters,
            kernel_size,
            strides,
            padding="same",
            use_bias=False,
            data_format="channels_last",
            kernel_initializer="he_normal",
            dtype=self.dtype,
            name=name,
        )(x)

    def _norm(self, x, name):
        # Statistics that follow within tens of steps: trainings here are short.
        return keras.layers.BatchNormalization(
            momentum=0.9, epsilon=1e-5, dtype=self.dtype, name=name
        )(x)

    def _relu(self, x, name):
        return keras.layers.ReLU(dtype=self.dtype, name=name)(x)


def _head(x, num_classes, dropout):
    """Logits of the last map, in float32."""
    x = keras.layers.GlobalAveragePooling2D(
        data_format="channels_last", dtype="float32", name="pooling"
    )(x)
    x = keras.layers.Dropout(dropout, dtype="float32", name="dropout")(x)
    return keras.layers.Dense(num_classes, dtype="float32", name="logits")(x)


def _each(name: str, numbers: Any) -> tuple[int, ...]:
    require(
        isinstance(numbers, (tuple, list)) and len(numbers) > 0,
        f"`{name}` must be one number a stage.",
        **{name: numbers},
    )
    return tuple(positive_integer(name, number) for number in numbers)


def _blocks(blocks: Any, stages: int) -> tuple[int, ...]:
    """Blocks of each stage."""
    blocks = (blocks,) * stages if isinstance(blocks, int) else blocks
    blocks = _each("blocks_per_stage", blocks)
    require(
        len(blocks) == stages,
        "`blocks_per_stage` must have one number for each of the `filters`.",
        blocks_per_stage=blocks,
        stages=stages,
    )
    return blocks
