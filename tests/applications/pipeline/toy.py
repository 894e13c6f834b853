"""A whole application, small: which of three directions a noisy point lies in.

It has what makes an exact resume hard: dropout, shuffling, a schedule, averaged
weights, early stopping. `KILL_AT=7` in the environment kills it at training step 7.
"""

import os
import signal
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated

import numpy as np

from applications.errors import UserError, require
from applications.pipeline import cli, files
from applications.pipeline.application import Application, Quality, TrainBatches
from applications.pipeline.train_config import Config, TrainConfig


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    examples: Annotated[int, "examples of each split"] = 48
    batch_size: Annotated[int, "examples in one step"] = 8

    def __post_init__(self):
        require(self.batch_size > 0, "`batch_size` must be above 0.", batch_size=0)


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    units: Annotated[int, "width of the hidden layer"] = 8
    dropout: Annotated[float, "fraction of hidden units dropped"] = 0.3


@dataclass(frozen=True, kw_only=True)
class ToyConfig(Config):
    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ModelConfig)


PRESETS = {
    "small": ToyConfig(
        train=TrainConfig(
            epochs=5,
            patience=3,
            optimizer="adamw",
            learning_rate=0.02,
            schedule="cosine",
            warmup_steps=4,
            weight_decay=0.01,
            gradient_clip_norm=1.0,
            average_decay=0.8,
        )
    ),
    "plain": ToyConfig(train=TrainConfig(epochs=2)),
}


class Data:
    """Points and their classes; `names` was saved with the run."""

    def __init__(self, config, names):
        self.config = config
        self.names = names

    def split(self, seed):
        random = np.random.RandomState(seed)
        labels = random.randint(0, 3, self.config.examples)
        angles = labels * 2 * np.pi / 3
        points = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        return (points + random.normal(0, 0.3, points.shape)).astype("float32"), labels

    @cached_property
    def test(self):
        return self.split(3)


class Toy(Application[ToyConfig, Data]):
    name = "toy"
    quality = Quality("val_correct", higher_is_better=True)

    def about(self, config):
        return "Tells three directions apart. Made-up data, no licence."

    def prepare(self, config, run):
        files.write_text(run.path("names.txt"), "east north west")

    def load(self, config, run):
        return Data(config.data, run.path("names.txt").read_text().split())

    def train_batches(self, config, data):
        import tensorflow as tf

        examples, size = config.data.examples, config.data.batch_size
        source = tf.data.Dataset.from_tensor_slices(data.split(1)).cache()

        def epoch(number):
            return source.shuffle(examples, seed=number).batch(size)

        return TrainBatches(-(-examples // size), epoch)

    def validation_batches(self, config, data):
        import tensorflow as tf

        return tf.data.Dataset.from_tensor_slices(data.split(2)).batch(16)

    def build_model(self, config, data):
        import keras

        return keras.Sequential(
            [
                keras.Input((2,)),
                keras.layers.Dense(config.model.units, activation="relu"),
                keras.layers.Dropout(config.model.dropout),
                keras.layers.Dense(len(data.names), dtype="float32"),
            ]
        )

    def objective(self, config, data):
        import keras

        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        return {"loss": loss, "metrics": ["accuracy"]}

    def train(self, config, data, run):
        from applications.pipeline import training

        return training.fit(self, config, data, run, callbacks=killers())

    def validate(self, config, data, model):
        points, labels = data.split(2)
        return {"correct": float(np.mean(self.classes(model, points) == labels))}

    def evaluate(self, config, data, model, run):
        points, labels = data.test
        return {
            "accuracy": np.mean(self.classes(model, points) == labels),
            "baselines": {"most_frequent": np.bincount(labels).max() / len(labels)},
        }

    def predict(self, config, data, model, inputs):
        for text in inputs:
            try:
                point = [[float(number) for number in text.split(",")]]
            except ValueError:
                raise UserError(f"Expected x,y. Received: {text!r}.") from None
            yield data.names[self.classes(model, np.array(point, "float32"))[0]]

    def explain(self, config, data, model, run, inputs):
        figure = run.path("figures", "weights.txt")
        files.write_text(figure, f"{list(inputs)} {model.get_weights()}")
        return [figure]

    def export(self, config, data, model, directory):
        model.export(directory, verbose=False)
        return {"endpoints": 1}

    @staticmethod
    def classes(model, points):
        return np.argmax(np.asarray(model(points)), axis=-1)


def killers():
    """What a power cut does, at the step the environment names."""
    step = int(os.environ.get("KILL_AT", "0"))
    if not step:
        return []
    import keras

    def kill(batch, logs=None):
        nonlocal step
        step -= 1
        if step == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return [keras.callbacks.LambdaCallback(on_train_batch_end=kill)]


def main(argv=None):
    return cli.main("toy", PRESETS, Toy, argv)


def read(path):
    return Path(path).read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
