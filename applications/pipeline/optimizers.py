"""Optimizers and learning-rate schedules by name."""

from typing import Any

import keras

from applications.pipeline.train_config import TrainConfig
from keras_attention.errors import positive_integer, require

# TensorFlow names a variable `dense/bias:0` where Keras says `bias`.
_NOT_DECAYED = [r"(^|/)(bias|beta|gamma|scale)(:\d+)?$"]


def build(config: TrainConfig, steps: int) -> keras.optimizers.Optimizer:
    """Return the optimizer that `config` names.

    Args:
        config: How to train.
        steps: Steps of the whole training; a cosine ends there.
    """
    arguments: dict[str, Any] = {
        "learning_rate": schedule(config, steps),
        "weight_decay": config.weight_decay or None,
        "global_clipnorm": config.gradient_clip_norm,
    }
    if config.average_decay is not None:
        arguments |= {"use_ema": True, "ema_momentum": config.average_decay}
    if config.optimizer == "adam":
        optimizer = keras.optimizers.Adam(beta_2=config.beta_2, **arguments)
    elif config.optimizer == "adamw":
        arguments["weight_decay"] = config.weight_decay
        optimizer = keras.optimizers.AdamW(beta_2=config.beta_2, **arguments)
    elif config.optimizer == "sgd":
        optimizer = keras.optimizers.SGD(momentum=0.9, **arguments)
    else:
        optimizer = keras.optimizers.RMSprop(**arguments)
    if config.weight_decay:
        optimizer.exclude_from_weight_decay(var_names=_NOT_DECAYED)
    return optimizer


def schedule(
    config: TrainConfig, steps: int
) -> float | keras.optimizers.schedules.LearningRateSchedule:
    """Return the learning rate, or how it goes over `steps` steps."""
    peak, warmup = config.learning_rate, config.warmup_steps
    if config.schedule == "inverse_sqrt":
        return Warmup(peak, max(warmup, 1), decay=True)
    if config.schedule == "cosine":
        return keras.optimizers.schedules.CosineDecay(
            peak / (warmup + 1),
            decay_steps=max(steps - warmup, 1),
            warmup_target=peak if warmup else None,
            warmup_steps=warmup,
        )
    return Warmup(peak, warmup, decay=False) if warmup else peak


@keras.saving.register_keras_serializable(package="keras_attention")
class Warmup(keras.optimizers.schedules.LearningRateSchedule):
    """A linear rise, then the peak or its decay by the inverse square root.

    In step `n`, counted from 1, the rate is `peak * min(n / w, 1)`, or
    `peak * min(n / w, sqrt(w / n))` with decay, where `w` is `warmup_steps`.

    Args:
        peak: Learning rate at the end of the rise.
        warmup_steps: Steps of the rise, at least 1.
        decay: Whether the rate falls afterwards.

    Source: Vaswani et al. 2017, arXiv 1706.03762, equation 3; there the peak is
    `1 / sqrt(model_dim * warmup_steps)`.
    """

    def __init__(self, peak: float, warmup_steps: int, decay: bool = True) -> None:
        require(peak > 0, "`peak` must be above 0.", peak=peak)
        self.peak = peak
        self.warmup_steps = positive_integer("warmup_steps", warmup_steps)
        self.decay = decay

    def __call__(self, step: Any) -> Any:
        n = keras.ops.cast(step, "float32") + 1.0
        after = keras.ops.sqrt(self.warmup_steps / n) if self.decay else 1.0
        return self.peak * keras.ops.minimum(n / self.warmup_steps, after)

    def get_config(self) -> dict[str, Any]:
        return {
            "peak": self.peak,
            "warmup_steps": self.warmup_steps,
            "decay": self.decay,
        }
