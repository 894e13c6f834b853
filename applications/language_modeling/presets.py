"""Settings of language modelling and their presets; imports no TensorFlow.

Presets differ in numbers only. What they took and reached stands in this application's
README, with machine and protocol.

    preset   command                                       budget on 2 CPU cores
    smoke    train --preset smoke                          20 s; runs, learns little
    compare  train --preset compare model.attention=NAME   at most 8 min a run
    small    train --preset small                          at most 30 min; the headline
    paper    train --preset paper                          a GPU; not run

Paper: a decoder of 12 blocks as in Radford et al. 2018, "Improving language
understanding by generative pre-training", on the One Billion Word Benchmark (Chelba et
al. 2013, arXiv:1312.3005).
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
from applications.pipeline.train_config import Config, CrossentropyTrainConfig

Objective = Literal["causal", "masked", "span_corruption", "denoising"]
Pattern = Literal["full", "local", "strided", "fixed", "block"]
Positions = Literal["learned", "sinusoidal", "rotary", "alibi", "relative", "none"]
Search = Literal["sample", "greedy", "beam"]


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """Which text, and how it becomes rows of tokens."""

    name: Annotated[
        str, "corpus: jane_austen, a TFDS name, a .txt file or a folder of them"
    ] = "jane_austen"
    data_dir: Annotated[str | None, "folder of prepared corpora; none: TFDS's"] = None
    tokens: Annotated[Literal["subword", "byte"], "what a token is"] = "subword"
    vocabulary_size: Annotated[int, "subword: pieces, at most"] = 4000
    vocabulary_limit: Annotated[
        int | None, "subword: first training documents to learn pieces from"
    ] = None
    length: Annotated[int, "tokens of a training row, and most that are read"] = 256
    rows_per_batch: Annotated[int, "rows in one step"] = 16
    train_limit: Annotated[int | None, "first training documents to use"] = None
    validation_limit: Annotated[int | None, "first validation documents to use"] = None
    test_limit: Annotated[int | None, "first test documents to evaluate"] = None

    def __post_init__(self) -> None:
        require_positive(self, "vocabulary_size", "vocabulary_limit", "rows_per_batch")
        require_positive(self, "train_limit", "validation_limit", "test_limit")
        require(
            self.length >= 16,
            "`length` must be 16 or more.",
            length=self.length,
        )


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Which attention, and the sizes of a model."""

    num_layers: Annotated[int, "blocks; of each side where there are two"] = 4
    num_heads: Annotated[int, "attention heads"] = 4
    hidden_dim: Annotated[int, "features of a token"] = 256
    intermediate_dim: Annotated[int, "features of feed-forward networks"] = 1024
    dropout: Annotated[float, "share of features dropped"] = 0.2
    attention_dropout: Annotated[float, "share of attention scores dropped"] = 0.0
    positions: Annotated[Positions, "how a model knows the order"] = "learned"
    attention: Annotated[str, "multi-head layer of the registry"] = "multi_head"
    pattern: Annotated[Pattern, "which positions a token may look at"] = "full"
    window: Annotated[
        int, "local: reach; strided: stride; fixed, block, block_summary: block"
    ] = 64

    def __post_init__(self) -> None:
        require_positive(
            self, "num_layers", "num_heads", "hidden_dim", "intermediate_dim", "window"
        )
        require_fraction(self, "dropout", "attention_dropout")
        require_heads(self)


@dataclass(frozen=True, kw_only=True)
class TrainConfig(CrossentropyTrainConfig):
    """Training, and what it asks of the model."""

    objective: Annotated[
        Objective, "next token (GPT), gaps (BERT), spans (T5) or the whole text (BART)"
    ] = "causal"
    label_smoothing: Annotated[float, "share of a target spread over all classes"] = 0.0
    corrupted: Annotated[
        float | None,
        "masked, span_corruption, denoising: share of tokens hidden; none: the paper's",
    ] = None
    mean_span: Annotated[
        float, "span_corruption, denoising: tokens of a hidden span, the mean"
    ] = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            0 < self.share_hidden < 1,
            "`corrupted` must be in (0, 1).",
            corrupted=self.corrupted,
        )
        require(
            self.share_hidden <= 0.5 or not self.is_seq2seq,
            "`corrupted` must be at most 0.5: something stands between hidden spans.",
            corrupted=self.corrupted,
        )
        require(
            self.mean_span >= 1,
            "`mean_span` must be 1 or more.",
            mean_span=self.mean_span,
        )

    @property
    def is_seq2seq(self) -> bool:
        """Whether the model reads a text and writes another."""
        return self.objective in ("span_corruption", "denoising")

    @property
    def share_hidden(self) -> float:
        """What `corrupted` says, or the objective's paper: BART's says 0.3."""
        if self.corrupted is not None:
            return self.corrupted
        return 0.3 if self.objective == "denoising" else 0.15


@dataclass(frozen=True, kw_only=True)
class DecodeConfig:
    """How a text is continued."""

    search: Annotated[Search, "what predict does"] = "sample"
    max_length: Annotated[int, "tokens of a continuation, at most"] = 80
    min_length: Annotated[int, "tokens of a continuation, at least"] = 1
    temperature: Annotated[float, "sample: below 1 sharpens, above flattens"] = 0.8
    top_k: Annotated[int | None, "sample: likeliest tokens to draw from"] = None
    top_p: Annotated[float, "sample: share of the chances to draw from"] = 0.95
    min_p: Annotated[float, "sample: least share of the likeliest's chance"] = 0.0
    seed: Annotated[int, "sample: start of what predict draws"] = 0
    num_beams: Annotated[int, "beam: hypotheses kept"] = 4
    length_penalty: Annotated[float, "beam: 0 favours short, 1 mean per token"] = 1.0
    no_repeat_ngram: Annotated[int, "tokens in a row never written twice; 0: any"] = 0
    repetition_penalty: Annotated[float, "above 1: avoid what is written; 1: not"] = 1.0
    without: Annotated[str, "characters that the continuation may not have"] = ""

    def __post_init__(self) -> None:
        require_positive(self, "max_length", "min_length", "temperature", "top_k")
        require_positive(self, "top_p", "num_beams", "repetition_penalty")
        require_not_negative(self, "min_p", "seed", "length_penalty", "no_repeat_ngram")
        for name in ("top_p", "min_p"):
            value = getattr(self, name)
            require(value <= 1, f"`{name}` must be at most 1.", **{name: value})
        require(
            self.min_length <= self.max_length,
            "`min_length` must be at most `max_length`.",
            min_length=self.min_length,
            max_length=self.max_length,
        )


@dataclass(frozen=True, kw_only=True)
class BaselineConfig:
    """What counted words and tokens reach."""

    order: Annotated[int, "tokens of the longest n-gram; 0: no n-grams"] = 5

    def __post_init__(self) -> None:
        require_not_negative(self, "order")


@dataclass(frozen=True, kw_only=True)
class LanguageConfig(Config):
    """All settings of a run."""

    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    decode: DecodeConfig = field(default_factory=DecodeConfig)
    baseline: BaselineConfig = field(default_factory=BaselineConfig)

    def __post_init__(self) -> None:
        require(
            self.decode.max_length < self.data.length,
            "`decode.max_length` must leave room for the text before it in "
            "`data.length`.",
            max_length=self.decode.max_length,
            length=self.data.length,
        )


_SMALL = LanguageConfig(
    data=DataConfig(vocabulary_size=3000, rows_per_batch=8),
    model=ModelConfig(hidden_dim=192, intermediate_dim=768, positions="rotary"),
    train=TrainConfig(
        epochs=7,
        optimizer="adamw",
        learning_rate=2e-3,
        schedule="cosine",
        warmup_steps=200,
        beta_2=0.98,
        weight_decay=0.1,
        gradient_clip_norm=1.0,
        average_decay=0.99,
    ),
)

PRESETS = {
    "smoke": LanguageConfig(
        data=DataConfig(
            vocabulary_size=400,
            length=32,
            rows_per_batch=8,
            train_limit=3,
            validation_limit=1,
            test_limit=1,
        ),
        model=ModelConfig(
            num_layers=1, num_heads=2, hidden_dim=16, intermediate_dim=32, dropout=0.1
        ),
        train=TrainConfig(epochs=2, learning_rate=5e-3),
        decode=DecodeConfig(max_length=8, num_beams=2),
    ),
    "compare": replace(
        _SMALL,
        data=replace(_SMALL.data, vocabulary_size=2000),
        model=ModelConfig(
            num_layers=2, hidden_dim=128, intermediate_dim=512, dropout=0.1
        ),
        train=replace(_SMALL.train, epochs=4),
    ),
    "small": _SMALL,
    "paper": LanguageConfig(
        data=DataConfig(
            name="lm1b",
            vocabulary_size=32_000,
            vocabulary_limit=1_000_000,
            length=512,
            rows_per_batch=128,
        ),
        model=ModelConfig(
            num_layers=12,
            num_heads=12,
            hidden_dim=768,
            intermediate_dim=3072,
            dropout=0.1,
            positions="rotary",
        ),
        train=TrainConfig(
            epochs=3,
            optimizer="adamw",
            learning_rate=6e-4,
            schedule="cosine",
            warmup_steps=2000,
            beta_2=0.95,
            weight_decay=0.1,
            gradient_clip_norm=1.0,
            precision="mixed_bfloat16",
            jit_compile=True,
            strategy="mirrored",
        ),
        baseline=BaselineConfig(order=0),
    ),
}
