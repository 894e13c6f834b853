"""Settings of summarization and their presets; imports no TensorFlow.

Presets differ in numbers only. What they took and reached stands in the project's
README, with machine and protocol.

    preset   command                                   budget on 2 CPU cores
    smoke    train --preset smoke                      20 s; runs, learns nothing
    compare  train --preset compare model.kind=KIND    at most 8 min
    small    train --preset small                      at most 30 min; the headline
    paper    train --preset paper                      a GPU, hours; not run

Paper: See et al. 2017, arXiv:1704.04368, on CNN/Daily Mail: sources of 400 and
summaries of 100 words, 256 features, beam 4. Ours there copies on a transformer.
"""

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from applications.errors import require, require_not_negative
from applications.text.seq2seq_config import (
    DecodeConfig,
    Seq2SeqConfig,
    Seq2SeqDataConfig,
    Seq2SeqModelConfig,
    Seq2SeqTrainConfig,
)

Kind = Literal[
    "transformer",
    "pointer_transformer",
    "gru",
    "gru_attention",
    "pointer_generator",
    "keras_hub",
]


@dataclass(frozen=True, kw_only=True)
class DataConfig(Seq2SeqDataConfig):
    """Which texts with their summaries, and how they become batches."""

    name: Annotated[
        str, "corpus: debian_synopses, a TFDS name, or the path of a .tsv or .jsonl"
    ] = "debian_synopses"
    max_source_length: Annotated[
        int, "subwords of a text that are read; the rest is cut off and counted"
    ] = 64
    max_target_length: Annotated[
        int, "subwords of a summary; longer training pairs drop"
    ] = 32

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("max_source_length", "max_target_length"):
            value = getattr(self, name)
            enough = f"`{name}` must leave room for a subword between start and end."
            require(value > 2, enough, **{name: value})


@dataclass(frozen=True, kw_only=True)
class ModelConfig(Seq2SeqModelConfig):
    """Which model, and its sizes."""

    kind: Annotated[
        Kind,
        "transformer or gru (without attention, gru_attention with); copying from the "
        "source on either (pointer_transformer, pointer_generator); or a keras_hub "
        "preset",
    ] = "pointer_transformer"
    num_layers: Annotated[int, "transformer: blocks on each side"] = 2
    coverage_weight: Annotated[
        float, "copying models: weight in the loss of looking twice at a place"
    ] = 0.1
    preset: Annotated[
        str | None, "keras_hub: folder or name of a BART or T5 preset with weights"
    ] = None
    prompt: Annotated[
        str, "keras_hub: text before every source, such as 'summarize: ' for T5"
    ] = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_not_negative(self, "coverage_weight")
        require(
            (self.kind == "keras_hub") == bool(self.preset),
            "`preset` names the weights of kind keras_hub, and of no other.",
            kind=self.kind,
            preset=self.preset,
        )


@dataclass(frozen=True, kw_only=True)
class SummaryDecodeConfig(DecodeConfig):
    """How summaries are searched."""

    max_length: Annotated[int, "subwords of a summary, at most"] = 32
    min_length: Annotated[int, "subwords of a summary, at least, its end counted"] = 1
    no_repeat_ngram: Annotated[
        int, "so many subwords in a row are written once only; 0: may repeat"
    ] = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            1 <= self.min_length <= self.max_length,
            "`min_length` must be from 1 to `max_length`.",
            min_length=self.min_length,
            max_length=self.max_length,
        )
        require_not_negative(self, "no_repeat_ngram")


@dataclass(frozen=True, kw_only=True)
class SummarizationConfig(Seq2SeqConfig):
    """All settings of a run."""

    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    decode: SummaryDecodeConfig = field(default_factory=SummaryDecodeConfig)


_SMALL = SummarizationConfig(
    data=DataConfig(vocabulary_size=6000, tokens_per_batch=2048),
    # At the compare preset far above all others, see the README.
    model=ModelConfig(kind="pointer_generator", intermediate_dim=512, dropout=0.2),
    train=Seq2SeqTrainConfig(
        epochs=8,
        learning_rate=1.5e-3,
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
    data=replace(_SMALL.data, vocabulary_size=4000, max_source_length=48),
    model=replace(_SMALL.model, hidden_dim=128, intermediate_dim=256, dropout=0.1),
    train=replace(
        _SMALL.train,
        epochs=4,
        learning_rate=3e-3,
        warmup_steps=200,
        average_decay=0.99,
    ),
)

PRESETS = {
    "smoke": SummarizationConfig(
        data=DataConfig(
            vocabulary_size=1000, max_source_length=24, train_limit=400, test_limit=20
        ),
        model=ModelConfig(
            hidden_dim=32, num_layers=1, num_heads=2, intermediate_dim=64
        ),
        train=Seq2SeqTrainConfig(epochs=2, validation_sentences=8),
        decode=SummaryDecodeConfig(max_length=12, num_beams=2),
    ),
    "compare": _COMPARE,
    "small": _SMALL,
    "paper": SummarizationConfig(
        data=DataConfig(
            name="cnn_dailymail",
            vocabulary_size=16_000,
            max_source_length=512,
            max_target_length=160,
            tokens_per_batch=24_000,
        ),
        model=ModelConfig(
            hidden_dim=512,
            num_layers=6,
            num_heads=8,
            intermediate_dim=2048,
            dropout=0.1,
            coverage_weight=1.0,
        ),
        train=Seq2SeqTrainConfig(
            epochs=15,
            learning_rate=5e-4,
            schedule="inverse_sqrt",
            warmup_steps=4000,
            beta_2=0.98,
            average_decay=0.9995,
            precision="mixed_bfloat16",
            jit_compile=True,
            strategy="mirrored",
        ),
        decode=SummaryDecodeConfig(max_length=160, min_length=40),
    ),
}
