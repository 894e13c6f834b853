"""Settings of speech recognition and their presets; imports no TensorFlow.

Presets differ in numbers only. What they took and reached stands in this application's
README, with machine and protocol.

    preset   command                                     budget on 2 CPU cores
    smoke    train --preset smoke                        20 s; runs, learns nothing
    compare  train --preset compare model.objective=KIND
                                                         at most 8 min a run
             python -m applications.speech_recognition.learning_curve
                                                         3 of them
    small    train --preset small                        at most 30 min; the headline
    paper    train --preset paper                        a GPU, days; not run

Paper: Conformer-S on LibriSpeech with the sizes, the warm-up and the masks of Gulati et
al. 2020, arXiv:2005.08100 (table 1, section 3). There an LSTM transducer writes word
pieces; ours writes characters by CTC and a decoder of one block, as joint training has
it (Watanabe et al. 2017), and draws one of three speeds. Their peak learning rate is
`0.05 / sqrt(144)`.
"""

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from applications.audio.config import (
    ClipBatchesConfig,
    FrontEndConfig,
    SoundAugmentationConfig,
)
from applications.errors import (
    require,
    require_fraction,
    require_heads,
    require_not_negative,
    require_positive,
)
from applications.pipeline.train_config import Config, CrossentropyTrainConfig

Encoder = Literal["conformer", "transformer"]
Norm = Literal["batch", "layer"]
Decoder = Literal["transformer", "gru"]
Objective = Literal["joint", "ctc", "attention"]


@dataclass(frozen=True, kw_only=True)
class DataConfig(ClipBatchesConfig):
    """Which recordings, and how they become batches."""

    name: Annotated[
        str,
        "set: fillets_speech/cs, fillets_speech/nl, festvox_ru, a TFDS name such as "
        "librispeech, or the path of a folder with a transcripts.tsv",
    ] = "fillets_speech/nl"
    batch_size: Annotated[int, "clips in one step"] = 16
    max_seconds: Annotated[float, "longer training clips are left out"] = 15.0
    clips_in_memory: Annotated[
        int, "of a larger training set so many are shuffled at a time"
    ] = 4_000
    train_share: Annotated[
        float,
        "share of the training clips that is learned from; an epoch repeats them until "
        "it has as many as with all",
    ] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(self, "max_seconds")
        require(
            0 < self.train_share <= 1,
            "`train_share` must be above 0 and at most 1.",
            train_share=self.train_share,
        )


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Which model, and its sizes."""

    encoder: Annotated[Encoder, "blocks that hear: with a convolution, or without"] = (
        "conformer"
    )
    objective: Annotated[
        Objective, "CTC and a decoder with attention together, or one of them"
    ] = "joint"
    decoder: Annotated[
        Decoder, "transformer blocks, or a GRU with location-aware attention"
    ] = "transformer"
    hidden_dim: Annotated[int, "features of a place"] = 96
    intermediate_dim: Annotated[int, "features of hidden layers"] = 384
    num_layers: Annotated[int, "blocks of the encoder"] = 4
    num_heads: Annotated[int, "attention heads"] = 4
    decoder_layers: Annotated[int, "transformer: blocks of the decoder"] = 1
    kernel_size: Annotated[int, "conformer: places that a convolution sees; odd"] = 15
    convolution_norm: Annotated[
        Norm, "conformer: of the convolution; batch is the paper's and wants large ones"
    ] = "layer"
    filters: Annotated[int, "of the two convolutions that shorten time"] = 16
    dropout: Annotated[float, "share of features dropped"] = 0.1
    attention: Annotated[
        str | None,
        "encoder: multi-head layer of the registry; none: relative positions in a "
        "conformer, sinusoidal ones in a transformer",
    ] = None

    def __post_init__(self) -> None:
        require_positive(self, "hidden_dim", "intermediate_dim", "num_layers")
        require_positive(self, "num_heads", "decoder_layers", "kernel_size", "filters")
        require_fraction(self, "dropout")
        require_heads(self)
        require(
            self.kernel_size % 2 == 1,
            "`kernel_size` must be odd: as many places on either side.",
            kernel_size=self.kernel_size,
        )


@dataclass(frozen=True, kw_only=True)
class SpeechTrainConfig(CrossentropyTrainConfig):
    """Training, with what only recognizers need."""

    ctc_weight: Annotated[float, "joint: share of CTC's loss in the loss"] = 0.5
    validation_clips: Annotated[
        int, "validation clips recognized after each epoch for the task metric"
    ] = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        require_fraction(self, "ctc_weight")
        require_positive(self, "validation_clips")


@dataclass(frozen=True, kw_only=True)
class SearchConfig:
    """How texts are searched."""

    max_length: Annotated[int, "with a decoder: characters of a text, at most"] = 250
    num_beams: Annotated[int, "hypotheses kept by the beam search"] = 8
    length_penalty: Annotated[
        float, "with a decoder: 0 favours short texts, 1 the mean per character"
    ] = 0.0
    ctc_weight: Annotated[float, "joint: share of CTC's score in the score"] = 0.3

    def __post_init__(self) -> None:
        require_positive(self, "max_length", "num_beams")
        require_not_negative(self, "length_penalty")
        require_fraction(self, "ctc_weight")


@dataclass(frozen=True, kw_only=True)
class SpeechConfig(Config):
    """All settings of a run."""

    data: DataConfig = field(default_factory=DataConfig)
    front_end: FrontEndConfig = field(default_factory=FrontEndConfig)
    augmentation: SoundAugmentationConfig = field(
        default_factory=SoundAugmentationConfig
    )
    model: ModelConfig = field(default_factory=ModelConfig)
    train: SpeechTrainConfig = field(default_factory=SpeechTrainConfig)
    search: SearchConfig = field(default_factory=SearchConfig)


_SMALL = SpeechConfig(
    data=DataConfig(batch_size=8),
    augmentation=SoundAugmentationConfig(
        speeds=(0.9, 1.0, 1.1),
        band_masks=2,
        widest_band_mask=15,
        time_masks=2,
        widest_time_mask=25,
        time_mask_share=0.1,
    ),
    train=SpeechTrainConfig(
        epochs=42,
        optimizer="adamw",
        learning_rate=1e-3,
        schedule="cosine",
        warmup_steps=400,
        beta_2=0.98,
        weight_decay=0.05,
        gradient_clip_norm=1.0,
        average_decay=0.998,
    ),
)

_COMPARE = replace(
    _SMALL,
    model=ModelConfig(num_layers=3),
    train=replace(_SMALL.train, epochs=15, warmup_steps=300, average_decay=0.99),
)

PRESETS = {
    "smoke": SpeechConfig(
        data=DataConfig(batch_size=8, train_limit=64, validation_limit=8, test_limit=8),
        front_end=FrontEndConfig(mel_bands=20),
        model=ModelConfig(
            hidden_dim=16,
            intermediate_dim=32,
            num_layers=1,
            num_heads=2,
            kernel_size=5,
            filters=4,
        ),
        train=SpeechTrainConfig(epochs=2, learning_rate=5e-3),
        search=SearchConfig(max_length=12, num_beams=2),
    ),
    "compare": _COMPARE,
    "small": _SMALL,
    "paper": SpeechConfig(
        data=DataConfig(
            name="librispeech", batch_size=256, max_seconds=24.0, clips_in_memory=2_000
        ),
        augmentation=SoundAugmentationConfig(
            speeds=(0.9, 1.0, 1.1),
            band_masks=2,
            widest_band_mask=27,
            time_masks=10,
            widest_time_mask=10_000,
            time_mask_share=0.05,
        ),
        model=ModelConfig(
            hidden_dim=144,
            intermediate_dim=576,
            num_layers=16,
            kernel_size=31,
            convolution_norm="batch",
            filters=144,
        ),
        train=SpeechTrainConfig(
            ctc_weight=0.3,
            epochs=100,
            learning_rate=4.17e-3,
            schedule="inverse_sqrt",
            warmup_steps=10_000,
            beta_2=0.98,
            weight_decay=1e-6,
            average_decay=0.9995,
            precision="mixed_bfloat16",
            strategy="mirrored",
        ),
        search=SearchConfig(max_length=600),
    ),
}
