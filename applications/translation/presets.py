"""Settings of translation and their presets; imports no TensorFlow.

Presets differ in numbers only. What they took and reached stands in the project's
README, with machine and protocol.

    preset   command                                   budget on 2 CPU cores
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
from applications.pipeline.train_config import Config, CrossentropyTrainConfig

Kind = Literal["transformer", "gru_bahdanau", "gru_luong", "gru"]


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """Which sentence pairs, and how they become batches."""

    name: Annotated[
        str, "corpus: a built-in or TFDS name, or the path of a two-column .tsv"
    ] = "libreoffice_help/en-de"
    reverse: Annotated[bool, "translate the corpus's targets to its sources"] = False
    data_dir: Annotated[str | None, "folder of prepared corpora; none: TFDS's"] = None
    vocabulary_size: Annotated[int, "subwords, both languages together"] = 6000
    max_length: Annotated[int, "subwords of a side; longer training pairs drop"] = 72
    tokens_per_batch: Annotated[int, "subwords of a side in one step"] = 2048
    train_limit: Annotated[int | None, "first training pairs to use"] = None
    test_limit: Annotated[int | None, "first test sentences to evaluate"] = None

    def __post_init__(self) -> None:
        for name in ("vocabulary_size", "tokens_per_batch"):
            value = getattr(self, name)
            require(value > 0, f"`{name}` must be above 0.", **{name: value})
        require(
            self.max_length > 2,
            "`max_length` must leave room for a subword between start and end.",
            max_length=self.max_length,
        )
        for name in ("train_limit", "test_limit"):
            value = getattr(self, name)
            positive = value is None or value > 0
            require(positive, f"`{name}` must be above 0.", **{name: value})


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

    def __post_init__(self) -> None:
        for name in ("hidden_dim", "num_layers", "num_heads", "intermediate_dim"):
            value = getattr(self, name)
            require(value > 0, f"`{name}` must be above 0.", **{name: value})
        for name in ("dropout", "attention_dropout"):
            value = getattr(self, name)
            require(0 <= value < 1, f"`{name}` must be in [0, 1).", **{name: value})
        if self.kind == "transformer":
            require(
                self.hidden_dim % self.num_heads == 0,
                "`num_heads` must divide `hidden_dim`.",
                num_heads=self.num_heads,
                hidden_dim=self.hidden_dim,
            )
        else:
            require(
                self.hidden_dim % 2 == 0,
                "`hidden_dim` must be even: half for each direction of the encoder.",
                hidden_dim=self.hidden_dim,
            )


@dataclass(frozen=True, kw_only=True)
class TranslationTrainConfig(CrossentropyTrainConfig):
    """Training, with what only sequence models need."""

    validation_sentences: Annotated[
        int, "validation sentences translated after each epoch for val_bleu"
    ] = 300

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.validation_sentences > 0,
            "`validation_sentences` must be above 0.",
            validation_sentences=self.validation_sentences,
        )


@dataclass(frozen=True, kw_only=True)
class DecodeConfig:
    """How translations are searched."""

    max_length: Annotated[int, "subwords of a translation, at most"] = 96
    num_beams: Annotated[int, "hypotheses kept by the beam search"] = 4
    length_penalty: Annotated[float, "0 favours short, 1 mean per subword"] = 1.0

    def __post_init__(self) -> None:
        for name in ("max_length", "num_beams"):
            value = getattr(self, name)
            require(value > 0, f"`{name}` must be above 0.", **{name: value})
        require(
            self.length_penalty >= 0,
            "`length_penalty` must not be negative.",
            length_penalty=self.length_penalty,
        )


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
        epochs=9,
        learning_rate=2e-3,
        schedule="cosine",
        warmup_steps=400,
        beta_2=0.98,
        gradient_clip_norm=1.0,
        average_decay=0.995,
        precision="mixed_bfloat16",
    ),
)

_COMPARE = replace(
    _SMALL,
    data=replace(_SMALL.data, vocabulary_size=4000),
    model=ModelConfig(hidden_dim=128, num_layers=2, intermediate_dim=512, dropout=0.1),
    train=replace(
        _SMALL.train,
        epochs=3,
        learning_rate=3e-3,
        warmup_steps=200,
        average_decay=0.99,
    ),
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
        data=replace(_COMPARE.data, max_length=40),
        train=replace(_COMPARE.train, epochs=2, validation_sentences=100),
    ),
    "compare": _COMPARE,
    "small": _SMALL,
    "paper": TranslationConfig(
        data=DataConfig(
            name="wmt14_translate/de-en",
            reverse=True,
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
