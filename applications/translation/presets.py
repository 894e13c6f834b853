"""Settings of translation and their presets; imports no TensorFlow.

Presets differ in numbers only. What they reached stands in the README beside this file,
with machine and protocol.

    preset   command                                   cost on 2 CPU cores
    smoke    train --preset smoke                      20 s; runs, learns nothing
    demo     make demo                                 6 min with all stages
    compare  train --preset compare model.kind=KIND    at most 8 min
    small    train --preset small                      at most 30 min; the headline
    paper    train --preset paper                      a GPU, hours; not run

Paper: Vaswani et al. 2017, arXiv:1706.03762, table 3 (base), on WMT.
"""

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from applications.errors import require
from applications.pipeline.train_config import Config, TrainConfig

Kind = Literal["transformer", "gru_bahdanau", "gru_luong", "gru"]


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """Which sentence pairs, and how they become batches."""

    name: Annotated[
        str, "corpus: a built-in or TFDS name, or the path of a two-column .tsv"
    ] = "libreoffice_help/en-de"
    data_dir: Annotated[str | None, "folder of prepared corpora; none: TFDS's"] = None
    vocabulary_size: Annotated[int, "subwords, both languages together"] = 6000
    max_length: Annotated[int, "subwords of a side; longer training pairs drop"] = 72
    tokens_per_batch: Annotated[int, "subwords of a side in one step"] = 2048
    train_limit: Annotated[int | None, "first training pairs to use"] = None
    test_limit: Annotated[int | None, "first test sentences to evaluate"] = None

    def __post_init__(self) -> None:
        for name in ("vocabulary_size", "max_length", "tokens_per_batch"):
            value = getattr(self, name)
            require(value > 0, f"`{name}` must be above 0.", **{name: value})


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Which model, and its sizes."""

    kind: Annotated[
        Kind, "transformer, or a GRU with Bahdanau's, Luong's or without attention"
    ] = "transformer"
    hidden_dim: Annotated[int, "features of a token"] = 256
    num_layers: Annotated[int, "transformer: blocks on each side"] = 3
    num_heads: Annotated[int, "transformer: attention heads"] = 4
    intermediate_dim: Annotated[int, "transformer: feed-forward features"] = 1024
    dropout: Annotated[float, "share of features dropped"] = 0.2
    attention_dropout: Annotated[float, "share of attention scores dropped"] = 0.0
    attention: Annotated[str, "transformer: multi-head layer of the registry"] = (
        "multi_head"
    )


@dataclass(frozen=True, kw_only=True)
class TranslationTrainConfig(TrainConfig):
    """Training, with what only sequence models need."""

    label_smoothing: Annotated[float, "share of a target spread over all classes"] = 0.1
    validation_sentences: Annotated[
        int, "validation sentences translated after each epoch for val_bleu"
    ] = 300


@dataclass(frozen=True, kw_only=True)
class DecodeConfig:
    """How translations are searched."""

    max_length: Annotated[int, "subwords of a translation, at most"] = 96
    num_beams: Annotated[int, "hypotheses kept by the beam search"] = 4
    length_penalty: Annotated[float, "0 favours short, 1 mean per subword"] = 1.0


@dataclass(frozen=True, kw_only=True)
class TranslationConfig(Config):
    """All settings of a run."""

    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    train: TranslationTrainConfig = field(default_factory=TranslationTrainConfig)
    decode: DecodeConfig = field(default_factory=DecodeConfig)


_SMALL = TranslationConfig(
    data=DataConfig(tokens_per_batch=1024),
    model=ModelConfig(intermediate_dim=512, dropout=0.1),
    train=TranslationTrainConfig(
        epochs=10,
        schedule="cosine",
        warmup_steps=500,
        beta_2=0.98,
        gradient_clip_norm=1.0,
        average_decay=0.998,
        precision="mixed_bfloat16",
    ),
)

_COMPARE = replace(
    _SMALL,
    data=replace(_SMALL.data, vocabulary_size=4000),
    model=ModelConfig(hidden_dim=128, num_layers=2, intermediate_dim=512, dropout=0.1),
    train=replace(_SMALL.train, epochs=5, learning_rate=2e-3, warmup_steps=300),
)

PRESETS = {
    "smoke": TranslationConfig(
        data=DataConfig(
            vocabulary_size=1000, max_length=64, train_limit=400, test_limit=20
        ),
        model=ModelConfig(
            hidden_dim=32, num_layers=1, num_heads=2, intermediate_dim=64
        ),
        train=TranslationTrainConfig(epochs=2, validation_sentences=8),
        decode=DecodeConfig(max_length=12, num_beams=2),
    ),
    "demo": replace(
        _COMPARE,
        train=replace(_COMPARE.train, epochs=3, validation_sentences=100),
    ),
    "compare": _COMPARE,
    "small": _SMALL,
    "paper": TranslationConfig(
        data=DataConfig(
            name="wmt14_translate/de-en",
            vocabulary_size=37_000,
            max_length=128,
            tokens_per_batch=25_000,
        ),
        model=ModelConfig(
            hidden_dim=512,
            num_layers=6,
            num_heads=8,
            intermediate_dim=2048,
            dropout=0.1,
        ),
        train=TranslationTrainConfig(
            epochs=12,
            learning_rate=7e-4,
            schedule="inverse_sqrt",
            warmup_steps=4000,
            beta_2=0.98,
            average_decay=0.9995,
            precision="mixed_bfloat16",
            jit_compile=True,
            strategy="mirrored",
        ),
        decode=DecodeConfig(max_length=160, length_penalty=0.6),
    ),
}
