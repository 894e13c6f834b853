"""What tasks share that read a text and write one: subwords, training, SavedModel."""

import abc
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import keras

from applications.pipeline import files
from applications.pipeline.application import Application, TrainBatches
from applications.pipeline.run import Run
from applications.text import seq2seq_export, vocabulary
from applications.text.seq2seq_config import Seq2SeqConfig
from applications.text.seq2seq_data import Seq2SeqData, teacher_forced
from applications.text.writer import Writer
from keras_attention import losses, metrics

VOCABULARY = "vocabulary.model"

C = TypeVar("C", bound=Seq2SeqConfig)
D = TypeVar("D", bound=Seq2SeqData)


class Seq2SeqApplication(Application[C, D]):
    """Texts to texts.

    A task adds its model, its metric (`score`), its evaluation and its pictures.
    """

    data_class: ClassVar[type[Any]]
    """Its `Seq2SeqData`."""

    writer_class: ClassVar[type[Any]]
    """Its `Writer`, made of a model, a tokenizer and a config."""

    answer: ClassVar[str]
    """What the SavedModel calls an answer."""

    _validator: Writer | None = None

    @abc.abstractmethod
    def score(
        self, answers: Sequence[str], references: Sequence[str]
    ) -> dict[str, float]:
        """Return the task metric, without the `val_` of `quality`."""

    # ----------------------------------------------------------------------- data

    def prepare(self, config: C, run: Run) -> None:
        """Train the subword vocabulary on both sides of the training split."""
        rows = self.data_class.read(config, "train").as_numpy_iterator()
        texts = (row[side].decode() for row in rows for side in ("source", "target"))
        model = vocabulary.train(texts, config.data.vocabulary_size)
        with files.replacing(run.path(VOCABULARY)) as path:
            path.write_bytes(model)

    def load(self, config: C, run: Run) -> D:
        data: D = self.data_class(config, run.path(VOCABULARY).read_bytes())
        return data

    def train_batches(self, config: C, data: D) -> TrainBatches:
        train = data.train
        print(
            f"{train.examples} training pairs in {train.count} batches; "
            f"{data.left_out()}"
        )
        return TrainBatches(train.count, lambda e: train.epoch(e).map(teacher_forced))

    def validation_batches(self, config: C, data: D):
        return data.validation

    # ------------------------------------------------------------------- training

    def objective(self, config: C, data: D) -> dict[str, Any]:
        return {
            "loss": losses.MaskedCrossentropy(config.train.label_smoothing),
            "metrics": [metrics.Perplexity()],
        }

    def validate(self, config: C, data: D, model: keras.Model) -> dict[str, float]:
        """The task metric of greedy answers to the first validation texts."""
        sources, references = data.sentences(
            "validation", config.train.validation_sentences
        )
        if self._validator is None or self._validator.model is not model:
            # Traced once for all epochs.
            self._validator = self.writer_class(model, data.tokenizer, config)
        return self.score(self._validator(sources, "greedy"), references)

    # --------------------------------------------------------------------- stages

    def predict(
        self, config: C, data: D, model: keras.Model, inputs: Sequence[str]
    ) -> Iterable[str]:
        yield from self.writer_class(model, data.tokenizer, config)(inputs)

    def export(
        self, config: C, data: D, model: keras.Model, directory: Path
    ) -> dict[str, Any]:
        writer = self.writer_class(model, data.tokenizer, config)
        seq2seq_export.export(writer, directory, self.answer)
        sources, _ = data.sentences("test", seq2seq_export.CHECKED_TEXTS)
        seq2seq_export.check(directory, sources, writer, self.answer)
        return {}
