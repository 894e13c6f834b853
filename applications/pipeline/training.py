"""Training by `keras.Model.fit` that continues exactly after a kill.

The state saved at the end of each epoch is all that the next one depends on, so a
resumed training redoes the interrupted epoch from its start, to the same bits:

* every variable, the counters of random layers included (`checkpoint`);
* batches of an epoch follow from its number and the seed (`TrainBatches`);
* best value, best epoch and history; how long to wait follows from them.

The same bits also need operations that add in a fixed order. On a CPU they do: on 2
threads three runs each of attention, GRU and convolution models were equal. On a GPU
`train.deterministic` asks TensorFlow for it.
"""

from __future__ import annotations

import math
import random
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import keras
import tensorflow as tf

from applications.errors import UserError
from applications.pipeline import checkpoint, distribution, optimizers
from applications.pipeline.application import Application, Quality, TrainBatches
from applications.pipeline.run import Run
from applications.pipeline.train_config import Config, TrainConfig


def seed(config: TrainConfig) -> None:
    """Set every source of random numbers, before anything else is made.

    Later would be too late: it destroys the resources of a SentencePiece tokenizer.
    TensorFlow's seed must not be 0, or tf.data refuses a tensor, such as the number of
    an epoch, as the seed of a shuffle.
    """
    keras.utils.set_random_seed(config.seed + 1)
    if config.deterministic and tf.config.list_physical_devices("GPU"):
        tf.config.experimental.enable_op_determinism()


def fit(
    application: Application[Any, Any],
    config: Config,
    data: Any,
    run: Run,
    callbacks: Sequence[keras.callbacks.Callback] = (),
) -> dict[str, Any]:
    """Train, or continue training, until the last epoch or until it stops early.

    Args:
        application: The task.
        config: The run's config.
        data: What the application loaded.
        run: Where state, history and the best model go.
        callbacks: More Keras callbacks.

    Returns:
        Epochs done, the best epoch, the best value, parameters and seconds.
    """
    settings = config.train
    batches = application.train_batches(config, data)
    # Keras draws the seeds of layers here. How many numbers were drawn before depends
    # on whether a corpus had to be prepared first.
    random.seed(settings.seed + 1)
    with distribution.scope(settings.strategy), _precision(settings.precision):
        model = application.build_model(config, data)
        if not model.built:
            raise ValueError("`build_model` must return a model that is built.")
        model.compile(
            optimizer=optimizers.build(
                settings, settings.epochs * batches.batches_per_epoch
            ),
            jit_compile=settings.jit_compile,
            **application.objective(config, data),
        )
        model.optimizer.build(model.trainable_variables)
    progress = _start_or_resume(run, model)
    if not progress.complete:
        done = len(progress.history)
        model.fit(
            continuous(batches, done, settings.epochs),
            initial_epoch=done,
            epochs=settings.epochs,
            steps_per_epoch=batches.batches_per_epoch,
            shuffle=False,  # the data is shuffled; Keras warns otherwise
            verbose=1 if sys.stdout.isatty() else 2,
            callbacks=[
                EpochEnd(application, config, data, run, progress),
                keras.callbacks.TensorBoard(run.logs, write_graph=False),
                *callbacks,
            ],
        )
    return {
        "epochs": len(progress.history),
        "best_epoch": progress.best_epoch,
        application.quality.name: progress.best,
        "parameters": model.count_params(),
        "seconds": round(progress.seconds, 1),
    }


def continuous(batches: TrainBatches, first: int, last: int) -> tf.data.Dataset:
    """Return the batches of epochs `first` to `last - 1`, one after the other.

    One dataset for all epochs prepares the next epoch while this one is trained on and
    validated. An epoch that has not `batches_per_epoch` batches raises an error: later
    batches would fall into other epochs than after a resume.
    """
    exact = tf.data.experimental.assert_cardinality(batches.batches_per_epoch)
    epochs = tf.data.Dataset.range(first, last)
    return epochs.flat_map(lambda e: batches.epoch(e).apply(exact)).prefetch(
        tf.data.AUTOTUNE
    )


class EpochEnd(keras.callbacks.Callback):
    """Validates, keeps the best model, saves the state, stops early."""

    def __init__(
        self,
        application: Application[Any, Any],
        config: Config,
        data: Any,
        run: Run,
        progress: checkpoint.Progress,
    ) -> None:
        super().__init__()
        self.application = application
        self.config = config
        self.data = data
        self.run = run
        self.progress = progress
        self.validation = application.validation_batches(config, data)

    def on_epoch_begin(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        self._began = time.monotonic()

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        logs = {} if logs is None else logs
        _require_finite(logs, epoch + 1)
        with checkpoint.averaged_weights(self.model):
            logs.update(self._validate())  # callbacks after this one see them too
            row = {"epoch": epoch + 1, "learning_rate": self._learning_rate(), **logs}
            value = _quality_of(self.application.quality, row)
            if self.application.quality.better(value, self.progress.best):
                self.progress.best, self.progress.best_epoch = value, epoch + 1
                checkpoint.save_model(self.run.model, self.model)
        self._save(row)
        self.model.stop_training = self.progress.complete

    def _validate(self) -> dict[str, float]:
        results: dict[str, float] = {}
        if self.validation is not None:
            results |= self.model.evaluate(self.validation, return_dict=True, verbose=0)
        results |= self.application.validate(self.config, self.data, self.model)
        return {f"val_{name}": float(value) for name, value in results.items()}

    def _learning_rate(self) -> float:
        rate = self.model.optimizer.learning_rate
        return float(keras.ops.convert_to_numpy(rate))

    def _save(self, row: dict[str, float]) -> None:
        """Commit the epoch: the state comes last, what it does not know is redone."""
        progress, settings = self.progress, self.config.train
        progress.history.append(row)
        progress.seconds += time.monotonic() - self._began
        epochs, best = len(progress.history), progress.best_epoch or 0
        progress.complete = epochs >= settings.epochs or (
            settings.patience is not None and epochs - best >= settings.patience
        )
        self.run.write_history(progress.history)
        checkpoint.save(self.run.state, self.model, progress)


def _start_or_resume(run: Run, model: keras.Model) -> checkpoint.Progress:
    """Restore the saved state, or save the untrained one: an epoch may never end."""
    if run.state.exists():
        progress = checkpoint.restore(run.state, model)
        done = len(progress.history)
        print(
            f"{run.name}: {'complete' if progress.complete else 'continuing'} "
            f"after epoch {done}"
        )
        return progress
    progress = checkpoint.Progress()
    checkpoint.save(run.state, model, progress)
    return progress


@contextmanager
def _precision(policy: str) -> Iterator[None]:
    """Build layers under a dtype policy, leave the global one as it was."""
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        yield
    finally:
        keras.config.set_dtype_policy(before)


def _require_finite(logs: dict[str, float], epoch: int) -> None:
    loss = logs.get("loss", 0.0)
    if not math.isfinite(loss):
        raise UserError(
            f"The loss is {loss} in epoch {epoch}. Lower train.learning_rate, raise "
            "train.warmup_steps or set train.gradient_clip_norm, in a new run."
        )


def _quality_of(quality: Quality, row: dict[str, float]) -> float:
    if quality.name not in row:
        raise ValueError(
            f"`quality` names {quality.name!r}, which no epoch reports. "
            f"Expected one of: {', '.join(row)}."
        )
    return row[quality.name]
