"""Settings of sound, for every application that hears; imports no TensorFlow."""

from dataclasses import dataclass
from typing import Annotated, Literal

from applications.errors import (
    require,
    require_fraction,
    require_not_negative,
    require_positive,
)

SAMPLE_RATE = 16_000
"""Samples of a second, in Hz, of every sound that becomes frames."""

LOUDEST = 2**15
"""What a sample of 16 bits is for 1 in a waveform."""

Normalization = Literal["clip", "none"]

_SLOWEST, _FASTEST = 0.5, 2.0


@dataclass(frozen=True, kw_only=True)
class ClipBatchesConfig:
    """How the clips of any set become batches; which set comes on top."""

    data_dir: Annotated[str | None, "folder of prepared sets; none: TFDS's"] = None
    batch_size: Annotated[int, "clips in one step"] = 32
    clips_in_memory: Annotated[
        int, "of a larger training set so many are shuffled at a time"
    ] = 20_000
    train_limit: Annotated[int | None, "first training clips to use"] = None
    validation_limit: Annotated[int | None, "first validation clips to use"] = None
    test_limit: Annotated[int | None, "first test clips to evaluate"] = None

    def __post_init__(self) -> None:
        limits = ("train_limit", "validation_limit", "test_limit")
        require_positive(self, "batch_size", "clips_in_memory", *limits)


@dataclass(frozen=True, kw_only=True)
class FrontEndConfig:
    """How sound of 16 kHz becomes log-mel frames."""

    mel_bands: Annotated[int, "numbers of a frame"] = 80
    frame_milliseconds: Annotated[int, "length of a frame"] = 25
    hop_milliseconds: Annotated[int, "from one frame to the next"] = 10
    lowest_hertz: Annotated[float, "where the first band begins"] = 20.0
    highest_hertz: Annotated[float, "where the last band ends"] = 7600.0
    normalization: Annotated[
        Normalization, "every band of a clip to mean 0 and deviation 1, or not"
    ] = "clip"

    def __post_init__(self) -> None:
        require_positive(self, "mel_bands", "frame_milliseconds", "hop_milliseconds")
        require_not_negative(self, "lowest_hertz")
        require(
            self.lowest_hertz < self.highest_hertz <= SAMPLE_RATE / 2,
            "`highest_hertz` must be above `lowest_hertz` and at most "
            f"{SAMPLE_RATE // 2}.",
            lowest_hertz=self.lowest_hertz,
            highest_hertz=self.highest_hertz,
        )


@dataclass(frozen=True, kw_only=True)
class SoundAugmentationConfig:
    """How training sounds are changed at random; the others never are."""

    speeds: Annotated[
        tuple[float, ...], "one of them is drawn for a clip: 1.1 is faster and higher"
    ] = ()
    band_masks: Annotated[int, "blocks of bands that are hidden"] = 0
    widest_band_mask: Annotated[int, "most bands of a block"] = 27
    time_masks: Annotated[int, "blocks of frames that are hidden"] = 0
    widest_time_mask: Annotated[int, "most frames of a block"] = 100
    time_mask_share: Annotated[float, "of a clip's frames, most of a block"] = 0.2

    def __post_init__(self) -> None:
        require_not_negative(self, "band_masks", "time_masks")
        require_positive(self, "widest_band_mask", "widest_time_mask")
        require_fraction(self, "time_mask_share")
        require(
            all(_SLOWEST <= speed <= _FASTEST for speed in self.speeds),
            f"`speeds` must be from {_SLOWEST} to {_FASTEST}.",
            speeds=self.speeds,
        )
