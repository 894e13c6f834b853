"""What a task fills in: one class, a method per step of the stages."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from applications.errors import UserError
from applications.pipeline.run import Run
from applications.pipeline.train_config import Config

if TYPE_CHECKING:
    import keras
    import tensorflow as tf

C = TypeVar("C", bound=Config)
D = TypeVar("D")


@dataclass(frozen=True)
class Quality:
    """The number that decides which epoch is best and when to stop.

    Attributes:
        name: A column of `history.csv`, such as `val_loss`, or `val_bleu` where
            `Application.validate` returns `bleu`.
        higher_is_better: Its direction.
    """

    name: str = "val_loss"
    higher_is_better: bool = False

    def better(self, value: float, best: float | None) -> bool:
        """Whether `value` beats `best`; the first value always does, NaN never."""
        if best is None:
            return value == value
        return value > best if self.higher_is_better else value < best


@dataclass(frozen=True)
class TrainBatches:
    """Training data by epoch, so that an interrupted training continues exactly.

    Attributes:
        batches_per_epoch: Batches of every epoch; a different number stops training.
        epoch: From an epoch's number, a scalar int64 tensor, to its batches. They
            depend on that number and the seed only: `source.shuffle(n, seed=epoch)`
            does, a random operation without a seed does not.
    """

    batches_per_epoch: int
    epoch: Callable[[tf.Tensor], tf.data.Dataset]


class Application(abc.ABC, Generic[C, D]):
    """A task: its data, model and metrics.

    `C` is its config, `D` whatever `load` returns and the other methods need: datasets,
    tokenizers, names of classes. Every stage calls `load` first, so whatever is slow
    (a corpus that only training reads) is best made when first asked for.

    Random numbers come from `config.train.seed`, set before `prepare`. Layers draw from
    their own `keras.random.SeedGenerator`, as all of Keras's do.

    Raise `applications.errors.UserError` for what a user can put right.
    """

    name: ClassVar[str]
    """The package `applications.<name>`, and the directory below `saved_models`."""

    quality: ClassVar[Quality] = Quality()
    """What early stopping and the choice of the best epoch look at."""

    @abc.abstractmethod
    def about(self, config: C) -> str:
        """Return the card's Markdown: intended use, data, its licence, limits."""

    # Data

    def prepare(self, config: C, run: Run) -> None:
        """Make what belongs to the run before training, such as its vocabulary.

        Called once, for a new run. Fit on the training split only. Write through
        `applications.pipeline.files` to `run.path(...)`; `load` reads it.
        """

    @abc.abstractmethod
    def load(self, config: C, run: Run) -> D:
        """Return the data and artifacts that the other methods need."""

    @abc.abstractmethod
    def train_batches(self, config: C, data: D) -> TrainBatches:
        """Return the training data by epoch."""

    def validation_batches(self, config: C, data: D) -> tf.data.Dataset | None:
        """Return batches for the `val_` loss and metrics after every epoch, if any."""
        return None

    # Model

    @abc.abstractmethod
    def build_model(self, config: C, data: D) -> keras.Model:
        """Return the model, built and not compiled."""

    @abc.abstractmethod
    def objective(self, config: C, data: D) -> dict[str, Any]:
        """Return `loss`, `metrics` and the like for `keras.Model.compile`."""

    def load_model(self, config: C, data: D, run: Run) -> keras.Model:
        """Return the run's best model."""
        import keras

        if not run.model.exists():
            raise UserError(
                f"Run {run.name} has no model yet. Train it: python -m "
                f"applications.{self.name} train run={run.name}"
            )
        return keras.saving.load_model(run.model, compile=False)

    # Stages

    def train(self, config: C, data: D, run: Run) -> dict[str, Any]:
        """Train, leave the best model in the run, return what to record.

        For a task that is not trained by gradient descent, or that adds callbacks.
        """
        from applications.pipeline import training

        return training.fit(self, config, data, run)

    def validate(self, config: C, data: D, model: keras.Model) -> dict[str, float]:
        """Return the task's metrics after an epoch; history adds `val_` to names."""
        return {}

    @abc.abstractmethod
    def evaluate(
        self, config: C, data: D, model: keras.Model, run: Run
    ) -> dict[str, Any]:
        """Return the metrics over the whole test split, baselines beside them."""

    @abc.abstractmethod
    def predict(
        self, config: C, data: D, model: keras.Model, inputs: Sequence[str]
    ) -> Iterable[str | Iterable[str]]:
        """Yield one answer per input: a text, or the path of an image or a sound.

        An answer that takes its time may be the pieces of its text, as they come.
        """

    @abc.abstractmethod
    def explain(
        self, config: C, data: D, model: keras.Model, run: Run, inputs: Sequence[str]
    ) -> list[Path]:
        """Draw what was attended into `run.path("figures", ...)`, return the paths.

        Without `inputs` it takes the task's own named examples.
        """

    @abc.abstractmethod
    def export(
        self, config: C, data: D, model: keras.Model, directory: Path
    ) -> dict[str, Any]:
        """Write a SavedModel, raw input to answer, as the new `directory`.

        Returns:
            What to record of it, such as how far other formats agree.
        """
