"""Settings of keyword spotting and their presets; imports no TensorFlow.

Presets differ in numbers only. What they took and reached stands in this application's
README, with machine and protocol.

    preset   command                                  budget on 2 CPU cores
    smoke    train --preset smoke                     20 s; runs, learns little
    compare  python -m applications.keyword_spotting.compare
                                                      at most 3 min a run; 3 kinds x 3
    prompts  python -m applications.keyword_spotting.languages
                                                      at most 3 min a run; 5 languages
    small    train --preset small                     at most 30 min; the headline
    paper    train --preset paper                     a GPU; not run

Paper: KWT-1 on Speech Commands of 12 words, with the sizes, the training and the masks
of Berg et al. 2021, arXiv:2104.00769, and of their code. Ours hears 40 log-mel bands
for their 40 cepstral coefficients, draws one of three speeds for their range of them,
and neither moves the clips nor adds noise. Their 23,438 steps are 140 epochs.
"""

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from applications.audio.config import (
    ClipBatchesConfig,
    FrontEndConfig,
    SoundAugmentationConfig,
)
from applications.classification.sizes import require_sizes
from applications.errors import require_positive
from applications.pipeline.train_config import Config, CrossentropyTrainConfig

Kind = Literal["keyword_transformer", "temporal_attention", "mean_frames"]


@dataclass(frozen=True, kw_only=True)
class DataConfig(ClipBatchesConfig):
    """Which labelled clips, and how they become batches."""

    name: Annotated[
        str,
        "set: spoken_digits, asterisk_prompts/phonetic-ru, a TFDS name, or the path of "
        "a folder of class folders",
    ] = "spoken_digits"
    max_frames: Annotated[int, "frames of a clip; longer ones lose their end"] = 98

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(self, "max_frames")


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Which model, and its sizes."""

    kind: Annotated[
        Kind, "transformer over time, GRU with temporal attention, or no attention"
    ] = "keyword_transformer"
    hidden_dim: Annotated[int, "features of a frame"] = 64
    intermediate_dim: Annotated[int, "features of hidden layers"] = 256
    num_layers: Annotated[int, "transformer: blocks"] = 4
    num_heads: Annotated[int, "transformer: attention heads"] = 4
    normalize_first: Annotated[bool, "transformer: pre-norm blocks"] = True
    dropout: Annotated[float, "share of features dropped"] = 0.1
    attention: Annotated[str, "transformer: multi-head layer of the registry"] = (
        "multi_head"
    )

    def __post_init__(self) -> None:
        require_sizes(
            self, transformer="keyword_transformer", recurrent="temporal_attention"
        )


@dataclass(frozen=True, kw_only=True)
class KeywordSpottingConfig(Config):
    """All settings of a run."""

    data: DataConfig = field(default_factory=DataConfig)
    front_end: FrontEndConfig = field(
        default_factory=lambda: FrontEndConfig(mel_bands=40, frame_milliseconds=30)
    )
    augmentation: SoundAugmentationConfig = field(
        default_factory=SoundAugmentationConfig
    )
    model: ModelConfig = field(default_factory=ModelConfig)
    train: CrossentropyTrainConfig = field(default_factory=CrossentropyTrainConfig)


_COMPARE = KeywordSpottingConfig(
    augmentation=SoundAugmentationConfig(
        band_masks=1, widest_band_mask=3, time_masks=1, widest_time_mask=8
    ),
    train=CrossentropyTrainConfig(
        epochs=30,
        optimizer="adamw",
        learning_rate=2e-3,
        schedule="cosine",
        warmup_steps=200,
        weight_decay=0.05,
        gradient_clip_norm=1.0,
        average_decay=0.99,
    ),
)

PRESETS = {
    "smoke": KeywordSpottingConfig(
        data=DataConfig(train_limit=320, validation_limit=64, test_limit=64),
        model=ModelConfig(
            hidden_dim=16, intermediate_dim=32, num_layers=1, num_heads=2
        ),
        train=CrossentropyTrainConfig(epochs=2, learning_rate=5e-3),
    ),
    "compare": _COMPARE,
    "prompts": replace(
        _COMPARE,
        data=DataConfig(name="asterisk_prompts/phonetic-ru", max_frames=150),
        augmentation=SoundAugmentationConfig(
            speeds=(0.9, 1.0, 1.1),
            band_masks=2,
            widest_band_mask=7,
            time_masks=2,
            widest_time_mask=20,
        ),
        model=ModelConfig(dropout=0.3),
        train=replace(_COMPARE.train, epochs=150, warmup_steps=50),
    ),
    "small": replace(
        _COMPARE,
        model=ModelConfig(
            hidden_dim=96, num_layers=6, intermediate_dim=384, dropout=0.2
        ),
        train=replace(_COMPARE.train, epochs=60, learning_rate=1e-3),
    ),
    "paper": KeywordSpottingConfig(
        data=DataConfig(name="speech_commands", batch_size=512),
        augmentation=SoundAugmentationConfig(
            speeds=(0.85, 1.0, 1.15),
            band_masks=2,
            widest_band_mask=7,
            time_masks=2,
            widest_time_mask=25,
            time_mask_share=0.25,
        ),
        model=ModelConfig(
            num_layers=12, num_heads=1, normalize_first=False, dropout=0.0
        ),
        train=CrossentropyTrainConfig(
            epochs=140,
            optimizer="adamw",
            schedule="cosine",
            warmup_steps=1670,
            weight_decay=0.1,
            precision="mixed_bfloat16",
            strategy="mirrored",
        ),
    ),
}
