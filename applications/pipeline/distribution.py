"""On which devices a model is trained, by name."""

import contextlib
from contextlib import AbstractContextManager
from typing import Any

import tensorflow as tf

from applications.pipeline.train_config import STRATEGIES
from keras_attention.errors import one_of


def scope(name: str) -> AbstractContextManager[Any]:
    """Return the scope to build and compile a model in.

    Args:
        name: `"none"` for one device, `"mirrored"` for every GPU of this machine
            (every logical CPU where there is no GPU): each takes its share of a batch.
            Keras averages by device, so the examples of a batch that does not divide
            by the number of devices do not count quite the same.

    Several workers are not offered: Keras 3's `fit` fails under
    `MultiWorkerMirroredStrategy` (keras#20585).
    """
    one_of("strategy", name, STRATEGIES)
    if name == "none":
        return contextlib.nullcontext()
    devices = tf.config.list_logical_devices("GPU") or tf.config.list_logical_devices(
        "CPU"
    )
    strategy = tf.distribute.MirroredStrategy([device.name for device in devices])
    context: AbstractContextManager[Any] = strategy.scope()
    return context
