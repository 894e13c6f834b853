"""The translation task: models, metrics and explanation."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import keras

from applications.datasets.load import licence
from applications.pipeline.application import Quality
from applications.pipeline.run import Run
from applications.text import seq2seq_models
from applications.text.seq2seq_application import Seq2SeqApplication
from applications.translation import evaluation, explanation
from applications.translation.data import TranslationData
from applications.translation.presets import TranslationConfig
from applications.translation.translator import Translator
from keras_attention import metrics

# Score and order of the recurrent models.
_RECURRENT = {
    "gru_bahdanau": ("additive", "bahdanau"),
    "gru_luong": ("general", "luong"),
    "gru": ("none", "bahdanau"),
}


class Translation(Seq2SeqApplication[TranslationConfig, TranslationData]):
    """Sentences of one language to sentences of another."""

    name: ClassVar[str] = "translation"
    quality: ClassVar[Quality] = Quality("val_bleu", higher_is_better=True)
    data_class, writer_class = TranslationData, Translator
    answer = "translation"

    def about(self, config: TranslationConfig) -> str:
        stated = licence(config.data.name, config.data.data_dir)
        return (
            f"Translates sentences like those of `{config.data.name}` (licence: "
            f"{stated}), the corpus it was trained on; other text is outside its "
            f"experience. Source text longer than {config.data.max_length} subwords is "
            "cut. Loading the SavedModel needs `import tensorflow_text`. Attention "
            "shows what a step looked at, not why it wrote a word."
        )

    # ---------------------------------------------------------------------- model

    def build_model(
        self, config: TranslationConfig, data: TranslationData
    ) -> keras.Model:
        sizes, count = config.model, data.tokenizer.vocabulary_size
        if sizes.kind == "transformer":
            return seq2seq_models.transformer(sizes, count)
        return seq2seq_models.recurrent(sizes, count, *_RECURRENT[sizes.kind])

    def score(
        self, answers: Sequence[str], references: Sequence[str]
    ) -> dict[str, float]:
        return {"bleu": metrics.bleu(answers, references).value}

    # --------------------------------------------------------------------- stages

    def evaluate(
        self,
        config: TranslationConfig,
        data: TranslationData,
        model: keras.Model,
        run: Run,
    ) -> dict[str, Any]:
        return evaluation.evaluate(config, data, model, run)

    def explain(
        self,
        config: TranslationConfig,
        data: TranslationData,
        model: keras.Model,
        run: Run,
        inputs: Sequence[str],
    ) -> list[Path]:
        return explanation.explain(config, data, model, run, inputs)
