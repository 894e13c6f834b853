"""Settings of image classification and their presets; imports no TensorFlow.

Presets differ in numbers only. What they took and reached stands in this application's
README, with machine and protocol.

    preset     command                              budget on 2 CPU cores
    smoke      train --preset smoke                 20 s; runs, learns little
    compare    train --preset compare               at most 3 min; 9 gates x 3 seeds
    small      train --preset small                 at most 30 min; the transformer
    small_cnn  train --preset small_cnn             at most 30 min; the attention CNN
    paper      train --preset paper                 a GPU, hours; not run

Paper: a transformer on CIFAR-10 from scratch, with the depth, width and patch of Gani
et al. 2022, arXiv:2210.07240, section 4, and CutMix.
"""

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from applications.images.config import AugmentationConfig, ImageDataConfig
from applications.images.network_config import ImageNetworkConfig
from applications.pipeline.train_config import Config, CrossentropyTrainConfig

Format = Literal["litert", "onnx"]


@dataclass(frozen=True, kw_only=True)
class ExportConfig:
    """What stands beside the SavedModel."""

    formats: Annotated[
        tuple[Format, ...], "more files of the model, from pixels to logits"
    ] = ("litert", "onnx")


@dataclass(frozen=True, kw_only=True)
class ImageClassificationConfig(Config):
    """All settings of a run."""

    data: ImageDataConfig = field(default_factory=ImageDataConfig)
    augmentation: AugmentationConfig = field(default_factory=AugmentationConfig)
    model: ImageNetworkConfig = field(default_factory=ImageNetworkConfig)
    train: CrossentropyTrainConfig = field(default_factory=CrossentropyTrainConfig)
    export: ExportConfig = field(default_factory=ExportConfig)


_SMALL = ImageClassificationConfig(
    augmentation=AugmentationConfig(flip=True),
    model=ImageNetworkConfig(positions="rotary_2d", drop_path=0.05),
    train=CrossentropyTrainConfig(
        epochs=16,
        optimizer="adamw",
        learning_rate=2e-3,
        schedule="cosine",
        warmup_steps=400,
        weight_decay=0.05,
        gradient_clip_norm=1.0,
    ),
)

_SMALL_CNN = replace(
    _SMALL,
    model=ImageNetworkConfig(kind="cnn", attention="squeeze_excitation", dropout=0.2),
    train=replace(
        _SMALL.train,
        epochs=12,
        learning_rate=4e-3,
        warmup_steps=200,
        gradient_clip_norm=None,
    ),
)

PRESETS = {
    "smoke": ImageClassificationConfig(
        data=ImageDataConfig(
            batch_size=32, train_limit=320, validation_limit=64, test_limit=100
        ),
        augmentation=AugmentationConfig(flip=True, translation=0.08, mix="mixup"),
        model=ImageNetworkConfig(
            patch_size=7,
            hidden_dim=16,
            num_layers=1,
            num_heads=2,
            intermediate_dim=32,
            filters=(8, 16),
            blocks_per_stage=1,
        ),
        train=CrossentropyTrainConfig(epochs=2, label_smoothing=0.0),
    ),
    "compare": replace(
        _SMALL_CNN,
        data=ImageDataConfig(train_limit=6_000),
        model=ImageNetworkConfig(kind="cnn", blocks_per_stage=1, dropout=0.2),
        train=replace(_SMALL_CNN.train, epochs=8, warmup_steps=40),
    ),
    "small": _SMALL,
    "small_cnn": _SMALL_CNN,
    "paper": ImageClassificationConfig(
        data=ImageDataConfig(name="cifar10", batch_size=256),
        augmentation=AugmentationConfig(
            flip=True, translation=0.125, mix="cutmix", mix_alpha=1.0
        ),
        model=ImageNetworkConfig(
            hidden_dim=192,
            num_layers=9,
            num_heads=12,
            intermediate_dim=384,
        ),
        train=CrossentropyTrainConfig(
            epochs=200,
            optimizer="adamw",
            learning_rate=1e-3,
            schedule="cosine",
            warmup_steps=2000,
            weight_decay=0.05,
            gradient_clip_norm=1.0,
            precision="mixed_bfloat16",
            jit_compile=True,
            strategy="mirrored",
        ),
    ),
}
