"""The summarization task: data, models, metrics, explanation and export."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import keras
import keras_hub

from applications.datasets.load import licence
from applications.pipeline import files
from applications.pipeline.application import Application, Quality, TrainBatches
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
from applications.text import seq2seq_export, seq2seq_models, vocabulary
from applications.text.seq2seq_data import teacher_forced
from keras_attention import losses, metrics, models

VOCABULARY = "vocabulary.model"
HUB = "preprocessor"  # folder of a KerasHub preprocessor, in a vocabulary's place
ANSWER = "summary"

# Score and order of the recurrent models, and of what a copying one has inside.
_RECURRENT = {
    "gru_attention": ("additive", "bahdanau"),
    "gru": ("none", "bahdanau"),
    "pointer_generator": ("coverage", "luong"),
}


class Summarization(Application[SummarizationConfig, SummarizationData]):
    """Texts to summaries."""

    name: ClassVar[str] = "summarization"
    quality: ClassVar[Quality] = Quality("val_rouge_l", higher_is_better=True)

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
        rows = SummarizationData.read(config, "train").as_numpy_iterator()
        texts = (row[side].decode() for row in rows for side in ("source", "target"))
        model = vocabulary.train(texts, config.data.vocabulary_size)
        with files.replacing(run.path(VOCABULARY)) as path:
            path.write_bytes(model)

    def load(self, config: SummarizationConfig, run: Run) -> SummarizationData:
        if config.model.kind == "keras_hub":
            return SummarizationData(config, b"", run.path(HUB))
        return SummarizationData(config, run.path(VOCABULARY).read_bytes())

    def train_batches(
        self, config: SummarizationConfig, data: SummarizationData
    ) -> TrainBatches:
        train, limits = data.train, config.data
        print(
            f"{train.examples} training pairs in {train.count} batches; "
            f"{train.dropped} with a summary above {limits.max_target_length} subwords "
            f"left out; {data.cut['train']} texts cut after "
            f"{limits.max_source_length} subwords"
        )
        return TrainBatches(train.count, lambda e: train.epoch(e).map(teacher_forced))

    def validation_batches(self, config: SummarizationConfig, data: SummarizationData):
        return data.validation

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

    def objective(
        self, config: SummarizationConfig, data: SummarizationData
    ) -> dict[str, Any]:
        return {
            "loss": losses.MaskedCrossentropy(config.train.label_smoothing),
            "metrics": [metrics.Perplexity()],
        }

    def validate(
        self, config: SummarizationConfig, data: SummarizationData, model: keras.Model
    ) -> dict[str, float]:
        """Greedy ROUGE-L on the first validation texts: the task metric."""
        sources, references = data.sentences(
            "validation", config.train.validation_sentences
        )
        summaries = Summarizer(model, data.tokenizer, config)(sources, "greedy")
        return {"rouge_l": metrics.rouge(summaries, references)["rouge_l"].value}

    # --------------------------------------------------------------------- stages

    def evaluate(
        self,
        config: SummarizationConfig,
        data: SummarizationData,
        model: keras.Model,
        run: Run,
    ) -> dict[str, Any]:
        return evaluation.evaluate(config, data, model, run)

    def predict(
        self,
        config: SummarizationConfig,
        data: SummarizationData,
        model: keras.Model,
        inputs: Sequence[str],
    ) -> Iterable[str]:
        yield from Summarizer(model, data.tokenizer, config)(inputs)

    def explain(
        self,
        config: SummarizationConfig,
        data: SummarizationData,
        model: keras.Model,
        run: Run,
        inputs: Sequence[str],
    ) -> list[Path]:
        return explanation.explain(config, data, model, run, inputs)

    def export(
        self,
        config: SummarizationConfig,
        data: SummarizationData,
        model: keras.Model,
        directory: Path,
    ) -> dict[str, Any]:
        summarizer = Summarizer(model, data.tokenizer, config)
        seq2seq_export.export(summarizer, directory, ANSWER)
        sources, _ = data.sentences("test", seq2seq_export.CHECKED_TEXTS)
        seq2seq_export.check(directory, sources, summarizer, ANSWER)
        return {}
