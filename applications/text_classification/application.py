"""The classification task: data, models, metrics, explanation and export."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import keras

from applications.classification import noted
from applications.classification.application import ClassifierApplication
from applications.datasets.load_texts import TextSet
from applications.errors import require_known, told_to_users
from applications.pipeline import files
from applications.pipeline.application import TrainBatches
from applications.pipeline.run import Run
from applications.text import vocabulary
from applications.text_classification import evaluation, explanation, export
from applications.text_classification.classifier import Classifier
from applications.text_classification.data import TextData, described, texts_of
from applications.text_classification.presets import TextClassificationConfig
from applications.text_classification.reader import cleaned_texts
from keras_attention import layers, models

VOCABULARY = "vocabulary.model"


class TextClassification(ClassifierApplication[TextClassificationConfig, TextData]):
    """Short texts to one of a few classes."""

    name: ClassVar[str] = "text_classification"

    def about(self, config: TextClassificationConfig) -> str:
        found = described(config.data)
        return (
            f"Says which of {', '.join(found.class_names)} a text like those of "
            f"`{config.data.name}` (licence: {found.licence}) is; it has no class for "
            f"anything else. Texts longer than {config.data.max_length} subwords lose "
            "their end; a blank text has an empty label. Loading the SavedModel needs "
            "`import tensorflow_text`. Attention shows what was read, not why a class "
            "was chosen: see how far it agrees with the other measures."
        )

    # ----------------------------------------------------------------------- data

    def prepare(self, config: TextClassificationConfig, run: Run) -> None:
        """Note the classes and train the subword vocabulary on the training split."""
        noted.note(run, described(config.data))
        texts = cleaned_texts(texts_of(config.data, "train").texts)
        model = vocabulary.train(texts, config.data.vocabulary_size)
        with files.replacing(run.path(VOCABULARY)) as path:
            path.write_bytes(model)

    def load(self, config: TextClassificationConfig, run: Run) -> TextData:
        known = noted.noted(run, TextSet)
        return TextData(config, known, run.path(VOCABULARY).read_bytes())

    def train_batches(
        self, config: TextClassificationConfig, data: TextData
    ) -> TrainBatches:
        train = data.train
        print(
            f"{train.examples} training texts in {train.count} batches; "
            f"{data.cut('train')} cut to {config.data.max_length} subwords"
        )
        return TrainBatches(train.count, lambda e: train.epoch(e).map(data.labelled))

    # ---------------------------------------------------------------------- model

    def build_model(
        self, config: TextClassificationConfig, data: TextData
    ) -> keras.Model:
        sizes = config.model
        require_known("model.attention", sizes.attention, layers.multi_head())
        with told_to_users():
            return models.TextClassifier(
                data.reader.tokenizer.vocabulary_size,
                len(data.class_names),
                sizes.kind,
                hidden_dim=sizes.hidden_dim,
                intermediate_dim=sizes.intermediate_dim,
                num_layers=sizes.num_layers,
                num_heads=sizes.num_heads,
                max_sequence_length=config.data.max_length,
                dropout=sizes.dropout,
                attention=sizes.attention,
            )

    def classifier(self, data: TextData, model: keras.Model) -> Classifier:
        return Classifier(model, data.reader, data.class_names)

    # --------------------------------------------------------------------- stages

    def evaluate(
        self,
        config: TextClassificationConfig,
        data: TextData,
        model: keras.Model,
        run: Run,
    ) -> dict[str, Any]:
        return evaluation.evaluate(config, data, model, run)

    def explain(
        self,
        config: TextClassificationConfig,
        data: TextData,
        model: keras.Model,
        run: Run,
        inputs: Sequence[str],
    ) -> list[Path]:
        return explanation.explain(data, model, run, inputs)

    def export(
        self,
        config: TextClassificationConfig,
        data: TextData,
        model: keras.Model,
        directory: Path,
    ) -> dict[str, Any]:
        classifier = self.classifier(data, model)
        export.export(classifier, directory)
        texts = data.texts("test").texts[: export.CHECKED_TEXTS]
        export.check(directory, texts, classifier)
        return {}
