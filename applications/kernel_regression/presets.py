"""Settings of kernel regression and their presets; imports no TensorFlow.

Presets differ in numbers only. What they took and reached stands in this application's
README, with machine and protocol.

    preset   command                                  budget on 2 CPU cores
    smoke    train --preset smoke                     seconds; runs, learns little
    small    train --preset small                     seconds
             python -m applications.kernel_regression.compare
                                                      minutes; 3 kinds x 10 seeds

`small` is 500 passes over the points in batches of 32, Adam at 0.01, 32 hidden units.
"""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from applications.errors import require, require_positive
from applications.pipeline.train_config import Config, TrainConfig


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """Which points, and how they become batches."""

    name: Annotated[
        str, "points: sine, damped_sine, nile, sunspots, or the path of a .csv"
    ] = "damped_sine"
    x_column: Annotated[str, "csv: what its header calls x"] = "x"
    y_column: Annotated[str, "csv: what its header calls y"] = "y"
    test_share: Annotated[float, "nile, sunspots, csv: share of points held out"] = 0.2
    batch_size: Annotated[int, "points in one step"] = 32
    passes: Annotated[int, "passes over the points in one epoch of the history"] = 25

    def __post_init__(self) -> None:
        require_positive(self, "batch_size", "passes")
        require(
            0 < self.test_share < 1,
            "`test_share` must be in (0, 1).",
            test_share=self.test_share,
        )


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """What says how near two points are, and its sizes."""

    kind: Annotated[
        Literal["fixed", "learned", "attention"],
        "a kernel of fixed or of learned bandwidth, or learned attention",
    ] = "attention"
    bandwidth: Annotated[
        float | None, "of the kernel, in units of x; none: see the README"
    ] = None
    hidden_dim: Annotated[int, "attention: hidden units, size of queries"] = 32

    def __post_init__(self) -> None:
        require_positive(self, "bandwidth", "hidden_dim")


@dataclass(frozen=True, kw_only=True)
class KernelRegressionConfig(Config):
    """All settings of a run."""

    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    train: TrainConfig = field(default_factory=TrainConfig)


PRESETS = {
    "smoke": KernelRegressionConfig(
        data=DataConfig(passes=5),
        train=TrainConfig(epochs=2, learning_rate=0.01),
    ),
    "small": KernelRegressionConfig(train=TrainConfig(epochs=20, learning_rate=0.01)),
}
