"""Classifiers of sounds that differ in how frames become one vector."""

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from keras_attention import layers
from keras_attention.blocks import ClassToken, FeedForward, TransformerEncoder
from keras_attention.errors import one_of, positive_integer
from keras_attention.models._bidirectional import bidirectional_gru
from keras_attention.models._configured import ConfiguredModel
from keras_attention.models._text_decoders import final_norm

Tensor = Any

KINDS = ("keyword_transformer", "temporal_attention", "mean_frames")


@keras.saving.register_keras_serializable(package="keras_attention")
class SoundClassifier(ConfiguredModel):
    """From the frames of a sound to the logits of classes, by one of three ways.

    For keywords: short clips, one label each. Every frame is projected to D numbers;
    then what `kind` says makes one vector of a clip, of which the logits are linear:

    - `"keyword_transformer"`: a class token before the frames, learned positions and
      encoder blocks over time; what becomes of the token. With the defaults this is
      KWT-1, of 0.6 million parameters. Time `O(B T^2 D + B T D F)` for each block.
    - `"temporal_attention"`: a bidirectional GRU; its state at the last frame asks,
      and the mean of all states is taken that it weighs.
    - `"mean_frames"`: a feed-forward network on each frame alone, and the mean over
      time. No attention and no order: what the others must beat.

    Padding is seen by none of them, whatever it holds and wherever it stands, but that
    learned positions count it. A clip of padding alone gives finite logits. The layers
    by name: `projection`, then `class_token`, `positions`, `encoder_0` and so on,
    `norm`; or `encoder`, `attention`; or `feed_forward`, `pooling`; then `logits`.
    `interpretation.capture` finds the scores as `record["encoder_0/self_attention"]`,
    in which position 0 is the class token, and `record["attention"]`.

    Shapes:
        B batch, T frames, F numbers of a frame, D `hidden_dim`, C classes.

    Args:
        num_classes: Number of logits, C.
        frame_size: Numbers of a frame, F, such as mel bands.
        kind: As above.
        hidden_dim: Size of a projected frame, and of the GRU's two directions together.
        intermediate_dim: Hidden size of the feed-forward networks.
        num_layers: Encoder blocks of the transformer.
        num_heads: Heads of the transformer.
        max_sequence_length: Most frames that the transformer takes; the others take
            any number.
        dropout: Share dropped after the projection, in the blocks, after the GRU and
            before the logits, in [0, 1).
        normalize_first: Whether the transformer's blocks are pre-norm. The authors
            found post-norm better; it needs warm-up.
        attention: Multi-head layer of the registry, for the transformer.
        dtype: Precision of all layers but the logits, which are float32.
        **kwargs: Those of `keras.Model`.

    Call args:
        inputs: A dict of `frames` `(B, T, F)` and `padding_mask` `(B, T)`, True = a
            real frame.

    Returns:
        Logits `(B, C)`, float32 under every precision.

    Raises:
        ValueError: for an unknown kind or attention, sizes that are not positive, an
            odd `hidden_dim` of the GRU, heads that do not divide it, or more frames
            than `max_sequence_length`.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import models
        >>> model = models.SoundClassifier(3, frame_size=5, kind="temporal_attention")
        >>> frames, mask = np.ones((2, 4, 5)), np.array([[1, 1, 1, 1], [1, 0, 0, 0]])
        >>> tuple(model({"frames": frames, "padding_mask": mask}).shape)
        (2, 3)

    Source:
        Transformer: Berg et al. 2021, "Keyword Transformer", arXiv:2104.00769, section
        2. GRU: De Andrade et al. 2018, arXiv:1808.08929, section 3, without its
        convolutions, with GRUs for its LSTMs, and with one linear layer behind. Mean:
        Zaheer et al. 2017, "Deep sets", arXiv:1703.06114, theorem 2.
    """

    def __init__(
        self,
        num_classes,
        frame_size,
        kind="keyword_transformer",
        hidden_dim=64,
        intermediate_dim=256,
        num_layers=12,
        num_heads=1,
        max_sequence_length=98,
        dropout=0.0,
        normalize_first=False,
        attention="multi_head",
        dtype=None,
        **kwargs,
    ):
        one_of("kind", kind, KINDS)
        positive_integer("num_classes", num_classes)
        positive_integer("frame_size", frame_size)
        positive_integer("hidden_dim", hidden_dim)
        sizes = {
            "hidden_dim": hidden_dim,
            "intermediate_dim": intermediate_dim,
            "num_layers": num_layers,
            "num_heads": num_heads,
            "max_sequence_length": max_sequence_length,
            "dropout": dropout,
            "normalize_first": normalize_first,
            "attention": attention,
            "dtype": dtype,
        }

        # === Functional graph ===
        frames = keras.Input((None, frame_size), name="frames")
        mask = keras.Input((None,), dtype="bool", name="padding_mask")
        projection = keras.layers.Dense(hidden_dim, dtype=dtype, name="projection")
        # What padding holds, even NaN, reaches neither outputs nor gradients.
        x = projection(ops.where(ops.expand_dims(mask, -1), frames, 0.0))
        x = _POOLINGS[kind](x, mask, sizes)
        x = keras.layers.Dropout(dropout, dtype=dtype)(x)
        logits = keras.layers.Dense(num_classes, dtype="float32", name="logits")(x)
        inputs = {"frames": frames, "padding_mask": mask}
        super().__init__(inputs=inputs, outputs=logits, **kwargs)

        # === Config ===
        self.kind = kind
        self._config = {
            "num_classes": num_classes,
            "frame_size": frame_size,
            "kind": kind,
            **sizes,
            "dtype": keras.dtype_policies.serialize(projection.dtype_policy),
        }


# ---------------------------- from (B, T, D) and a mask (B, T) to one vector for a clip


def _keyword_transformer(x: Tensor, mask: Tensor, sizes: dict) -> Tensor:
    dtype, dropout = sizes["dtype"], sizes["dropout"]
    longest = positive_integer("max_sequence_length", sizes["max_sequence_length"])
    positions = layers.PositionEmbedding(
        longest + 1,
        initializer=keras.initializers.RandomNormal(stddev=0.02),
        dtype=dtype,
        name="positions",
    )
    x = positions(ClassToken(dtype=dtype, name="class_token")(x))
    x = keras.layers.Dropout(dropout, dtype=dtype)(x)
    mask = ops.concatenate([ops.ones_like(mask[:, :1]), mask], axis=1)  # (B, 1 + T)
    for number in range(positive_integer("num_layers", sizes["num_layers"])):
        x = TransformerEncoder(
            sizes["intermediate_dim"],
            sizes["num_heads"],
            dropout=dropout,
            activation="gelu",
            normalize_first=sizes["normalize_first"],
            attention=sizes["attention"],
            dtype=dtype,
            name=f"encoder_{number}",
        )(x, mask=mask)
    return final_norm(sizes["normalize_first"], dtype, "norm")(x)[:, 0]


def _temporal_attention(x: Tensor, mask: Tensor, sizes: dict) -> Tensor:
    dtype = sizes["dtype"]
    x = keras.layers.Dropout(sizes["dropout"], dtype=dtype)(x)
    states = bidirectional_gru(sizes["hidden_dim"], dtype)(x, mask=mask)
    states = keras.layers.Dropout(sizes["dropout"], dtype=dtype)(states)
    return layers.TemporalAttention(dtype=dtype, name="attention")(states, mask=mask)


def _mean_frames(x: Tensor, mask: Tensor, sizes: dict) -> Tensor:
    dtype = sizes["dtype"]
    x = FeedForward(
        sizes["intermediate_dim"],
        "relu",
        sizes["dropout"],
        dtype=dtype,
        name="feed_forward",
    )(x)
    return layers.MaskedMeanPooling(dtype=dtype, name="pooling")(x, mask=mask)


_POOLINGS: dict[str, Callable[[Tensor, Tensor, dict], Tensor]] = {
    "keyword_transformer": _keyword_transformer,
    "temporal_attention": _temporal_attention,
    "mean_frames": _mean_frames,
}
