"""The recognition task: data, models, metrics, explanation and export."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import keras

from applications.errors import UserError, require_known, told_to_users
from applications.pipeline.application import Application, Quality, TrainBatches
from applications.pipeline.run import Run
from applications.speech_recognition import evaluation, explanation, export
from applications.speech_recognition.data import SpeechData, described
from applications.speech_recognition.learned import learn, note, noted
from applications.speech_recognition.presets import ModelConfig, SpeechConfig
from applications.speech_recognition.recognizer import Recognizer
from keras_attention import layers, losses, metrics, models


class SpeechRecognition(Application[SpeechConfig, SpeechData]):
    """Recordings of sentences to the characters of what is said."""

    name: ClassVar[str] = "speech_recognition"
    quality: ClassVar[Quality] = Quality("val_cer", higher_is_better=False)

    _validator: Recognizer | None = None

    def about(self, config: SpeechConfig) -> str:
        licence = described(config).licence
        return (
            f"Writes what is said in a recording like those of `{config.data.name}` "
            f"(licence: {licence}), in lower-case letters without punctuation. It "
            "spells what it hears in the letters of its training texts and writes "
            "something for noise and for other languages too. With few voices in "
            "training, others are heard worse. Attention shows which moments a letter "
            "read, not why it was written."
        )

    # ----------------------------------------------------------------------- data

    def prepare(self, config: SpeechConfig, run: Run) -> None:
        """Note the characters, and which clips are learned from."""
        note(run, learn(config))

    def load(self, config: SpeechConfig, run: Run) -> SpeechData:
        return SpeechData(config, noted(run))

    def train_batches(self, config: SpeechConfig, data: SpeechData) -> TrainBatches:
        train, learned = data.train, data.learned
        print(
            f"{learned.clips} training clips, {learned.seconds / 60:.1f} minutes, in "
            f"{train.count} batches; {learned.too_long} of more than "
            f"{config.data.max_seconds:g} seconds left out, {learned.impossible} with "
            "a text too long for CTC"
        )
        return TrainBatches(train.count, train.epoch)

    def validation_batches(self, config: SpeechConfig, data: SpeechData):
        return data.validation

    # ---------------------------------------------------------------------- model

    def build_model(self, config: SpeechConfig, data: SpeechData) -> keras.Model:
        sizes = config.model
        if sizes.attention is not None:
            require_known("model.attention", sizes.attention, layers.multi_head())
        with told_to_users():
            return models.SpeechRecognizer(
                data.characters.vocabulary_size,
                data.reader.frame_size,
                hidden_dim=sizes.hidden_dim,
                num_layers=sizes.num_layers,
                num_heads=sizes.num_heads,
                intermediate_dim=sizes.intermediate_dim,
                encoder=sizes.encoder,
                encoder_options=_encoder_options(sizes),
                decoder=sizes.decoder,
                decoder_options=_decoder_options(sizes),
                objective=sizes.objective,
                filters=sizes.filters,
                dropout=sizes.dropout,
            )

    def load_model(
        self, config: SpeechConfig, data: SpeechData, run: Run
    ) -> keras.Model:
        """The run's best model, for the frames that it was trained on."""
        model = super().load_model(config, data, run)
        if config.front_end != run.config(type(config)).front_end:
            raise UserError(
                f"{run.name} was trained on frames of its own front_end settings. "
                "Leave front_end as it is."
            )
        return model

    # ------------------------------------------------------------------- training

    def objective(self, config: SpeechConfig, data: SpeechData) -> dict[str, Any]:
        """CTC's loss per character, the decoder's per character, or their mean."""
        train, kind = config.train, config.model.objective
        weights = {"ctc": train.ctc_weight, "attention": 1 - train.ctc_weight}
        loss = {
            "ctc": losses.CTC(),
            "attention": losses.MaskedCrossentropy(train.label_smoothing),
        }
        measured: dict[str, list] = {
            "ctc": [metrics.ImpossibleLabels()],
            "attention": [metrics.Perplexity()],
        }
        if kind != "joint":
            loss, measured = {kind: loss[kind]}, {kind: measured[kind]}
            weights = {kind: 1.0}
        return {"loss": loss, "loss_weights": weights, "metrics": measured}

    def train(self, config: SpeechConfig, data: SpeechData, run: Run) -> dict[str, Any]:
        """As every task is trained; also what was learned from."""
        found, learned = super().train(config, data, run), data.learned
        return {
            **found,
            "clips": learned.clips,
            "minutes_of_speech": round(learned.seconds / 60, 1),
            "too_long_clips": learned.too_long,
            "impossible_labels": learned.impossible,
        }

    def validate(
        self, config: SpeechConfig, data: SpeechData, model: keras.Model
    ) -> dict[str, float]:
        """Error rates of the greedy search for the first validation clips."""
        if self._validator is None or self._validator.model is not model:
            self._validator = Recognizer(model, data)  # traced once for all epochs
        clips = data.validated
        texts = self._validator(clips.frames, "greedy")
        return {
            "cer": metrics.character_error_rate(texts, clips.texts).value,
            "wer": metrics.word_error_rate(texts, clips.texts).value,
        }

    # --------------------------------------------------------------------- stages

    def evaluate(
        self, config: SpeechConfig, data: SpeechData, model: keras.Model, run: Run
    ) -> dict[str, Any]:
        return evaluation.evaluate(config, data, model, run)

    def predict(
        self,
        config: SpeechConfig,
        data: SpeechData,
        model: keras.Model,
        inputs: Sequence[str],
    ) -> Iterable[str]:
        recognizer = Recognizer(model, data)
        for path in inputs:
            yield from recognizer([data.reader.read_file(path)])

    def explain(
        self,
        config: SpeechConfig,
        data: SpeechData,
        model: keras.Model,
        run: Run,
        inputs: Sequence[str],
    ) -> list[Path]:
        return explanation.explain(data, model, run, inputs)

    def export(
        self,
        config: SpeechConfig,
        data: SpeechData,
        model: keras.Model,
        directory: Path,
    ) -> dict[str, Any]:
        endpoints = export.graphs(Recognizer(model, data))
        export.export(endpoints, model, directory)
        return export.check(directory, data, endpoints)


def _encoder_options(sizes: ModelConfig) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if sizes.encoder == "conformer":
        options["kernel_size"] = sizes.kernel_size
        options["convolution_norm"] = sizes.convolution_norm
    if sizes.attention is not None:
        options["attention"] = sizes.attention
    return options


def _decoder_options(sizes: ModelConfig) -> dict[str, Any]:
    """Of a GRU none: its attention is location-aware."""
    return {"num_layers": sizes.decoder_layers} if sizes.decoder != "gru" else {}
