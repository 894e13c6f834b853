"""The summarization task: models, metrics and explanation."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import keras
import keras_hub

from applications.datasets.load import licence
from applications.pipeline import files
from applications.pipeline.application import Quality
from applications.pipeline.run import Run
from applications.summarization import evaluation, explanation
from applications.summarization.data import SummarizationData
from applications.summarization.hub import (
    HubSeq2Seq,
    load_preset,
    save_preprocessor,
)
from applications.summarization.presets import SummarizationConfig
from applications.summarization.summarizer import Summarizer
from applications.text import seq2seq_models
from applications.text.seq2seq_application import Seq2SeqApplication
from keras_attention import metrics, models

HUB = "preprocessor"  # folder of a KerasHub preprocessor, in a vocabulary's place

# Score and order of the recurrent models, and of what a copying one has inside.
_RECURRENT = {
    "gru_attention": ("additive", "bahdanau"),
    "gru": ("none", "bahdanau"),
    "pointer_generator": ("coverage", "luong"),
}


class Summarization(Seq2SeqApplication[SummarizationConfig, SummarizationData]):
    """Texts to summaries."""

    name: ClassVar[str] = "summarization"
    quality: ClassVar[Quality] = Quality("val_rouge_l", higher_is_better=True)
    data_class, writer_class = SummarizationData, Summarizer
    answer = "summary"

    def about(self, config: SummarizationConfig) -> str:
        stated = licence(config.data.name, config.data.data_dir)
        return (
            f"Summarizes texts like those of `{config.data.name}` (licence: {stated}), "
            "the corpus it was trained on; other text is outside its experience, and "
            "what it writes may be wrong. Of a text the first "
            f"{config.data.max_source_length} subwords are read, the rest is cut off. "
            "Loading the SavedModel needs `import tensorflow_text`. Attention and copy "
            "probability show where a word came from, not why it was chosen."
        )

    # ----------------------------------------------------------------------- data

    def prepare(self, config: SummarizationConfig, run: Run) -> None:
        """Train subwords on both sides of the training split, or take a preset's."""
        if config.model.kind == "keras_hub":
            with files.replacing(run.path(HUB)) as folder:
                save_preprocessor(str(config.model.preset), folder)
            return
        super().prepare(config, run)

    def load(self, config: SummarizationConfig, run: Run) -> SummarizationData:
        if config.model.kind == "keras_hub":
            return SummarizationData(config, b"", run.path(HUB))
        return super().load(config, run)

    # ---------------------------------------------------------------------- model

    def build_model(
        self, config: SummarizationConfig, data: SummarizationData
    ) -> keras.Model:
        sizes, count = config.model, data.tokenizer.vocabulary_size
        if sizes.kind == "keras_hub":
            lm = load_preset(
                keras_hub.models.Seq2SeqLM, str(sizes.preset), preprocessor=None
            )
            return HubSeq2Seq(lm, data.tokenizer.padding)
        if sizes.kind.endswith("transformer"):
            seq2seq = seq2seq_models.transformer(sizes, count)
        else:
            seq2seq = seq2seq_models.recurrent(sizes, count, *_RECURRENT[sizes.kind])
        if not sizes.kind.startswith("pointer"):
            return seq2seq
        return models.PointerGenerator(seq2seq, sizes.coverage_weight)

    def score(
        self, answers: Sequence[str], references: Sequence[str]
    ) -> dict[str, float]:
        return {"rouge_l": metrics.rouge(answers, references)["rouge_l"].value}

    # --------------------------------------------------------------------- stages

    def evaluate(
        self,
        config: SummarizationConfig,
        data: SummarizationData,
        model: keras.Model,
        run: Run,
    ) -> dict[str, Any]:
        return evaluation.evaluate(config, data, model, run)

    def explain(
        self,
        config: SummarizationConfig,
        data: SummarizationData,
        model: keras.Model,
        run: Run,
        inputs: Sequence[str],
    ) -> list[Path]:
        return explanation.explain(config, data, model, run, inputs)
