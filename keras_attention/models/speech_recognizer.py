"""Speech recognizer: from the frames of a clip to text, by CTC, attention or both."""

import math
from typing import Any

import keras
from keras import ops

from keras_attention import layers
from keras_attention.blocks import (
    ConformerEncoder,
    ConvolutionalSubsampling,
    RecurrentDecoder,
    TokenAndPositionEmbedding,
    TransformerDecoder,
    TransformerEncoder,
)
from keras_attention.errors import one_of, positive_integer, require
from keras_attention.losses import with_blank_padding
from keras_attention.models._configured import ConfiguredModel
from keras_attention.models._text_decoders import (
    RecurrentTextDecoder,
    TextDecoder,
    TransformerTextDecoder,
    final_norm,
)

Tensor = Any

ENCODERS = ("conformer", "transformer")
DECODERS = ("gru", "transformer")
OBJECTIVES = ("attention", "ctc", "joint")


@keras.saving.register_keras_serializable(package="keras_attention")
class SpeechRecognizer(ConfiguredModel):
    """Writes what is said in a clip, by CTC, by attention or by both.

    A functional model of `{"frames": (B, T, F), "padding_mask": (B, T), "target":
    (B, U)}`. Two strided convolutions make a quarter as many places of the frames,
    encoder blocks the memory. Of it come, as `objective` says, CTC logits for every
    place, from one linear layer, and those of a decoder that writes token by token,
    with its embedding tied to the output:

    - `"joint"`: both, for a loss of each. CTC keeps the encoder in order, which
      attention alone learns slowly; decode with `decoding.JointCTC`.
    - `"ctc"`: the first alone; there is no decoder and no `target`. Decode with
      `decoding.ctc_beam_search`.
    - `"attention"`: the second alone; decode with any search.

    Padding is seen by nobody, whatever it holds. The layers by name: `subsampling`,
    `scale` by `sqrt(D)`, `positions` of a transformer, `encoder_0` and so on,
    `encoder_norm`, `ctc_logits`, `embedding`, then `decoder` of a GRU or `decoder_0`
    and so on and `decoder_norm`.

    Shapes:
        B batch, T frames, F numbers of a frame, S = ceil(T / 4) places, U length of the
        text, N heads, V vocabulary size, D `hidden_dim`.

    Args:
        vocabulary_size: Number of tokens; id 0 is padding, and the blank of CTC.
        frame_size: Numbers of a frame, F, such as mel bands.
        hidden_dim: Size of memory, embeddings and decoder, D.
        num_layers: Encoder blocks.
        num_heads: Heads of encoder and transformer decoder.
        intermediate_dim: Hidden size of their feed-forward networks.
        encoder: `"conformer"` or `"transformer"`, which adds sinusoidal positions to
            the places.
        encoder_options: Further arguments of its blocks, `ConformerEncoder` or
            `TransformerEncoder`, such as `{"kernel_size": 15}`.
        decoder: `"transformer"`, or `"gru"`, a `RecurrentDecoder` that starts from the
            mean of the memory.
        decoder_options: Of `"transformer"` `num_layers`, by default 1, and arguments of
            its blocks; of `"gru"` `attention`, by default `"location_aware"`, and
            `order`.
        objective: `"joint"`, `"ctc"` or `"attention"`.
        filters: Filters of the strided convolutions.
        dropout: Share dropped after them, of embeddings, in all blocks and before the
            output of a GRU, in [0, 1).
        dtype: Precision of all layers but `ctc_logits`, which is float32.
        **kwargs: Those of `keras.Model`.

    Call args:
        inputs: Dict of `frames` `(B, T, F)`, `padding_mask` `(B, T)`, True = a real
            frame, and, where there is a decoder, `target` `(B, U)` token ids, 0 =
            padding.

    Returns:
        Dict of `ctc`, logits `(B, S, V)` whose padding is surely the blank, so that
        `losses.CTC` knows it, and `attention`, logits `(B, U, V)`: row `u` predicts the
        token after `target[u]`. Those that `objective` names, float32 under every
        precision.

    Raises:
        ValueError: for an unknown encoder, decoder or objective, sizes that are not
            positive, or heads that do not divide `hidden_dim`.

    Examples:
        >>> import numpy as np
        >>> from keras_attention import models
        >>> model = models.SpeechRecognizer(
        ...     vocabulary_size=11,
        ...     frame_size=8,
        ...     hidden_dim=12,
        ...     num_layers=1,
        ...     num_heads=2,
        ...     intermediate_dim=16,
        ...     filters=2,
        ... )
        >>> frames, mask = np.ones((1, 17, 8)), np.ones((1, 17), bool)
        >>> ids = np.array([[1, 5, 6]])
        >>> logits = model({"frames": frames, "padding_mask": mask, "target": ids})
        >>> {name: tuple(x.shape) for name, x in sorted(logits.items())}
        {'attention': (1, 3, 11), 'ctc': (1, 5, 11)}

    Source:
        Encoder: Gulati et al. 2020, arXiv:2005.08100, or Dong et al. 2018,
        "Speech-Transformer". GRU: Chorowski et al. 2015, arXiv:1506.07503, section 2.2.
        Both objectives: Watanabe et al. 2017, "Hybrid CTC/attention architecture for
        end-to-end speech recognition", section II-C.
    """

    def __init__(
        self,
        vocabulary_size,
        frame_size,
        hidden_dim=144,
        num_layers=4,
        num_heads=4,
        intermediate_dim=576,
        encoder="conformer",
        encoder_options=None,
        decoder="transformer",
        decoder_options=None,
        objective="joint",
        filters=32,
        dropout=0.0,
        dtype=None,
        **kwargs,
    ):
        one_of("decoder", decoder, DECODERS)
        one_of("objective", objective, OBJECTIVES)

        # === Layers ===
        shared = {"dropout": dropout, "dtype": dtype}
        tokens = {
            "vocabulary_size": positive_integer("vocabulary_size", vocabulary_size),
            "hidden_dim": hidden_dim,
            **shared,
        }
        block = {"intermediate_dim": intermediate_dim, "num_heads": num_heads, **shared}
        subsampling = ConvolutionalSubsampling(
            hidden_dim, filters, dtype=dtype, name="subsampling"
        )
        own = {**block, **(encoder_options or {})}
        encode = _Encoder(subsampling, encoder, num_layers, own, dropout)
        classify = None if objective == "attention" else _ctc(vocabulary_size)
        options = decoder_options or {}
        text = None if objective == "ctc" else _TEXTS[decoder](tokens, block, options)

        # === Functional graph ===
        inputs, outputs = _graph(frame_size, encode, classify, text)
        super().__init__(inputs=inputs, outputs=outputs, **kwargs)

        # === Config ===
        self.text_decoder, self.objective = text, objective
        self._encode, self._classify = encode, classify
        policy = keras.dtype_policies.serialize(subsampling.dtype_policy)
        self._config = {
            **tokens,
            **block,
            "frame_size": frame_size,
            "num_layers": num_layers,
            "encoder": encoder,
            "encoder_options": encoder_options,
            "decoder": decoder,
            "decoder_options": decoder_options,
            "objective": objective,
            "filters": filters,
            "dtype": policy,
        }

    # ------------------------------------------------------------------------- decoding

    def encode(self, frames: Tensor, padding_mask: Tensor) -> tuple[Tensor, Tensor]:
        """Memory `(B, S, D)` of frames `(B, T, F)`, and which places are real."""
        return self._encode(frames, ops.cast(padding_mask, "bool"))

    def ctc_logits(self, memory: Tensor) -> Tensor:
        """CTC logits `(B, S, V)` of a memory.

        Raises:
            ValueError: the model has none.
        """
        self._require(self._classify is not None, "CTC logits", "ctc")
        return self._classify(memory)

    def memory_state(
        self,
        memory: Tensor,
        mask: Tensor,
        max_length: int,
        return_attention_scores: bool = False,
    ) -> dict:
        """State before the first of at most `max_length` steps.

        Args:
            memory: `(B, S, D)`, of `encode`.
            mask: `(B, S)`, of `encode`.
            max_length: Steps there is room for.
            return_attention_scores: Collect what each step looks at, as
                `state["attention_scores"]` `(B, N, max_length, S)`, of a transformer
                from its last block. A search hands it on with
                `keep=lambda state: state["attention_scores"]`.

        Raises:
            ValueError: the model has no decoder, or one without scores.
        """
        text = self._decoder()
        summary = self._encode.summary(memory, mask=mask)
        return text.initial_state(
            memory, max_length, return_attention_scores, summary, mask
        )

    def initial_state(
        self,
        frames: Tensor,
        padding_mask: Tensor,
        max_length: int,
        return_attention_scores: bool = False,
    ) -> dict:
        """The `memory_state` of frames `(B, T, F)` and their mask `(B, T)`."""
        encoded = self.encode(frames, padding_mask)
        return self.memory_state(*encoded, max_length, return_attention_scores)

    def step(self, tokens: Tensor, state: dict) -> tuple[Tensor, dict]:
        """Logits `(B, V)` after `tokens` `(B,)`, and the next state."""
        logits, state = self._decoder().step(tokens, state)
        return ops.cast(logits, "float32"), state

    def cross_attention_scores(
        self, frames: Tensor, padding_mask: Tensor, target: Tensor
    ) -> Tensor:
        """What each step looked at: `(B, N, U, S)`, of a transformer the last block.

        Raises:
            ValueError: the model has no decoder, or one without scores.
        """
        text = self._decoder()
        text.scored_heads()
        memory, mask = self.encode(frames, padding_mask)
        summary = self._encode.summary(memory, mask=mask)
        _, scores = text.read(
            target, memory, summary, mask, return_attention_scores=True
        )
        return scores

    def _decoder(self) -> TextDecoder:
        self._require(self.text_decoder is not None, "a decoder", "attention")
        return self.text_decoder

    def _require(self, condition: bool, what: str, objective: str) -> None:
        require(
            condition,
            f"`objective` must be 'joint' or '{objective}' for {what}.",
            objective=self.objective,
        )


class _Encoder:
    """Layers from frames to the memory and its mask; the model tracks them.

    Args:
        subsampling: From frames to places.
        kind: `"conformer"` or `"transformer"`.
        num_layers: Number of blocks.
        block: Their arguments.
        dropout: Share dropped before the blocks.
    """

    def __init__(self, subsampling, kind, num_layers, block, dropout):
        one_of("encoder", kind, ENCODERS)
        made = ConformerEncoder if kind == "conformer" else TransformerEncoder
        policy = subsampling.dtype_policy
        count = positive_integer("num_layers", num_layers)
        self.subsampling = subsampling
        self.blocks = [made(**block, name=f"encoder_{i}") for i in range(count)]
        # Else what untrained blocks add would drown what is heard.
        scale = keras.layers.Rescaling(
            math.sqrt(subsampling.units), dtype=policy, name="scale"
        )
        # A Conformer's blocks end in a normalisation, and know distances.
        is_transformer = kind == "transformer"
        positions = layers.SinusoidalPositionEncoding(dtype=policy, name="positions")
        self.first = [scale, *([positions] if is_transformer else [])]
        self.first += [keras.layers.Dropout(dropout, dtype=policy, name="dropout")]
        needs_norm = is_transformer and self.blocks[-1].normalize_first
        self.norm = final_norm(needs_norm, policy, "encoder_norm")
        self.summary = layers.MaskedMeanPooling(dtype=policy, name="summary")

    def __call__(self, frames: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        memory = self.subsampling(frames, mask=mask)
        mask = self.subsampling.compute_mask(frames, mask)
        for layer in self.first:
            memory = layer(memory)
        for layer in self.blocks:
            memory = layer(memory, mask=mask)
        return self.norm(memory), mask


def _graph(
    frame_size: int, encode: _Encoder, classify: Any, text: TextDecoder | None
) -> tuple[dict, dict]:
    """Inputs of the model, and the logits of all that writes."""
    frames = keras.Input((None, frame_size), name="frames")
    mask = keras.Input((None,), dtype="bool", name="padding_mask")
    inputs, outputs = {"frames": frames, "padding_mask": mask}, {}
    memory, places = encode(frames, mask)
    if classify is not None:
        outputs["ctc"] = with_blank_padding(classify(memory), places)
    if text is not None:
        target = keras.Input((None,), dtype="int32", name="target")
        inputs["target"] = target
        summary = encode.summary(memory, mask=places)
        hidden = text.read(target, memory, summary, places)
        outputs["attention"] = _as_float32(text.predict(hidden))
    return inputs, outputs


# ---------------------------------------------------------------------------- the text


def _gru(tokens: dict, block: dict, options: dict) -> TextDecoder:
    dtype = block["dtype"]
    embedding = TokenAndPositionEmbedding(**tokens, positions="none", name="embedding")
    options = {"attention": "location_aware", **options}
    decoder = RecurrentDecoder(
        tokens["hidden_dim"], **options, dtype=dtype, name="decoder"
    )
    dropout = keras.layers.Dropout(
        tokens["dropout"], dtype=dtype, name="output_dropout"
    )
    return RecurrentTextDecoder(embedding, decoder, dropout)


def _transformer(tokens: dict, block: dict, options: dict) -> TextDecoder:
    block = {"num_layers": 1, **block, **options}
    count = positive_integer("num_layers", block.pop("num_layers"))
    decoders = [TransformerDecoder(**block, name=f"decoder_{i}") for i in range(count)]
    norm = final_norm(decoders[0].normalize_first, block["dtype"], "decoder_norm")
    embedding = TokenAndPositionEmbedding(**tokens, name="embedding")
    return TransformerTextDecoder(embedding, decoders, norm)


_TEXTS = {"gru": _gru, "transformer": _transformer}


def _ctc(vocabulary_size: int) -> keras.layers.Layer:
    return keras.layers.Dense(vocabulary_size, dtype="float32", name="ctc_logits")


def _as_float32(logits: Tensor) -> Tensor:
    """The output of the model, whatever its precision."""
    return keras.layers.Activation("linear", dtype="float32", name="logits")(logits)
