"""Settings of image data, for every application that sees images.

Imports no TensorFlow: presets do without it.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from applications.errors import require, require_fraction, require_positive

Aspect = Literal["crop", "pad", "stretch"]
Mix = Literal["none", "mixup", "cutmix"]

_LARGEST_TURN = 180


@dataclass(frozen=True, kw_only=True)
class ImageBatchesConfig:
    """How the images of any set become batches; what they show comes on top."""

    data_dir: Annotated[str | None, "folder of prepared sets; none: TFDS's"] = None
    aspect: Annotated[
        Aspect, "to the size: cut the longer side, fill up the shorter, or distort"
    ] = "crop"
    batch_size: Annotated[int, "images in one step"] = 128
    train_limit: Annotated[int | None, "first training images to use"] = None
    validation_limit: Annotated[int | None, "first validation images to use"] = None
    test_limit: Annotated[int | None, "first test images to evaluate"] = None

    def __post_init__(self) -> None:
        limits = ("train_limit", "validation_limit", "test_limit")
        require_positive(self, "batch_size", *limits)


@dataclass(frozen=True, kw_only=True)
class ImageDataConfig(ImageBatchesConfig):
    """Which labelled images, and how they become batches."""

    name: Annotated[
        str, "set: a built-in or TFDS name, or the path of a folder of class folders"
    ] = "fashion_mnist"
    image_size: Annotated[int | None, "pixels of a side; none: as stored"] = None
    channels: Annotated[
        Literal[1, 3] | None, "1 gray, 3 colour; none: as the set has them"
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(self, "image_size")


@dataclass(frozen=True, kw_only=True)
class GeometryConfig:
    """How training images are moved at random; the others never are."""

    flip: Annotated[bool, "mirror left and right, every second image"] = False
    translation: Annotated[float, "largest shift, as a share of the side"] = 0.0
    rotation: Annotated[float, "largest turn either way, in degrees"] = 0.0
    zoom: Annotated[float, "largest change of size, as a share"] = 0.0

    def __post_init__(self) -> None:
        require_fraction(self, "translation", "zoom")
        require(
            0 <= self.rotation <= _LARGEST_TURN,
            f"`rotation` must be from 0 to {_LARGEST_TURN} degrees.",
            rotation=self.rotation,
        )


@dataclass(frozen=True, kw_only=True)
class AugmentationConfig(GeometryConfig):
    """How training images and their labels are changed at random."""

    mix: Annotated[
        Mix, "two images of a batch as one: blended, or a box of one in the other"
    ] = "none"
    mix_alpha: Annotated[
        float, "of the Beta distribution of their shares; 1 is uniform"
    ] = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            0 < self.mix_alpha <= 1,
            "`mix_alpha` must be in (0, 1].",
            mix_alpha=self.mix_alpha,
        )
