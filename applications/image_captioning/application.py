"""The captioning task: data, model, metrics, explanation and export."""

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import keras

from applications.datasets.load_captions import licence
from applications.errors import UserError, told_to_users
from applications.image_captioning import evaluation, explanation, export
from applications.image_captioning.captioner import Captioner
from applications.image_captioning.data import CaptionData, examples
from applications.image_captioning.presets import (
    DecoderConfig,
    ImageCaptioningConfig,
)
from applications.images import networks
from applications.pipeline import files
from applications.pipeline import run as runs
from applications.pipeline.application import Application, Quality, TrainBatches
from applications.pipeline.run import Run
from applications.text.words import WordVocabulary
from keras_attention import losses, metrics, models

WORDS = "words.txt"
WARM_START = "warm_start.keras"

# Scores of a GRU's attention, and the order in which each was published with it.
_ORDERS = {
    "additive": "bahdanau",
    "general": "luong",
    "dot_product": "luong",
    "none": "bahdanau",
}


class ImageCaptioning(Application[ImageCaptioningConfig, CaptionData]):
    """Images to short texts that say what they show."""

    name: ClassVar[str] = "image_captioning"
    quality: ClassVar[Quality] = Quality("val_cider", higher_is_better=True)

    _validator: Captioner | None = None

    def about(self, config: ImageCaptioningConfig) -> str:
        stated = licence(config.data.name, config.data.data_dir)
        height, width = config.data.image_size
        return (
            f"Says in at most {config.data.max_length} words what an image like those "
            f"of `{config.data.name}` (licence: {stated}) shows, brought to {height} x "
            f"{width} pixels. It knows the words of its training captions and no "
            "others, and names something for every image, in whatever way it is "
            "unlike them. Attention shows where a word looked, not why it was chosen."
        )

    # ----------------------------------------------------------------------- data

    def prepare(self, config: ImageCaptioningConfig, run: Run) -> None:
        """Note the words of the training captions, and the model to start from."""
        captions = (text for one in examples(config, "train") for text in one.captions)
        words = WordVocabulary.of(captions, config.data.min_count).words
        files.write_text(run.path(WORDS), "".join(f"{word}\n" for word in words))
        if config.train.warm_start is not None:
            # A copy: the other run may be gone when this one is continued.
            source = _warm_start(config.train.warm_start)
            with files.replacing(run.path(WARM_START)) as path:
                shutil.copyfile(source, path)

    def load(self, config: ImageCaptioningConfig, run: Run) -> CaptionData:
        words = run.path(WORDS).read_text(encoding="utf-8").splitlines()
        start = run.path(WARM_START) if config.train.warm_start is not None else None
        return CaptionData(config, WordVocabulary(words), start)

    def train_batches(
        self, config: ImageCaptioningConfig, data: CaptionData
    ) -> TrainBatches:
        train = data.train
        print(
            f"{train.examples} training images in {train.count} batches, "
            f"{len(data.words.words)} words"
        )
        return TrainBatches(train.count, train.epoch)

    def validation_batches(self, config: ImageCaptioningConfig, data: CaptionData):
        return data.evaluation_batches("validation")

    # ---------------------------------------------------------------------- model

    def build_model(
        self, config: ImageCaptioningConfig, data: CaptionData
    ) -> keras.Model:
        encoder, decoder = config.encoder, config.decoder
        with told_to_users():
            model = models.ImageCaptioner(
                data.words.vocabulary_size,
                data.image_shape,
                decoder.hidden_dim,
                encoder=encoder.kind,
                encoder_options=networks.options(encoder, "encoder"),
                decoder=decoder.kind,
                decoder_options=_decoder_options(decoder),
                positions=decoder.positions,
                dropout=decoder.dropout,
                doubly_stochastic=decoder.doubly_stochastic,
            )
            if data.warm_start is not None:
                start = keras.saving.load_model(data.warm_start, compile=False)
                model.load_encoder(start)
        return model

    def load_model(
        self, config: ImageCaptioningConfig, data: CaptionData, run: Run
    ) -> keras.Model:
        """The run's best model, which takes images of one size."""
        model = super().load_model(config, data, run)
        shape = model.input["image"].shape[1:]
        if data.image_shape != shape:
            expected, received = (
                " x ".join(map(str, one)) for one in (shape, data.image_shape)
            )
            raise UserError(
                f"{run.name} was trained on images of {expected}. Received: "
                f"{received}. Train a new run; train.warm_start={run.name} lets it "
                "start from what this one sees."
            )
        return model

    def objective(
        self, config: ImageCaptioningConfig, data: CaptionData
    ) -> dict[str, Any]:
        return {
            "loss": losses.MaskedCrossentropy(config.train.label_smoothing),
            "metrics": [metrics.Perplexity()],
        }

    def validate(
        self, config: ImageCaptioningConfig, data: CaptionData, model: keras.Model
    ) -> dict[str, float]:
        """CIDEr of greedy captions of the validation images: the task metric."""
        if self._validator is None or self._validator.model is not model:
            self._validator = Captioner(model, data)  # traced once for all epochs
        references = [one.captions for one in data.examples("validation")]
        found = self._validator(data.image_batches("validation"), "greedy")
        # Of one image CIDEr needs the frequencies of words in others.
        single = len(references) == 1
        training = [one.captions for one in data.examples("train")] if single else None
        said = [one.text for one in found]
        scores = metrics.caption_scores(said, references, training)
        return {"cider": scores["cider"].value}

    # --------------------------------------------------------------------- stages

    def evaluate(
        self,
        config: ImageCaptioningConfig,
        data: CaptionData,
        model: keras.Model,
        run: Run,
    ) -> dict[str, Any]:
        return evaluation.evaluate(config, data, model, run)

    def predict(
        self,
        config: ImageCaptioningConfig,
        data: CaptionData,
        model: keras.Model,
        inputs: Sequence[str],
    ) -> Iterable[str]:
        captioner = Captioner(model, data)
        for path in inputs:
            image = captioner.reader.read_file(path)
            (caption,) = captioner([image[None]])
            yield caption.text

    def explain(
        self,
        config: ImageCaptioningConfig,
        data: CaptionData,
        model: keras.Model,
        run: Run,
        inputs: Sequence[str],
    ) -> list[Path]:
        return explanation.explain(data, model, run, inputs)

    def export(
        self,
        config: ImageCaptioningConfig,
        data: CaptionData,
        model: keras.Model,
        directory: Path,
    ) -> dict[str, Any]:
        return export.export(data, model, directory)


def _decoder_options(config: DecoderConfig) -> dict[str, Any]:
    if config.kind == "gru":
        return {"attention": config.attention, "order": _ORDERS[config.attention]}
    return {
        "num_layers": config.num_layers,
        "num_heads": config.num_heads,
        "intermediate_dim": config.intermediate_dim,
    }


def _warm_start(name: str) -> Path:
    """The saved model of a run, of this application unless another one is named."""
    application, _, run = name.rpartition("/")
    found = runs.find(
        runs.default_root(), application or ImageCaptioning.name, name=run
    )
    if not found.model.exists():
        raise UserError(f"Run {name} has no model to start from: train it first.")
    return found.model
