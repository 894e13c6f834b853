"""Vision transformer."""

from typing import Any

import keras
from keras import ops

from keras_attention.blocks import ClassToken, TransformerEncoder
from keras_attention.errors import fraction, one_of, positive_integer, require
from keras_attention.layers import (
    AttentionPooling,
    PatchEmbedding,
    PositionEmbedding,
    RotaryEmbedding2D,
    SinusoidalPositionEncoding2D,
)
from keras_attention.layers._grid import as_pair, patch_grid
from keras_attention.models._configured import ConfiguredModel
from keras_attention.models._images import image_shape, rescaling
from keras_attention.ops.positions import resized

POOLINGS = ("class_token", "attention", "mean")
POSITIONS = ("learned", "sinusoidal_2d", "rotary_2d", "none")

_EPSILON = 1e-6  # of all normalisations, as in the authors' code
_OF_A_BLOCK = (
    *("intermediate_dim", "num_heads", "dropout", "attention_dropout"),
    *("activation", "attention", "dtype"),
)


@keras.saving.register_keras_serializable(package="keras_attention")
class VisionTransformer(ConfiguredModel):
    """Classifies images by a transformer encoder over their patches.

    A functional model from images to logits. Its first layer scales pixels from 0..255
    to -1..1, the only place where that is done. Pre-norm blocks with GELU. Time
    `O(B L^2 D + B L D F)` for each block.

    The layers by name: `rescaling`, `patch_embedding`, `class_token`, `positions`,
    `encoder_0` and so on, `encoder_norm`, `pooling`, `logits`. Learned positions are
    `model.get_layer("positions").embeddings`, a row for each token: with a class token
    its row is the first, the others are the `grid`, row by row.
    `interpretation.capture` finds the scores of every block as
    `record["encoder_0/self_attention"]` and those of attention pooling, one query, as
    `record["pooling/attention"]`.

    Shapes:
        B batch, h x w height and width, c channels, L patches (and class token), D
        model size, F `intermediate_dim`.

    Args:
        num_classes: Number of logits.
        input_shape: `(h, w, c)` of an image.
        patch_size: Height and width of a patch, one integer or two; must divide those
            of the image.
        num_layers: Blocks of the encoder.
        num_heads: Attention heads; must divide `hidden_dim`.
        hidden_dim: Model size, D.
        intermediate_dim: Hidden size of the feed-forward networks; four times D is
            usual.
        pooling: What the classifier reads: `"class_token"`, a learned vector before the
            patches; `"attention"`, `AttentionPooling` over them with one query and
            `num_heads` heads; or their `"mean"`.
        positions: `"learned"`, added, for the class token as well; `"sinusoidal_2d"`,
            added to patches; `"rotary_2d"`, which turns queries and keys in every
            block, those of the class token by nothing, and needs an `attention` that
            takes `rotary`; or `"none"`, which sees a bag of patches.
        dropout: Share dropped after embeddings and sub-blocks, and of the feed-forward
            networks' hidden units, in [0, 1).
        attention_dropout: Share of attention scores dropped, in [0, 1).
        drop_path: Share of images that skip a sub-block of the last block in training,
            in [0, 1); rises linearly with depth, block i of n has `drop_path i / n`.
        activation: Activation of the feed-forward networks.
        attention: Name of a multi-head layer of the registry.
        attention_options: Further arguments of those layers.
        dtype: Precision of all layers but the first and the last, which are float32.
        **kwargs: Those of `keras.Model`.

    Call args:
        inputs: Images `(B, h, w, c)`, 0..255, integers or floats, channels last.

    Returns:
        Logits `(B, num_classes)`, float32 under every precision.

    Raises:
        ValueError: for sizes that are not positive, a patch that does not divide the
            image, heads that do not divide D, or an unknown pooling or position.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import models
        >>> model = models.VisionTransformer(
        ...     num_classes=10,
        ...     input_shape=(8, 12, 3),
        ...     patch_size=4,
        ...     num_layers=2,
        ...     num_heads=2,
        ...     hidden_dim=8,
        ...     intermediate_dim=16,
        ... )
        >>> tuple(model(np.zeros((1, 8, 12, 3), "uint8")).shape), model.grid
        ((1, 10), (2, 3))
        >>> model.at_resolution((16, 24)).grid
        (4, 6)

    Source:
        Dosovitskiy et al. 2021, arXiv:2010.11929; attention pooling Zhai et al. 2022,
        arXiv:2106.04560, without its feed-forward network; rotary positions Heo et al.
        2024, arXiv:2403.13298; rates of `drop_path` Huang et al. 2016,
        arXiv:1603.09382, section 3.
    """

    def __init__(
        self,
        num_classes,
        input_shape,
        patch_size,
        num_layers,
        num_heads,
        hidden_dim,
        intermediate_dim,
        pooling="class_token",
        positions="learned",
        dropout=0.0,
        attention_dropout=0.0,
        drop_path=0.0,
        activation="gelu",
        attention="multi_head",
        attention_options=None,
        dtype=None,
        **kwargs,
    ):
        one_of("pooling", pooling, POOLINGS)
        one_of("positions", positions, POSITIONS)
        made = {
            "num_classes": num_classes,
            "patch_size": as_pair("patch_size", patch_size),
            "input_shape": image_shape(input_shape),
            "num_layers": num_layers,
            "num_heads": num_heads,
            "hidden_dim": hidden_dim,
            "intermediate_dim": intermediate_dim,
            "pooling": pooling,
            "positions": positions,
            "dropout": dropout,
            "attention_dropout": attention_dropout,
            "drop_path": drop_path,
            "activation": activation,
            "attention": attention,
            "attention_options": attention_options,
            "dtype": dtype,
        }
        grid = patch_grid(made["input_shape"][:2], made["patch_size"])

        # === Layers ===
        embeddings = _embeddings(made, grid)
        *encoders, norm = _encoder(made, grid)
        head = keras.layers.Dense(num_classes, dtype="float32", name="logits")

        # === Functional graph ===
        images = keras.Input(made["input_shape"], name="images")
        x = images
        for layer in (*embeddings, *encoders, norm):
            x = layer(x)
        logits = head(_pooled(x, pooling, num_heads, dtype))
        super().__init__(inputs=images, outputs=logits, **kwargs)

        # === Config ===
        self.grid, self.num_prefix_tokens = grid, _prefix(made)
        policy = keras.dtype_policies.serialize(norm.dtype_policy)
        self._config = {**made, "dtype": policy}

    def at_resolution(self, image_size: int | tuple[int, int]) -> "VisionTransformer":
        """A model with the same weights for images of another size.

        A learned table of positions is interpolated (`ops.positions.resized`), the row
        of the class token kept. Waves and rotations go on beyond the places of the
        training. Some epochs at the new size usually help. The new model shares nothing
        with this one and is not compiled; layers that are frozen here are frozen there.

        Args:
            image_size: Height and width, one integer or two; the patch stays the same
                and must divide them.
        """
        *_, channels = self._config["input_shape"]
        shape = (*as_pair("image_size", image_size), channels)
        other = type(self).from_config({**self.get_config(), "input_shape": shape})
        table = None
        if self._config["positions"] == "learned":
            table = self.get_layer("positions").embeddings
        for old, new in zip(self.weights, other.weights, strict=True):
            new.assign(self._resized(old, other.grid) if old is table else old)
        # Outer layers come first: they set what they hold, which then has its own say.
        both = (x._flatten_layers(include_self=False) for x in (self, other))
        for old, new in zip(*both, strict=True):
            new.trainable = old.trainable
        return other

    def feature_model(self) -> keras.Model:
        """The encoder without its head: from images to tokens `(B, L, D)`.

        A token is a patch, row by row on `grid`. A class token takes part in the blocks
        and is left out at the end. The weights are those of this model, not copies.
        """
        tokens = self.get_layer("encoder_norm").output
        if self.num_prefix_tokens:
            tokens = tokens[:, self.num_prefix_tokens :]
        return keras.Model(self.input, tokens, name="features")

    def _resized(self, table: Any, grid: tuple[int, int]) -> Any:
        table, prefix = ops.convert_to_tensor(table), self.num_prefix_tokens
        places = resized(table[prefix:], grid, grid=self.grid)
        return ops.concatenate([table[:prefix], places], axis=0)


def _prefix(made):
    """How many tokens stand before those of the patches."""
    return int(made["pooling"] == "class_token")


def _embeddings(made, grid):
    """Layers from pixels to tokens, in order."""
    positions, dtype = made["positions"], made["dtype"]
    yield rescaling()
    yield PatchEmbedding(
        made["patch_size"],
        made["hidden_dim"],
        data_format="channels_last",
        dtype=dtype,
        name="patch_embedding",
    )
    if positions == "sinusoidal_2d":
        yield SinusoidalPositionEncoding2D(grid=grid, dtype=dtype, name="positions")
    if _prefix(made):
        yield ClassToken(dtype=dtype, name="class_token")
    if positions == "learned":
        yield PositionEmbedding(
            grid[0] * grid[1] + _prefix(made),
            initializer=keras.initializers.RandomNormal(stddev=0.02),
            dtype=dtype,
            name="positions",
        )
    yield keras.layers.Dropout(made["dropout"], dtype=dtype, name="embedding_dropout")


def _encoder(made, grid):
    """The blocks and the norm after them, in order."""
    num_layers = positive_integer("num_layers", made["num_layers"])
    drop_path = fraction("drop_path", made["drop_path"])
    block = {name: made[name] for name in _OF_A_BLOCK}
    for i in range(num_layers):
        yield TransformerEncoder(
            **block,
            attention_options=_attention_options(made, grid),
            layer_norm_epsilon=_EPSILON,
            drop_path=drop_path * (i + 1) / num_layers,
            name=f"encoder_{i}",
        )
    yield keras.layers.LayerNormalization(
        epsilon=_EPSILON, dtype=made["dtype"], name="encoder_norm"
    )


def _attention_options(made, grid):
    """Options of a block's attention, with rotations by place where there are such."""
    options = made["attention_options"]
    if made["positions"] != "rotary_2d":
        return options
    options = options or {}
    require(
        "rotary" not in options,
        '`attention_options` takes no `rotary` beside `positions="rotary_2d"`, which '
        "sets it.",
        attention_options=options,
    )
    rotary = RotaryEmbedding2D(
        grid=grid, num_prefix_tokens=_prefix(made), dtype=made["dtype"], name="rotary"
    )
    return {**options, "rotary": rotary}


def _pooled(x, pooling, num_heads, dtype):
    """Tokens `(B, L, D)` to what the classifier reads, `(B, D)`."""
    if pooling == "class_token":
        return x[:, 0]
    if pooling == "attention":
        return AttentionPooling(num_heads=num_heads, dtype=dtype, name="pooling")(x)
    return keras.layers.GlobalAveragePooling1D(
        data_format="channels_last", dtype=dtype, name="pooling"
    )(x)
