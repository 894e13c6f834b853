"""Image captioner: an image encoder, and a decoder that writes what it sees."""

from typing import Any

import keras
from keras import ops

from keras_attention import losses
from keras_attention.blocks import (
    RecurrentDecoder,
    TokenAndPositionEmbedding,
    TransformerDecoder,
)
from keras_attention.errors import one_of, positive_integer, require
from keras_attention.layers import PositionEmbedding, SinusoidalPositionEncoding2D
from keras_attention.models._configured import ConfiguredModel
from keras_attention.models._image_encoders import make_classifier, require_alike
from keras_attention.models._images import image_shape
from keras_attention.models._text_decoders import (
    RecurrentTextDecoder,
    TextDecoder,
    TransformerTextDecoder,
    final_norm,
)

Tensor = Any

DECODERS = ("gru", "transformer")
POSITIONS = ("learned", "sinusoidal_2d", "none")


@keras.saving.register_keras_serializable(package="keras_attention")
class ImageCaptioner(ConfiguredModel):
    """Writes a caption of an image, looking at its places word by word.

    A functional model of `{"image": (B, h, w, c), "target": (B, T)}`. An encoder of the
    library makes a grid of features, a projection and positions make them the memory of
    a decoder, whose embedding is tied to the output. `initial_state` and `step` make it
    decodable by `keras_attention.decoding`.

    The layers by name: `features` (the encoder), `projection`, `positions`,
    `embedding`, then `decoder` of a GRU or `decoder_0` and so on and `decoder_norm`.
    `grid` has the rows and columns of the places, in whose order, row by row, scores
    stand. To train only what is new: `model.encoder.trainable = False`.

    Shapes:
        B batch, h, w, c height, width and channels, L places, T length of the caption,
        N heads, V vocabulary size.

    Args:
        vocabulary_size: Number of tokens; id 0 is padding.
        input_shape: `(h, w, c)` of an image.
        hidden_dim: Size of memory, embeddings and decoder.
        encoder: `"cnn"`, an `AttentionCNN`, or `"vit"`, a `VisionTransformer`.
        encoder_options: Its arguments, but those given here and `num_classes`; for
            `"vit"` its sizes must be among them.
        decoder: `"gru"`, a `RecurrentDecoder` that starts from the mean of the places,
            or `"transformer"`, `TransformerDecoder` blocks.
        decoder_options: Of `"gru"` `attention` and `order`; with `attention="none"`
            every step reads only the mean of the places. Of `"transformer"`
            `num_layers`, `num_heads`, `intermediate_dim` and the other arguments of the
            blocks.
        positions: Added to the projected places: `"sinusoidal_2d"`, `"learned"` or
            `"none"`. Without them a decoder finds what it looks for and does not know
            where it is.
        dropout: Share dropped of places and embeddings, before the output of a GRU and
            in transformer blocks, in [0, 1).
        doubly_stochastic: Weight of `losses.doubly_stochastic_penalty`, the mean over
            the batch, added to the loss in training; for a GRU with attention.
        dtype: Precision of all layers but an encoder's first.
        **kwargs: Those of `keras.Model`.

    Call args:
        inputs: Dict of `image` `(B, h, w, c)`, 0..255, integers or floats, channels
            last, and `target` `(B, T)` token ids, 0 = padding.

    Returns:
        Logits `(B, T, V)`, float32 under every precision: row `t` predicts the token
        after `target[t]`.

    Raises:
        ValueError: for an unknown encoder, decoder or positions, images without a fixed
            size, or a penalty for scores that there are none of.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import models
        >>> model = models.ImageCaptioner(
        ...     vocabulary_size=11,
        ...     input_shape=(16, 24, 3),
        ...     hidden_dim=8,
        ...     encoder_options={"filters": (8, 16), "blocks_per_stage": 1},
        ... )
        >>> images, ids = np.zeros((1, 16, 24, 3), "uint8"), np.array([[1, 5, 6]])
        >>> tuple(model({"image": images, "target": ids}).shape), model.grid
        ((1, 3, 11), (4, 6))

    Source:
        Xu et al. 2015, arXiv:1502.03044, with a GRU for the LSTM and one linear
        projection of the features; without attention Vinyals et al. 2015,
        arXiv:1411.4555. Positions of the memory Carion et al. 2020, arXiv:2005.12872.
    """

    def __init__(
        self,
        vocabulary_size,
        input_shape,
        hidden_dim,
        encoder="cnn",
        encoder_options=None,
        decoder="gru",
        decoder_options=None,
        positions="sinusoidal_2d",
        dropout=0.0,
        doubly_stochastic=0.0,
        dtype=None,
        **kwargs,
    ):
        one_of("decoder", decoder, DECODERS)
        positive_integer("hidden_dim", hidden_dim)
        input_shape = image_shape(input_shape)

        # === Layers ===
        classifier = make_classifier(encoder, encoder_options, input_shape, dtype)
        features = classifier.feature_model()
        reading = _reading(
            features, hidden_dim, positions, classifier.grid, dropout, dtype
        )
        tokens = {
            "vocabulary_size": vocabulary_size,
            "hidden_dim": hidden_dim,
            "dropout": dropout,
            "dtype": dtype,
        }
        writing = _recurrent if decoder == "gru" else _transformer
        text = writing(tokens, decoder_options or {})

        # === Functional graph ===
        image = keras.Input(input_shape, name="image")
        target = keras.Input((None,), dtype="int32", name="target")
        memory = _read(reading, image)
        hidden = _written(text, target, memory, doubly_stochastic)
        logits = _as_float32(text.predict(hidden))
        super().__init__(
            inputs={"image": image, "target": target}, outputs=logits, **kwargs
        )

        # === Config ===
        made = classifier.get_config()
        self.encoder, self.grid = features, classifier.grid
        self.text_decoder, self._reading = text, reading
        self._config = {
            **tokens,
            "input_shape": input_shape,
            "encoder": encoder,
            "encoder_options": {name: made[name] for name in encoder_options or {}},
            "decoder": decoder,
            "decoder_options": decoder_options,
            "positions": positions,
            "doubly_stochastic": doubly_stochastic,
            "dtype": keras.dtype_policies.serialize(text.embedding.dtype_policy),
        }

    # ------------------------------------------------------------------------- decoding

    def encode(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Memory `(B, L, D)` of images and its mean `(B, D)`."""
        memory = _read(self._reading, images)
        return memory, _mean(memory)

    def initial_state(
        self, images: Tensor, max_length: int, return_attention_scores: bool = False
    ) -> dict:
        """State before the first of at most `max_length` steps.

        Args:
            images: `(B, h, w, c)`.
            max_length: Steps there is room for.
            return_attention_scores: Collect what each step looks at, as
                `state["attention_scores"]` `(B, N, max_length, L)`, of a transformer
                from its last block. A search hands it on with
                `keep=lambda state: state["attention_scores"]`;
                `interpretation.word_maps` lays it out as the image.

        Raises:
            ValueError: scores of a model without attention.
        """
        memory, summary = self.encode(images)
        return self.text_decoder.initial_state(
            memory, max_length, return_attention_scores, summary
        )

    def step(self, tokens: Tensor, state: dict) -> tuple[Tensor, dict]:
        """Logits `(B, V)` after `tokens` `(B,)`, and the next state."""
        logits, state = self.text_decoder.step(tokens, state)
        return ops.cast(logits, "float32"), state

    def cross_attention_scores(self, images: Tensor, target: Tensor) -> Tensor:
        """What each step looked at: `(B, N, T, L)`, of a transformer the last block.

        Raises:
            ValueError: for a model without attention.
        """
        self.text_decoder.scored_heads()
        _, scores = self.text_decoder.read(
            target, *self.encode(images), return_attention_scores=True
        )
        return scores

    # ----------------------------------------------------------------------- warm start

    def load_encoder(self, model: keras.Model) -> None:
        """Start the encoder from the weights of a trained model.

        Args:
            model: `AttentionCNN`, `VisionTransformer` or another captioner whose
                encoder is of the same kind and sizes, for images of as many channels.
                A vision transformer of another resolution is brought to this one
                (`at_resolution`); to a CNN it makes no difference. Its weights are
                copied.

        Raises:
            ValueError: the model has another encoder, or takes other images.
        """
        if isinstance(model, ImageCaptioner):
            model = model._as_classifier()
        own = self._as_classifier()
        require_alike(own, model)
        if self._config["encoder"] == "vit":
            model = model.at_resolution(self._config["input_shape"][:2])
        self.encoder.set_weights(model.feature_model().get_weights())

    def _as_classifier(self) -> keras.Model:
        """A new classifier with a copy of the encoder's weights and some head."""
        names = ("encoder", "encoder_options", "input_shape", "dtype")
        classifier = make_classifier(*(self._config[name] for name in names))
        classifier.feature_model().set_weights(self.encoder.get_weights())
        return classifier


# --------------------------------------------------------------------------- the image


def _reading(features, hidden_dim, positions, grid, dropout, dtype) -> tuple:
    """Layers from images to the memory, in order."""
    one_of("positions", positions, POSITIONS)
    projection = keras.layers.Dense(hidden_dim, dtype=dtype, name="projection")
    shared = {"dtype": dtype, "name": "positions"}
    places = []
    if positions == "sinusoidal_2d":
        places = [SinusoidalPositionEncoding2D(grid=grid, **shared)]
    if positions == "learned":
        start = keras.initializers.RandomNormal(stddev=0.02)
        places = [PositionEmbedding(grid[0] * grid[1], start, **shared)]
    drop = keras.layers.Dropout(dropout, dtype=dtype, name="memory_dropout")
    return (features, projection, *places, drop)


def _read(reading: tuple, images: Tensor) -> Tensor:
    """Memory `(B, L, D)` of images."""
    memory = images
    for layer in reading:
        memory = layer(memory)
    return memory


def _mean(memory: Tensor) -> Tensor:
    """What is there at all, wherever it is: `(B, D)`."""
    return ops.mean(memory, axis=1)


# ---------------------------------------------------------------------------- the text


def _recurrent(tokens: dict, options: dict) -> TextDecoder:
    dtype = tokens["dtype"]
    embedding = TokenAndPositionEmbedding(**tokens, positions="none", name="embedding")
    decoder = RecurrentDecoder(
        tokens["hidden_dim"], **options, dtype=dtype, name="decoder"
    )
    dropout = keras.layers.Dropout(
        tokens["dropout"], dtype=dtype, name="output_dropout"
    )
    return RecurrentTextDecoder(embedding, decoder, dropout)


def _transformer(tokens: dict, options: dict) -> TextDecoder:
    dropout, dtype = tokens["dropout"], tokens["dtype"]
    block = {"num_layers": 1, "dropout": dropout, "dtype": dtype, **options}
    num_layers = positive_integer("num_layers", block.pop("num_layers"))
    decoders = [
        TransformerDecoder(**block, name=f"decoder_{i}") for i in range(num_layers)
    ]
    norm = final_norm(decoders[0].normalize_first, dtype, "decoder_norm")
    embedding = TokenAndPositionEmbedding(**tokens, name="embedding")
    return TransformerTextDecoder(embedding, decoders, norm)


def _written(text: TextDecoder, target, memory, weight: float) -> Tensor:
    """What the decoder makes of the target, with a penalty on where it looked."""
    summary = _mean(memory)
    if not weight:
        return text.read(target, memory, summary)
    looks = isinstance(text, RecurrentTextDecoder) and text.decoder.attention != "none"
    require(
        looks and weight > 0,
        "`doubly_stochastic` is at least 0, and for a GRU with attention.",
        doubly_stochastic=weight,
    )
    hidden, scores = text.read(target, memory, summary, return_attention_scores=True)
    return _DoublyStochastic(weight, name="doubly_stochastic")(hidden, scores, target)


class _DoublyStochastic(keras.layers.Layer):
    """Hands on its first input, and in training adds the penalty on scores."""

    def __init__(self, weight: float, **kwargs):
        super().__init__(autocast=False, **kwargs)
        self.weight = weight
        self.supports_masking = True

    def call(self, hidden, attention_scores, target, training=None):
        if training:
            penalty = losses.doubly_stochastic_penalty(
                attention_scores[:, 0], ops.not_equal(target, 0)
            )
            self.add_loss(self.weight * ops.mean(penalty))
        return hidden

    def multiply_adds(self) -> int:
        """No matrix products."""
        return 0

    def compute_output_spec(self, hidden, attention_scores, target, training=None):
        return keras.KerasTensor(hidden.shape, dtype=hidden.dtype)

    def compute_mask(self, inputs, previous_mask):
        return previous_mask


def _as_float32(logits: Tensor) -> Tensor:
    """The output of the model, whatever its precision."""
    return keras.layers.Activation("linear", dtype="float32", name="logits")(logits)
