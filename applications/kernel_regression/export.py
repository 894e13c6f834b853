"""The SavedModel: x in, y out; the known points are inside."""

from pathlib import Path

import numpy as np
import tensorflow as tf

from applications.errors import UserError
from applications.kernel_regression.data import Points
from applications.kernel_regression.evaluation import predicted
from keras_attention import export as exporting
from keras_attention import models

ENDPOINT = "predict"

_TOLERANCE = 1e-4  # of y, as a share of its range: float32, other orders of summing


def export(model: models.AttentionRegressor, directory: Path) -> None:
    """Write the endpoint `predict`, also `serving_default`: from `x` to `y`, `(B,)`."""

    def predict(x):
        return {"y": model(x[:, None], training=False)[:, 0]}

    signature = [tf.TensorSpec([None], tf.float32, name="x")]
    exporting.write(directory, {ENDPOINT: (predict, signature)}, [model])


def check(directory: Path, model: models.AttentionRegressor, points: Points) -> None:
    """Compare the SavedModel, alone in a fresh process, with this one.

    Raises:
        UserError: The answers differ.
    """
    far = float(points.x.max() + 10 * np.ptp(points.x))
    x = [*map(float, points.test_x), far, -far]
    batches = [x[:1], x[1:]]
    answers = exporting.ask_alone(directory, batches, [ENDPOINT])[ENDPOINT]
    alone = np.concatenate([found["y"] for found in answers])
    largest = float(np.abs(alone - predicted(model, np.array(x))).max())
    if not largest <= _TOLERANCE * max(float(np.ptp(points.y)), 1e-6):
        raise UserError(
            f"The exported model answers otherwise: by up to {largest:.1e}."
        )
    print(f"{ENDPOINT}: SavedModel alone equals this process on {len(x)} numbers")
