"""The classification task: data, models, metrics, explanation and export."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import keras

from applications.classification import noted
from applications.classification.application import ClassifierApplication
from applications.datasets.load_images import ImageSet
from applications.errors import UserError, told_to_users
from applications.image_classification import evaluation, explanation, export
from applications.image_classification.classifier import Classifier
from applications.image_classification.presets import ImageClassificationConfig
from applications.images import networks
from applications.images.batches import ImageData
from applications.pipeline.application import TrainBatches
from applications.pipeline.run import Run
from keras_attention import models


class ImageClassification(ClassifierApplication[ImageClassificationConfig, ImageData]):
    """Images to one of a few classes."""

    name: ClassVar[str] = "image_classification"

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
        noted.note(run, ImageData(config.data).info)

    def load(self, config: ImageClassificationConfig, run: Run) -> ImageData:
        known = noted.noted(run, ImageSet)
        return ImageData(config.data, config.augmentation, config.train.seed, known)

    def train_batches(
        self, config: ImageClassificationConfig, data: ImageData
    ) -> TrainBatches:
        train = data.train
        print(f"{train.examples} training images in {train.count} batches")
        return TrainBatches(train.count, train.epoch)

    # ---------------------------------------------------------------------- model

    def build_model(
        self, config: ImageClassificationConfig, data: ImageData
    ) -> keras.Model:
        make = {"vit": models.VisionTransformer, "cnn": models.AttentionCNN}
        options = networks.options(config.model, "model")
        with told_to_users():
            return make[config.model.kind](
                data.num_classes, data.image_shape, **options
            )

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

    def classifier(self, data: ImageData, model: keras.Model) -> Classifier:
        return Classifier(model, data)

    # --------------------------------------------------------------------- stages

    def evaluate(
        self,
        config: ImageClassificationConfig,
        data: ImageData,
        model: keras.Model,
        run: Run,
    ) -> dict[str, Any]:
        return evaluation.evaluate(config, data, model, run)

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


def _at_resolution(
    model: keras.Model, image_shape: tuple[int, int, int]
) -> keras.Model:
    """The same weights for images of another size."""
    if isinstance(model, models.VisionTransformer):
        with told_to_users():
            return model.at_resolution(image_shape[:2])
    other = type(model).from_config({**model.get_config(), "input_shape": image_shape})
    other.set_weights(model.get_weights())
    return other
