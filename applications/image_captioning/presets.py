"""Settings of image captioning and their presets; imports no TensorFlow.

Presets differ in numbers only. What they took and reached stands in this application's
README, with machine and protocol.

    preset   command                                        budget on 2 CPU cores
    smoke    train --preset smoke                           20 s; runs, learns nothing
    compare  train --preset compare decoder.attention=none  at most 8 min a run
    small    train --preset small                           at most 30 min; the headline
    paper    train --preset paper                           a GPU, hours; not run

Paper: Xu et al. 2015, arXiv:1502.03044, on Karpathy's parts of COCO, with a residual
network from scratch for their VGG, which was trained on ImageNet.
"""

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from applications.errors import (
    require,
    require_fraction,
    require_heads,
    require_not_negative,
    require_positive,
)
from applications.images.config import Aspect, GeometryConfig, ImageBatchesConfig
from applications.images.network_config import ImageNetworkConfig
from applications.pipeline.train_config import Config, CrossentropyTrainConfig

Decoder = Literal["gru", "transformer"]
Attention = Literal["additive", "general", "dot_product", "none"]
Positions = Literal["learned", "sinusoidal_2d", "none"]


@dataclass(frozen=True, kw_only=True)
class CaptionDataConfig(ImageBatchesConfig):
    """Which captioned images, and how they become batches."""

    name: Annotated[
        str,
        "set: emoji, tuxpaint_stamps, both joined by +, coco_captions, or the path of "
        "a folder with a captions.tsv",
    ] = "emoji+tuxpaint_stamps"
    image_size: Annotated[tuple[int, int], "height and width in pixels"] = (64, 64)
    channels: Annotated[Literal[1, 3], "1 gray, 3 colour"] = 3
    aspect: Annotated[
        Aspect, "to the size: cut the longer side, fill up the shorter, or distort"
    ] = "pad"
    batch_size: Annotated[int, "images in one step"] = 64
    max_length: Annotated[
        int, "words of a caption: longer ones are cut in training, and none is written"
    ] = 14
    min_count: Annotated[int, "a word is known that stands so often in training"] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(self, "min_count")
        require(
            self.max_length > 1,
            "`max_length` must have room for a word and the end.",
            max_length=self.max_length,
        )
        require(
            min(self.image_size) > 0,
            "`image_size` must be two numbers above 0.",
            image_size=self.image_size,
        )


@dataclass(frozen=True, kw_only=True)
class CaptionAugmentationConfig(GeometryConfig):
    """How training images are changed at random; the others never are."""

    background: Annotated[
        float, "share of images on a random colour where they are transparent"
    ] = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            0 <= self.background <= 1,
            "`background` must be in [0, 1].",
            background=self.background,
        )


@dataclass(frozen=True, kw_only=True)
class DecoderConfig:
    """What writes, and how it looks at the image."""

    kind: Annotated[Decoder, "a GRU, or a transformer"] = "gru"
    attention: Annotated[
        Attention, "gru: how it looks; none: every step reads the mean of the image"
    ] = "additive"
    hidden_dim: Annotated[int, "features of a place, a word and a state"] = 128
    num_layers: Annotated[int, "transformer: blocks"] = 2
    num_heads: Annotated[int, "transformer: attention heads"] = 4
    intermediate_dim: Annotated[int, "transformer: feed-forward features"] = 256
    positions: Annotated[Positions, "how places know where they are"] = "sinusoidal_2d"
    dropout: Annotated[float, "share of features dropped"] = 0.0
    doubly_stochastic: Annotated[
        float, "gru: weight of the penalty on places that no word looked at"
    ] = 0.0

    def __post_init__(self) -> None:
        require_positive(
            self, "hidden_dim", "num_layers", "num_heads", "intermediate_dim"
        )
        require_fraction(self, "dropout")
        require_not_negative(self, "doubly_stochastic")
        if self.kind == "transformer":
            require_heads(self)
        require(
            self.kind == "gru" or self.attention != "none",
            "A transformer is made of attention; `attention` none is for a gru.",
            kind=self.kind,
            attention=self.attention,
        )


@dataclass(frozen=True, kw_only=True)
class CaptioningTrainConfig(CrossentropyTrainConfig):
    """Training, with where the encoder starts."""

    warm_start: Annotated[
        str | None,
        "run whose encoder is the start: small-001, or image_classification/small-001",
    ] = None


@dataclass(frozen=True, kw_only=True)
class SearchConfig:
    """How captions are searched."""

    num_beams: Annotated[int, "hypotheses kept by the beam search"] = 4
    length_penalty: Annotated[float, "0 favours short, 1 mean per word"] = 1.0

    def __post_init__(self) -> None:
        require_positive(self, "num_beams")
        require_not_negative(self, "length_penalty")


def _cnn() -> ImageNetworkConfig:
    return ImageNetworkConfig(kind="cnn", attention="squeeze_excitation")


@dataclass(frozen=True, kw_only=True)
class ImageCaptioningConfig(Config):
    """All settings of a run."""

    data: CaptionDataConfig = field(default_factory=CaptionDataConfig)
    augmentation: CaptionAugmentationConfig = field(
        default_factory=CaptionAugmentationConfig
    )
    encoder: ImageNetworkConfig = field(default_factory=_cnn)
    decoder: DecoderConfig = field(default_factory=DecoderConfig)
    train: CaptioningTrainConfig = field(default_factory=CaptioningTrainConfig)
    search: SearchConfig = field(default_factory=SearchConfig)


_SMALL = ImageCaptioningConfig(
    # No mirroring: left and right, clocks and letters would be called by wrong names.
    augmentation=CaptionAugmentationConfig(
        translation=0.1, rotation=10.0, zoom=0.15, background=0.5
    ),
    decoder=DecoderConfig(dropout=0.4),
    train=CaptioningTrainConfig(
        epochs=50,
        patience=25,
        optimizer="adamw",
        learning_rate=2e-3,
        schedule="cosine",
        warmup_steps=200,
        weight_decay=0.05,
        gradient_clip_norm=1.0,
    ),
)

PRESETS = {
    "smoke": ImageCaptioningConfig(
        data=CaptionDataConfig(
            batch_size=16,
            max_length=6,
            train_limit=160,
            validation_limit=16,
            test_limit=16,
        ),
        augmentation=CaptionAugmentationConfig(translation=0.1, background=0.5),
        encoder=replace(
            _cnn(),
            filters=(8, 16),
            blocks_per_stage=1,
            patch_size=8,
            hidden_dim=16,
            num_layers=1,
            num_heads=2,
            intermediate_dim=32,
        ),
        decoder=DecoderConfig(
            hidden_dim=32,
            num_layers=1,
            num_heads=2,
            intermediate_dim=64,
            dropout=0.1,
        ),
        train=CaptioningTrainConfig(epochs=2),
        search=SearchConfig(num_beams=2),
    ),
    "compare": replace(
        _SMALL,
        encoder=replace(_cnn(), filters=(24, 48, 96), blocks_per_stage=1),
        train=replace(_SMALL.train, epochs=24, warmup_steps=150),
    ),
    "small": _SMALL,
    "paper": ImageCaptioningConfig(
        data=CaptionDataConfig(
            name="coco_captions",
            image_size=(224, 224),
            aspect="crop",
            batch_size=256,
            max_length=20,
            min_count=5,
        ),
        augmentation=CaptionAugmentationConfig(translation=0.1, zoom=0.1),
        encoder=replace(_cnn(), filters=(64, 128, 256, 512)),
        decoder=DecoderConfig(hidden_dim=512, dropout=0.5, doubly_stochastic=1.0),
        train=CaptioningTrainConfig(
            epochs=60,
            patience=10,
            optimizer="adamw",
            learning_rate=1e-3,
            schedule="cosine",
            warmup_steps=2000,
            weight_decay=0.05,
            gradient_clip_norm=1.0,
            label_smoothing=0.0,
            precision="mixed_bfloat16",
            jit_compile=True,
            strategy="mirrored",
        ),
    ),
}
