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
from applications.text.seq2seq_config import (
    DecodeConfig,
    Seq2SeqConfig,
    Seq2SeqDataConfig,
    Seq2SeqModelConfig,
    Seq2SeqTrainConfig,
)

Kind = Literal["transformer", "gru_bahdanau", "gru_luong", "gru"]


@dataclass(frozen=True, kw_only=True)
class DataConfig(Seq2SeqDataConfig):
    """Which sentence pairs, and how they become batches."""

    name: Annotated[
        str, "corpus: a built-in or TFDS name, or the path of a .tsv or .jsonl file"
    ] = "libreoffice_help/en-de"
    reverse: Annotated[bool, "translate the corpus's targets to its sources"] = False
    max_length: Annotated[int, "subwords of a side; longer training pairs drop"] = 72

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.max_length > 2,
            "`max_length` must leave room for a subword between start and end.",
            max_length=self.max_length,
        )


@dataclass(frozen=True, kw_only=True)
class ModelConfig(Seq2SeqModelConfig):
    """Which model, and its sizes."""

    kind: Annotated[
        Kind, "transformer, or a GRU with Bahdanau's, Luong's or without attention"
    ] = "transformer"


@dataclass(frozen=True, kw_only=True)
class TranslationConfig(Seq2SeqConfig):
    """All settings of a run."""

    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ModelConfig)


_SMALL = TranslationConfig(
    data=DataConfig(tokens_per_batch=1024),
    model=ModelConfig(intermediate_dim=512, dropout=0.1),
    train=Seq2SeqTrainConfig(
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
        train=Seq2SeqTrainConfig(epochs=2, validation_sentences=8),
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
        train=Seq2SeqTrainConfig(
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
