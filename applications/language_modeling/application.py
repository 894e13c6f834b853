"""The language-modelling task: data, models, metrics, explanation and export."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import keras

from applications.datasets.load_documents import licence
from applications.errors import UserError, told_to_users
from applications.language_modeling import evaluation, explanation, export, networks
from applications.language_modeling.continuation import Continuation
from applications.language_modeling.data import LanguageData, texts_of
from applications.language_modeling.filling import Filler, MaskedFiller, SpanFiller
from applications.language_modeling.objectives import markers
from applications.language_modeling.presets import LanguageConfig
from applications.language_modeling.streaming import Stream
from applications.language_modeling.tokens import BREAK, GAP, sentinel_names
from applications.pipeline import files
from applications.pipeline.application import Application, Quality, TrainBatches
from applications.pipeline.run import Run
from applications.text import vocabulary
from keras_attention import losses, metrics

VOCABULARY = "vocabulary.model"

_CANDIDATES = 3


class LanguageModeling(Application[LanguageConfig, LanguageData]):
    """Texts continued token by token, or with their gaps filled."""

    name: ClassVar[str] = "language_modeling"
    quality: ClassVar[Quality] = Quality("val_loss")

    def about(self, config: LanguageConfig) -> str:
        stated = licence(config.data.name, config.data.data_dir)
        does = {
            "causal": "Continues texts",
            "masked": f"Fills gaps of one token, written `{GAP}`, in texts",
        }.get(config.train.objective, f"Fills gaps, written `{GAP}`, in texts")
        return (
            f"{does} like those of `{config.data.name}` (licence: {stated}), the "
            "corpus it was trained on; other text is outside its experience. It writes "
            "what sounds like that corpus and is neither true nor meant. At most "
            f"{config.data.length} tokens are read. Loading the SavedModel needs "
            "`import tensorflow_text` where tokens are subwords. Attention shows what "
            "was read, not why a word was chosen."
        )

    # ----------------------------------------------------------------------- data

    def prepare(self, config: LanguageConfig, run: Run) -> None:
        """Train the subword vocabulary on the training split; bytes need none."""
        networks.require_attention(config)  # before the corpus is read
        model = b""
        if config.data.tokens == "subword":
            texts = texts_of(config.data, "train", config.data.vocabulary_limit)
            with_gap, sentinels = markers(config)
            model = vocabulary.train(
                (line for text in texts for line in text.split(BREAK)),
                config.data.vocabulary_size,
                symbols=[BREAK, GAP] if with_gap else [BREAK],
                controls=sentinel_names(sentinels),
            )
        with files.replacing(run.path(VOCABULARY)) as path:
            path.write_bytes(model)

    def load(self, config: LanguageConfig, run: Run) -> LanguageData:
        own = run.config(type(config))
        if _belonging(own) != _belonging(config):
            raise UserError(
                "What a token is, what is hidden and the objective belong to a run. "
                "For others train a new one."
            )
        if own.model.positions == "learned" and config.data.length > own.data.length:
            raise UserError(
                f"{run.name} has learned {own.data.length} positions. Received: "
                f"data.length={config.data.length}."
            )
        return LanguageData(config, run.path(VOCABULARY).read_bytes())

    def train_batches(self, config: LanguageConfig, data: LanguageData) -> TrainBatches:
        rows = data.train
        tokens = rows.count * rows.rows_per_batch * config.data.length
        print(f"{tokens} training tokens in {rows.count} batches")
        return TrainBatches(rows.count, data.train_epoch)

    def validation_batches(self, config: LanguageConfig, data: LanguageData):
        return data.validation

    # ---------------------------------------------------------------------- model

    def build_model(self, config: LanguageConfig, data: LanguageData) -> keras.Model:
        return networks.build(config, data.tokens.vocabulary_size)

    def objective(self, config: LanguageConfig, data: LanguageData) -> dict[str, Any]:
        return {
            "loss": losses.MaskedCrossentropy(config.train.label_smoothing),
            "metrics": [metrics.Perplexity()],
        }

    # --------------------------------------------------------------------- stages

    def evaluate(
        self, config: LanguageConfig, data: LanguageData, model: keras.Model, run: Run
    ) -> dict[str, Any]:
        return evaluation.evaluate(data, model, run)

    def predict(
        self,
        config: LanguageConfig,
        data: LanguageData,
        model: keras.Model,
        inputs: Sequence[str],
    ) -> Iterable[str | Iterable[str]]:
        """Yield each text with what the model adds, as it is written."""
        if config.train.objective == "causal":
            with told_to_users():
                stream = Stream(
                    _continuation(config, data, model), config.decode.search
                )
            yield from (_continued(stream, text, config) for text in inputs)
            return
        filler, texts = _filler(config, data, model), _with_gaps(inputs)
        if isinstance(filler, MaskedFiller):
            yield from (_filled(filler, text) for text in texts)
        else:
            yield from filler(texts)

    def explain(
        self,
        config: LanguageConfig,
        data: LanguageData,
        model: keras.Model,
        run: Run,
        inputs: Sequence[str],
    ) -> list[Path]:
        return explanation.explain(data, model, run, inputs)

    def export(
        self,
        config: LanguageConfig,
        data: LanguageData,
        model: keras.Model,
        directory: Path,
    ) -> dict[str, Any]:
        texts = data.texts("test")
        if config.train.objective == "causal":
            continuation = _continuation(config, data, model)
            export.export_continuation(continuation, directory)
            export.check_continuation(directory, texts, continuation)
        else:
            filler = _filler(config, data, model)
            export.export_filler(filler, directory)
            export.check_filler(directory, texts, filler)
        return {}


def _belonging(config: LanguageConfig) -> tuple:
    """What no later stage may change."""
    return config.train.objective, config.data.tokens, markers(config)


def _continuation(
    config: LanguageConfig, data: LanguageData, model: keras.Model
) -> Continuation:
    return Continuation(model, data.tokens, config.decode, config.data.length)


def _filler(config: LanguageConfig, data: LanguageData, model: keras.Model) -> Filler:
    kind = SpanFiller if config.train.is_seq2seq else MaskedFiller
    return kind(model, data.tokens, config.data.length)


def _continued(stream: Stream, text: str, config: LanguageConfig) -> Iterator[str]:
    yield text
    yield from stream(text, config.decode.seed)


def _with_gaps(texts: Sequence[str]) -> list[str]:
    """The texts, each of which must have a gap."""
    for text in texts:
        if GAP not in text:
            raise UserError(
                f"Expected a text with a gap, written {GAP}. Received: {text!r}."
            )
    return list(texts)


def _filled(filler: MaskedFiller, text: str) -> str:
    """A text without gaps, and the likeliest pieces of each."""
    gaps = [
        ", ".join(f"{piece} {chance:.2f}" for piece, chance in found)
        for found in filler.candidates(text, _CANDIDATES)
    ]
    return f"{filler([text])[0]} ({'; '.join(gaps)})"
