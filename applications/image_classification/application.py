"""The classification task: data, models, metrics, explanation and export."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import keras

from applications.datasets.load_images import ImageSet
from applications.errors import UserError, unknown
from applications.image_classification import evaluation, explanation, export
from applications.image_classification.classifier import Classifier
from applications.image_classification.presets import (
    ImageClassificationConfig,
    ModelConfig,
)
from applications.images.batches import ImageData
from applications.pipeline import files
from applications.pipeline.application import Application, Quality, TrainBatches
from applications.pipeline.run import Run
from keras_attention import layers, metrics, models
from keras_attention.models.attention_cnn import ATTENTIONS

CLASSES = "classes.json"


class ImageClassification(Application[ImageClassificationConfig, ImageData]):
    """Images to one of a few classes."""

    name: ClassVar[str] = "image_classification"
    quality: ClassVar[Quality] = Quality("val_accuracy", higher_is_better=True)

    def about(self, config: ImageClassificationConfig) -> str:
        data = ImageData(config.data)
        height, width, channels = data.image_shape
        return (
            f"Says which of {data.num_classes} classes an image like those of "
            f"`{config.data.name}` (licence: {data.info.licence}) shows; it has no "
            "class for anything else. An image is brought to "
            f"{height} x {width} pixels, {'gray' if channels == 1 else 'colour'}. "
            "Probabilities are of the model, and as good as its calibration error. "
            "Attention, gates and Grad-CAM show where a model looked, not why it "
            "chose a class."
        )

    # ----------------------------------------------------------------------- data

    def prepare(self, config: ImageClassificationConfig, run: Run) -> None:
        """Note the classes: what a model says must not follow a folder that changes."""
        info = ImageData(config.data).info
        files.write_text(run.path(CLASSES), json.dumps(info._asdict(), indent=2) + "\n")

    def load(self, config: ImageClassificationConfig, run: Run) -> ImageData:
        noted = json.loads(run.path(CLASSES).read_text(encoding="utf-8"))
        known = ImageSet(
            tuple(noted["class_names"]), tuple(noted["shape"]), noted["licence"]
        )
        return ImageData(config.data, config.augmentation, config.train.seed, known)

    def train_batches(
        self, config: ImageClassificationConfig, data: ImageData
    ) -> TrainBatches:
        train = data.train
        print(f"{train.examples} training images in {train.count} batches")
        return TrainBatches(train.count, train.epoch)

    def validation_batches(self, config: ImageClassificationConfig, data: ImageData):
        return data.validation

    # ---------------------------------------------------------------------- model

    def build_model(
        self, config: ImageClassificationConfig, data: ImageData
    ) -> keras.Model:
        make = {"vit": _vision_transformer, "cnn": _attention_cnn}[config.model.kind]
        return make(config.model, data.num_classes, data.image_shape)

    def load_model(
        self, config: ImageClassificationConfig, data: ImageData, run: Run
    ) -> keras.Model:
        """The run's best model, for images of the size that the config asks for."""
        model = super().load_model(config, data, run)
        if data.image_shape == model.input_shape[1:]:
            return model
        if data.image_shape[2] != model.input_shape[3]:
            raise UserError(
                f"{run.name} was trained on images of {model.input_shape[3]} channels. "
                f"Received: data.channels={data.image_shape[2]}."
            )
        return _at_resolution(model, data.image_shape)

    def objective(
        self, config: ImageClassificationConfig, data: ImageData
    ) -> dict[str, Any]:
        return {
            "loss": keras.losses.CategoricalCrossentropy(
                from_logits=True, label_smoothing=config.train.label_smoothing
            ),
            "metrics": [metrics.TopKAccuracy()],
        }

    # --------------------------------------------------------------------- stages

    def evaluate(
        self,
        config: ImageClassificationConfig,
        data: ImageData,
        model: keras.Model,
        run: Run,
    ) -> dict[str, Any]:
        return evaluation.evaluate(config, data, model, run)

    def predict(
        self,
        config: ImageClassificationConfig,
        data: ImageData,
        model: keras.Model,
        inputs: Sequence[str],
    ) -> Iterable[str]:
        yield from Classifier(model, data).describe(inputs)

    def explain(
        self,
        config: ImageClassificationConfig,
        data: ImageData,
        model: keras.Model,
        run: Run,
        inputs: Sequence[str],
    ) -> list[Path]:
        return explanation.explain(data, model, run, inputs)

    def export(
        self,
        config: ImageClassificationConfig,
        data: ImageData,
        model: keras.Model,
        directory: Path,
    ) -> dict[str, Any]:
        return export.export(config, data, model, directory)


def _vision_transformer(
    sizes: ModelConfig, num_classes: int, image_shape: tuple[int, int, int]
) -> keras.Model:
    attention = sizes.attention or "multi_head"
    if attention not in layers.multi_head():
        raise unknown("model.attention", attention, layers.multi_head())
    with _told_to_users():
        return models.VisionTransformer(
            num_classes,
            image_shape,
            sizes.patch_size,
            sizes.num_layers,
            sizes.num_heads,
            sizes.hidden_dim,
            sizes.intermediate_dim,
            pooling=sizes.pooling,
            positions=sizes.positions,
            dropout=sizes.dropout,
            drop_path=sizes.drop_path,
            attention=attention,
        )


def _at_resolution(
    model: keras.Model, image_shape: tuple[int, int, int]
) -> keras.Model:
    """The same weights for images of another size."""
    if isinstance(model, models.VisionTransformer):
        with _told_to_users():
            return model.at_resolution(image_shape[:2])
    other = type(model).from_config({**model.get_config(), "input_shape": image_shape})
    other.set_weights(model.get_weights())
    return other


@contextmanager
def _told_to_users() -> Iterator[None]:
    """What the library refuses, such as a patch that does not divide the image."""
    try:
        yield
    except ValueError as error:
        raise UserError(str(error)) from error


def _attention_cnn(
    sizes: ModelConfig, num_classes: int, image_shape: tuple[int, int, int]
) -> keras.Model:
    attention = sizes.attention or "none"
    if attention not in ATTENTIONS:
        raise unknown("model.attention", attention, ATTENTIONS)
    with _told_to_users():
        return models.AttentionCNN(
            num_classes,
            image_shape,
            sizes.filters,
            sizes.blocks_per_stage,
            sizes.stem_strides,
            attention=attention,
            dropout=sizes.dropout,
        )
