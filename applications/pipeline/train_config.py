"""The settings every application shares: how training goes."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from applications.errors import (
    require,
    require_fraction,
    require_not_negative,
    require_positive,
)

STRATEGIES = ("none", "mirrored")


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """How a model is trained.

    An application that needs more (label smoothing, masking rates) derives from it and
    gives its config a `train` of that class.
    """

    seed: Annotated[int, "start of all randomness: weights, dropout, order"] = 0
    epochs: Annotated[int, "passes over the training data, at most"] = 10
    patience: Annotated[
        int | None, "epochs without a better task metric before stopping"
    ] = None
    optimizer: Annotated[
        Literal["adam", "adamw", "sgd", "rmsprop"], "update rule; sgd has momentum 0.9"
    ] = "adam"
    learning_rate: Annotated[float, "per step, at its peak"] = 1e-3
    schedule: Annotated[
        Literal["constant", "inverse_sqrt", "cosine"], "rate after the warm-up"
    ] = "constant"
    warmup_steps: Annotated[int, "steps of linear rise to the learning rate"] = 0
    beta_2: Annotated[float, "adam, adamw: memory of squared gradients"] = 0.999
    weight_decay: Annotated[
        float, "per step and unit of learning rate; not on biases and norms"
    ] = 0.0
    gradient_clip_norm: Annotated[float | None, "norm over all gradients"] = None
    average_decay: Annotated[
        float | None, "decay per step of averaged weights; those are evaluated and kept"
    ] = None
    precision: Annotated[
        Literal["float32", "mixed_bfloat16", "mixed_float16"],
        "format of numbers; mixed ones are slower where a processor lacks them",
    ] = "float32"
    jit_compile: Annotated[bool, "compile the step with XLA, once per shape"] = False
    strategy: Annotated[str, "devices: none (one) or mirrored (all GPUs)"] = "none"
    deterministic: Annotated[
        bool, "bit-equal reruns and resumes on a GPU too, where it costs time"
    ] = True

    def __post_init__(self) -> None:
        require_positive(
            self, "epochs", "learning_rate", "gradient_clip_norm", "patience"
        )
        require_not_negative(self, "seed", "warmup_steps", "weight_decay")
        require_fraction(self, "beta_2", "average_decay")
        require(
            self.strategy in STRATEGIES,
            "`strategy` must be 'none' or 'mirrored'. Several workers are refused: "
            "Keras 3's fit fails under MultiWorkerMirroredStrategy (keras#20585).",
            strategy=self.strategy,
        )


@dataclass(frozen=True, kw_only=True)
class CrossentropyTrainConfig(TrainConfig):
    """Training against classes: of a token, of an image."""

    label_smoothing: Annotated[float, "share of a target spread over all classes"] = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        require_fraction(self, "label_smoothing")


@dataclass(frozen=True, kw_only=True)
class Config:
    """What the config of every application has; applications add their groups."""

    train: TrainConfig = field(default_factory=TrainConfig)
