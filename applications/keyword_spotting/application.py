"""The keyword task: data, models, metrics, explanation and export."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import keras

from applications.classification import noted
from applications.classification.application import ClassifierApplication
from applications.datasets.load_audio import AudioSet
from applications.errors import UserError, require_known, told_to_users
from applications.keyword_spotting import evaluation, explanation, export
from applications.keyword_spotting.classifier import Classifier
from applications.keyword_spotting.data import ClipData, described
from applications.keyword_spotting.presets import KeywordSpottingConfig
from applications.pipeline.application import TrainBatches
from applications.pipeline.run import Run
from keras_attention import layers, models


class KeywordSpotting(ClassifierApplication[KeywordSpottingConfig, ClipData]):
    """Short recordings to one of a few words."""

    name: ClassVar[str] = "keyword_spotting"

    def about(self, config: KeywordSpottingConfig) -> str:
        found = described(config.data)
        takes = "frames of coefficients" if found.frame_size else "a recording"
        return (
            f"Says which of {len(found.class_names)} words {takes} like those of "
            f"`{config.data.name}` (licence: {found.licence}) holds; it has no class "
            f"for anything else, silence included. Of clips longer than "
            f"{config.data.max_frames} frames the end is not heard. Probabilities are "
            "of the model, and as good as its calibration error. Attention shows which "
            "moments were read, not why a word was chosen."
        )

    # ----------------------------------------------------------------------- data

    def prepare(self, config: KeywordSpottingConfig, run: Run) -> None:
        """Note the classes: what a model says must not follow a folder that changes."""
        noted.note(run, described(config.data))

    def load(self, config: KeywordSpottingConfig, run: Run) -> ClipData:
        return ClipData(config, noted.noted(run, AudioSet))

    def train_batches(
        self, config: KeywordSpottingConfig, data: ClipData
    ) -> TrainBatches:
        train = data.train
        print(f"{train.examples} training clips in {train.count} batches")
        return TrainBatches(train.count, train.epoch)

    # ---------------------------------------------------------------------- model

    def build_model(self, config: KeywordSpottingConfig, data: ClipData) -> keras.Model:
        sizes = config.model
        require_known("model.attention", sizes.attention, layers.multi_head())
        with told_to_users():
            return models.SoundClassifier(
                len(data.class_names),
                data.reader.frame_size,
                sizes.kind,
                hidden_dim=sizes.hidden_dim,
                intermediate_dim=sizes.intermediate_dim,
                num_layers=sizes.num_layers,
                num_heads=sizes.num_heads,
                max_sequence_length=config.data.max_frames,
                dropout=sizes.dropout,
                normalize_first=sizes.normalize_first,
                attention=sizes.attention,
            )

    def load_model(
        self, config: KeywordSpottingConfig, data: ClipData, run: Run
    ) -> keras.Model:
        """The run's best model, for the frames that it was trained on."""
        model = super().load_model(config, data, run)
        now, then = config.front_end, run.config(type(config)).front_end
        longest = run.config(type(config)).data.max_frames
        if now != then or config.data.max_frames > longest:
            raise UserError(
                f"{run.name} was trained on frames of its own front_end settings, "
                f"{longest} of a clip at most. Leave front_end as it is and "
                f"data.max_frames at {longest} or less."
            )
        return model

    def classifier(self, data: ClipData, model: keras.Model) -> Classifier:
        return Classifier(model, data.reader, data.class_names)

    # --------------------------------------------------------------------- stages

    def evaluate(
        self,
        config: KeywordSpottingConfig,
        data: ClipData,
        model: keras.Model,
        run: Run,
    ) -> dict[str, Any]:
        return evaluation.evaluate(config, data, model, run)

    def explain(
        self,
        config: KeywordSpottingConfig,
        data: ClipData,
        model: keras.Model,
        run: Run,
        inputs: Sequence[str],
    ) -> list[Path]:
        return explanation.explain(data, model, run, inputs)

    def export(
        self,
        config: KeywordSpottingConfig,
        data: ClipData,
        model: keras.Model,
        directory: Path,
    ) -> dict[str, Any]:
        classifier = self.classifier(data, model)
        export.export(classifier, directory)
        export.check(directory, data, classifier)
        return {}
