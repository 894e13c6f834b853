"""What classifiers are trained towards."""

from typing import Any

import keras

from applications.pipeline.train_config import CrossentropyTrainConfig
from keras_attention import metrics


def objective(train: CrossentropyTrainConfig) -> dict[str, Any]:
    """Arguments of `compile`, for logits and rows of class shares, both `(B, C)`."""
    return {
        "loss": keras.losses.CategoricalCrossentropy(
            from_logits=True, label_smoothing=train.label_smoothing
        ),
        "metrics": [metrics.TopKAccuracy()],
    }
