"""The classification task: data, models, metrics, explanation and export."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import keras

from applications.errors import UserError, unknown
from applications.image_classification import evaluation, explanation, export
from applications.image_classification.classifier import Classifier
from applications.image_classification.presets import (
    ImageClassificationConfig,
    ModelConfig,
)
from applications.images.batches import ImageData
from applications.pipeline.application import Application, Quality, TrainBatches
from applications.pipeline.run import Run
from keras_attention import layers, metrics, models
from keras_attention.models.attention_cnn import ATTENTIONS


class ImageClassification(Application[ImageClassificationConfig, ImageData]):
    """Images to one of a few classes."""

    name: ClassVar[str] = "image_classification"
    quality: ClassVar[Quality] = Quality("val_accuracy", higher_is_better=True)

    def about(self, config: ImageClassificationConfig) -> str:
        data = self._data(config)
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

    def _data(self, config: ImageClassificationConfig) -> ImageData:
        return ImageData(config.data, config.augmentation, config.train.seed)

    def load(self, config: ImageClassificationConfig, run: Run) -> ImageData:
        return self._data(config)

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
    try:
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
    except ValueError as error:  # a patch that does not divide the image, for example
        raise UserError(str(error)) from error


def _attention_cnn(
    sizes: ModelConfig, num_classes: int, image_shape: tuple[int, int, int]
) -> keras.Model:
    attention = sizes.attention or "none"
    if attention not in ATTENTIONS:
        raise unknown("model.attention", attention, ATTENTIONS)
    return models.AttentionCNN(
        num_classes,
        image_shape,
        sizes.filters,
        sizes.blocks_per_stage,
        sizes.stem_strides,
        attention=attention,
        dropout=sizes.dropout,
    )
