"""The translation task: data, models, metrics, explanation and export."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import keras

from applications.datasets.load import licence
from applications.pipeline import files
from applications.pipeline.application import Application, Quality, TrainBatches
from applications.pipeline.run import Run
from applications.text import seq2seq_models, vocabulary
from applications.text.seq2seq_data import teacher_forced
from applications.text.seq2seq_export import CHECKED_TEXTS
from applications.translation import evaluation, explanation, export
from applications.translation.data import TranslationData
from applications.translation.presets import TranslationConfig
from applications.translation.translator import Translator
from keras_attention import losses, metrics

VOCABULARY = "vocabulary.model"

# Score and order of the recurrent models.
_RECURRENT = {
    "gru_bahdanau": ("additive", "bahdanau"),
    "gru_luong": ("general", "luong"),
    "gru": ("none", "bahdanau"),
}


class Translation(Application[TranslationConfig, TranslationData]):
    """Sentences of one language to sentences of another."""

    name: ClassVar[str] = "translation"
    quality: ClassVar[Quality] = Quality("val_bleu", higher_is_better=True)

    def about(self, config: TranslationConfig) -> str:
        stated = licence(config.data.name, config.data.data_dir)
        return (
            f"Translates sentences like those of `{config.data.name}` (licence: "
            f"{stated}), the corpus it was trained on; other text is outside its "
            f"experience. Source text longer than {config.data.max_length} subwords is "
            "cut. Loading the SavedModel needs `import tensorflow_text`. Attention "
            "shows what a step looked at, not why it wrote a word."
        )

    # ----------------------------------------------------------------------- data

    def prepare(self, config: TranslationConfig, run: Run) -> None:
        """Train the subword vocabulary on both sides of the training split."""
        rows = TranslationData.read(config, "train").as_numpy_iterator()
        texts = (row[side].decode() for row in rows for side in ("source", "target"))
        model = vocabulary.train(texts, config.data.vocabulary_size)
        with files.replacing(run.path(VOCABULARY)) as path:
            path.write_bytes(model)

    def load(self, config: TranslationConfig, run: Run) -> TranslationData:
        return TranslationData(config, run.path(VOCABULARY).read_bytes())

    def train_batches(
        self, config: TranslationConfig, data: TranslationData
    ) -> TrainBatches:
        train = data.train
        print(
            f"{train.examples} training pairs in {train.count} batches; "
            f"{train.dropped} above {config.data.max_length} subwords left out"
        )
        return TrainBatches(train.count, lambda e: train.epoch(e).map(teacher_forced))

    def validation_batches(self, config: TranslationConfig, data: TranslationData):
        return data.validation

    # ---------------------------------------------------------------------- model

    def build_model(
        self, config: TranslationConfig, data: TranslationData
    ) -> keras.Model:
        sizes, count = config.model, data.tokenizer.vocabulary_size
        if sizes.kind == "transformer":
            return seq2seq_models.transformer(sizes, count)
        return seq2seq_models.recurrent(sizes, count, *_RECURRENT[sizes.kind])

    def objective(
        self, config: TranslationConfig, data: TranslationData
    ) -> dict[str, Any]:
        return {
            "loss": losses.MaskedCrossentropy(config.train.label_smoothing),
            "metrics": [metrics.Perplexity()],
        }

    def validate(
        self, config: TranslationConfig, data: TranslationData, model: keras.Model
    ) -> dict[str, float]:
        """Greedy BLEU on the first validation sentences: the task metric."""
        sources, references = data.sentences(
            "validation", config.train.validation_sentences
        )
        hypotheses = Translator(model, data.tokenizer, config)(sources, "greedy")
        return {"bleu": metrics.bleu(hypotheses, references).value}

    # --------------------------------------------------------------------- stages

    def evaluate(
        self,
        config: TranslationConfig,
        data: TranslationData,
        model: keras.Model,
        run: Run,
    ) -> dict[str, Any]:
        return evaluation.evaluate(config, data, model, run)

    def predict(
        self,
        config: TranslationConfig,
        data: TranslationData,
        model: keras.Model,
        inputs: Sequence[str],
    ) -> Iterable[str]:
        yield from Translator(model, data.tokenizer, config)(inputs)

    def explain(
        self,
        config: TranslationConfig,
        data: TranslationData,
        model: keras.Model,
        run: Run,
        inputs: Sequence[str],
    ) -> list[Path]:
        return explanation.explain(config, data, model, run, inputs)

    def export(
        self,
        config: TranslationConfig,
        data: TranslationData,
        model: keras.Model,
        directory: Path,
    ) -> dict[str, Any]:
        export.export(Translator(model, data.tokenizer, config), directory)
        sources, _ = data.sentences("test", CHECKED_TEXTS)
        export.check(directory, sources, Translator(model, data.tokenizer, config))
        return {}
