"""The regression task: points, models, metrics, explanation and export."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import keras
import numpy as np
import tensorflow as tf

from applications.errors import UserError
from applications.kernel_regression import evaluation, explanation, export
from applications.kernel_regression.data import (
    Points,
    number,
    points_of,
    source_of,
)
from applications.kernel_regression.presets import KernelRegressionConfig
from applications.pipeline import files, training
from applications.pipeline.application import Application, Quality, TrainBatches
from applications.pipeline.run import Run
from keras_attention import models

POINTS = "points.npz"


class KernelRegression(Application[KernelRegressionConfig, Points]):
    """A function of one number, from points of it."""

    name: ClassVar[str] = "kernel_regression"
    quality: ClassVar[Quality] = Quality("val_leave_one_out")

    def about(self, config: KernelRegressionConfig) -> str:
        return (
            f"Answers an x with the mean of the known y of `{config.data.name}` "
            f"(licence: {source_of(config.data.name).licence}), weighed by how near "
            "their x are. It never answers above the largest or "
            "below the smallest y it knows, and outside the known x it says nothing of "
            "use. The points are in the model and in its SavedModel."
        )

    # ----------------------------------------------------------------------- data

    def prepare(self, config: KernelRegressionConfig, run: Run) -> None:
        """Keep the points of the run: no later file may move one from test to known."""
        points = points_of(config.data, config.train.seed)
        names = ("x", "y", "test_x", "test_y")
        with files.replacing(run.path(POINTS)) as path:
            np.savez(path, **{name: getattr(points, name) for name in names})

    def load(self, config: KernelRegressionConfig, run: Run) -> Points:
        own = run.config(type(config))
        if (config.data, config.train.seed) != (own.data, own.train.seed):
            raise UserError(
                "The points, and which are held out, belong to a run. For others train "
                "a new one."
            )
        with np.load(run.path(POINTS)) as kept:
            return Points(**kept, source=source_of(config.data.name))

    def train_batches(
        self, config: KernelRegressionConfig, data: Points
    ) -> TrainBatches:
        settings, count = config.data, len(data.x)
        pairs = [np.asarray(a, "float32")[:, None] for a in (data.x, data.y)]
        known = tf.data.Dataset.from_tensor_slices(tuple(pairs))
        first = config.train.seed * config.train.epochs * settings.passes

        def one_pass(number):
            order = known.shuffle(count, seed=first + number)
            return order.batch(settings.batch_size)

        def epoch(number):
            start = number * settings.passes
            passes = tf.data.Dataset.range(start, start + settings.passes)
            return passes.flat_map(one_pass)

        return TrainBatches(settings.passes * -(-count // settings.batch_size), epoch)

    # ---------------------------------------------------------------------- model

    def build_model(
        self, config: KernelRegressionConfig, data: Points
    ) -> models.AttentionRegressor:
        sizes = config.model
        bandwidth = data.bandwidth_or(sizes.bandwidth)
        model = models.AttentionRegressor(
            len(data.x), sizes.kind, bandwidth, sizes.hidden_dim
        )
        model.remember(data.x, data.y)
        return model

    def objective(self, config: KernelRegressionConfig, data: Points) -> dict[str, Any]:
        return {"loss": "mse"}

    def train(
        self, config: KernelRegressionConfig, data: Points, run: Run
    ) -> dict[str, Any]:
        """Train what can be; a fixed kernel is ready as it is."""
        if config.model.kind != "fixed":
            return training.fit(self, config, data, run)
        model = self.build_model(config, data)
        with files.replacing(run.model) as path:
            model.save(path)
        left_out = evaluation.leave_one_out(model, data)
        return {self.quality.name: left_out, "seconds": 0.0}

    def validate(
        self, config: KernelRegressionConfig, data: Points, model: keras.Model
    ) -> dict[str, float]:
        return {"leave_one_out": evaluation.leave_one_out(model, data)}

    # --------------------------------------------------------------------- stages

    def evaluate(
        self,
        config: KernelRegressionConfig,
        data: Points,
        model: keras.Model,
        run: Run,
    ) -> dict[str, Any]:
        bandwidth = data.bandwidth_or(config.model.bandwidth)
        return evaluation.evaluate(model, data, bandwidth)

    def predict(
        self,
        config: KernelRegressionConfig,
        data: Points,
        model: keras.Model,
        inputs: Sequence[str],
    ) -> Iterable[str]:
        x = np.array(_numbers(inputs))
        yield from (f"{y:.4g}" for y in evaluation.predicted(model, x))

    def explain(
        self,
        config: KernelRegressionConfig,
        data: Points,
        model: keras.Model,
        run: Run,
        inputs: Sequence[str],
    ) -> list[Path]:
        bandwidth = data.bandwidth_or(config.model.bandwidth)
        return explanation.explain(model, data, bandwidth, run, _numbers(inputs))

    def export(
        self,
        config: KernelRegressionConfig,
        data: Points,
        model: keras.Model,
        directory: Path,
    ) -> dict[str, Any]:
        export.export(model, directory)
        export.check(directory, model, data)
        return {}


def _numbers(inputs: Sequence[str]) -> list[float]:
    return [number(text, f"Input {i}") for i, text in enumerate(inputs, start=1)]
