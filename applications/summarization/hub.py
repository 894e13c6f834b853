"""BART, T5 and others of KerasHub with their weights, as a tokenizer and a model.

Here padding is token 0 everywhere. Where a preset has another padding token, 0 and that
one change places on the way in and back on the way out.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import keras
import keras_hub
import tensorflow as tf
from keras import ops

from applications.errors import UserError
from applications.text.tokenizer import in_graph
from applications.text.vocabulary import PADDING
from keras_attention.decoding import KerasHubSeq2SeqLM

_CONFIG = "preprocessor.json"


def load_preset(kind: Callable[..., Any], preset: str, **options: Any) -> Any:
    """`kind.from_preset`, with one line where the preset cannot be had.

    Raises:
        UserError: There is no such preset, or it cannot be downloaded or read.
    """
    try:
        return kind.from_preset(preset, **options)
    # Each source of presets raises errors of its own.
    except Exception as error:
        said = str(error).strip() or type(error).__name__
        raise UserError(
            f"The KerasHub preset {preset} cannot be loaded: {said.splitlines()[0]} "
            "Give the folder of a BART or T5 preset, or a name such as bart_base_en."
        ) from error


def save_preprocessor(preset: str, folder: Path) -> None:
    """Write the preprocessor of a preset, vocabulary and all, as a new folder.

    KerasHub's own `save_to_preset` writes one that it reads beside a model only.
    """
    preprocessor = load_preset(keras_hub.models.Seq2SeqLMPreprocessor, preset)
    folder.mkdir()
    config = json.dumps(keras.saving.serialize_keras_object(preprocessor))
    (folder / _CONFIG).write_text(config, encoding="utf-8")
    preprocessor.tokenizer.save_assets(str(folder))


def _read_preprocessor(folder: Path) -> Any:
    config = json.loads((folder / _CONFIG).read_text(encoding="utf-8"))
    preprocessor = keras.saving.deserialize_keras_object(config)
    preprocessor.tokenizer.load_assets(str(folder))
    return preprocessor


class HubTokenizer:
    """The tokenizer of a preset behind the interface of `SubwordTokenizer`.

    Sources and targets begin and end as the preset's own preprocessor has them; of a
    target's first tokens the decoder is given the first and writes the others.

    Args:
        folder: What `save_preprocessor` wrote.
        prompt: Text before every source.

    Attributes:
        layer: The KerasHub layer that holds the TensorFlow resources.
        vocabulary_size: The number of ids.
        start: What the decoder reads first.
        end: Id of the end token.
    """

    def __init__(self, folder: Path, prompt: str = ""):
        preprocessor = _read_preprocessor(folder)
        preprocessor.build(None)
        self.prompt = prompt
        self.layer = preprocessor.tokenizer
        self.layer.built = True  # else Keras's export refuses to track it
        self.padding = self.layer.pad_token_id
        self.vocabulary_size = self.layer.vocabulary_size()
        self.end = self._swapped(self.layer.end_token_id)
        self._source = self._tokens(preprocessor.encoder_packer.start_value)
        self._target = self._tokens(preprocessor.decoder_packer.start_value)
        self.start = self._target[0]
        self._tokenize, self._detokenize = in_graph(self.layer)
        self._special = {PADDING, self.end, *self._source, *self._target}

    def ragged(
        self,
        texts: tf.Tensor | Sequence[str],
        add_start: bool = False,
        add_end: bool = False,
        max_length: int | None = None,
    ) -> tf.RaggedTensor:
        """Int32 ids of texts: with `add_start` those of targets, else of sources."""
        texts = tf.convert_to_tensor(texts, tf.string)
        texts = texts if add_start else tf.strings.join([self.prompt, texts])
        first = self._target if add_start else self._source
        ids = tf.ragged.map_flat_values(swapped, self._tokenize(texts), self.padding)
        if max_length is not None:
            ids = ids[:, : max_length - len(first) - add_end]
        rows = ids.nrows(out_type=tf.int32)
        before = tf.tile(tf.constant([first], tf.int32, (1, len(first))), [rows, 1])
        after = [tf.fill([rows, 1], self.end)] if add_end else []
        return tf.concat([before, ids, *after], axis=1)

    def encode(self, texts: Any, *options: Any, **more: Any) -> tf.Tensor:
        """`ragged`'s ids padded to `(B, L)`, `L` the longest row, at least 1."""
        ids = self.ragged(texts, *options, **more).to_tensor(PADDING)
        missing = tf.maximum(1 - tf.shape(ids)[1], 0)
        return tf.pad(ids, [[0, 0], [0, missing]], constant_values=PADDING)

    def decode(self, ids: tf.Tensor) -> tf.Tensor:
        """Texts `(B,)` of padded ids `(B, L)`, up to the first end token."""
        ids = tf.cast(ids, tf.int32)
        is_end = tf.cast(tf.equal(ids, self.end), tf.int32)
        is_text = tf.equal(tf.cumsum(is_end, axis=1), 0)
        for token in sorted(self._special):
            is_text &= tf.not_equal(ids, token)
        texts = tf.ragged.boolean_mask(swapped(ids, self.padding), is_text)
        return tf.strings.strip(self._detokenize(texts))

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """One readable label per id; `▁` marks the beginning of a word."""
        tokens = (self.layer.id_to_token(self._swapped(int(number))) for number in ids)
        return [token.replace("Ġ", "▁") for token in tokens]

    def _tokens(self, given: Any) -> list[int]:
        """Ids here of what a packer puts first: nothing, one token or several."""
        tokens = given if isinstance(given, (list, tuple)) else [given]
        return [self._swapped(token) for token in tokens if token is not None]

    def _swapped(self, token: int) -> int:
        return {self.padding: PADDING, PADDING: self.padding}.get(token, token)


@keras.saving.register_keras_serializable(package="keras_attention_applications")
class HubSeq2Seq(keras.Model):
    """A `keras_hub.models.Seq2SeqLM` behind the interface of our encoder-decoders.

    Args:
        lm: The task model, without a preprocessor.
        padding: Its padding token.
        **kwargs: Those of `keras.Model`.
    """

    def __init__(self, lm: Any, padding: int, **kwargs: Any):
        source = keras.Input((None,), dtype="int32", name="source")
        target = keras.Input((None,), dtype="int32", name="target")
        # What the decoder reads first is real, and in T5 the padding token.
        is_first = ops.equal(ops.cumsum(ops.ones_like(target), axis=1), 1)
        is_real = ops.logical_or(is_first, ops.not_equal(target, PADDING))
        logits = lm(
            {
                "encoder_token_ids": swapped(source, padding),
                "encoder_padding_mask": _real(source),
                "decoder_token_ids": swapped(target, padding),
                "decoder_padding_mask": ops.cast(is_real, "int32"),
            }
        )
        logits = _swapped_columns(logits, padding)
        super().__init__(
            inputs={"source": source, "target": target}, outputs=logits, **kwargs
        )
        self.lm, self.padding = lm, padding
        self._steps = KerasHubSeq2SeqLM(lm)

    def initial_state(self, source: Any, max_length: int) -> dict:
        """State before the first of at most `max_length` steps."""
        ids = swapped(source, self.padding)
        return self._steps.initial_state(ids, max_length, _real(source))

    def step(self, tokens: Any, state: dict) -> tuple[Any, dict]:
        """Logits `(B, V)` after `tokens` `(B,)`, and the next state."""
        logits, state = self._steps.step(swapped(tokens, self.padding), state)
        return _swapped_columns(logits, self.padding), state

    def get_config(self):
        lm = keras.saving.serialize_keras_object(self.lm)
        lm.pop("compile_config", None)  # KerasHub's own, which would warn
        return {"name": self.name, "lm": lm, "padding": self.padding}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        lm = keras.saving.deserialize_keras_object(config["lm"], custom_objects)
        return cls(**{**config, "lm": lm})


def swapped(ids: Any, padding: int) -> Any:
    """Ids with 0 and `padding` in each other's place; once more gives `ids` again."""
    if padding == PADDING:
        return ids
    back = ops.where(ops.equal(ids, PADDING), padding, ids)
    return ops.cast(ops.where(ops.equal(ids, padding), PADDING, back), "int32")


def _swapped_columns(logits: Any, padding: int) -> Any:
    if padding == PADDING:
        return logits
    order = list(range(logits.shape[-1]))
    order[PADDING], order[padding] = padding, PADDING
    return ops.take(logits, order, axis=-1)


def _real(ids: Any) -> Any:
    return ops.cast(ops.not_equal(ids, PADDING), "int32")
