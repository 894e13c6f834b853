"""Settings of text classification and their presets; imports no TensorFlow.

Presets differ in numbers only. What they took and reached stands in this application's
README, with machine and protocol.

    preset   command                                  budget on 2 CPU cores
    smoke    train --preset smoke                     20 s; runs, learns little
    compare  python -m applications.text_classification.compare
                                                      at most 3 min a run; 4 kinds x 3
    small    train --preset small                     at most 30 min; the headline
    paper    train --preset paper                     a GPU; not run

Paper: a bidirectional recurrent network with additive attention on IMDB (Maas et al.
2011), with the 128 units a direction of Jain & Wallace 2019, arXiv:1902.10186, section
3; ours has a GRU for their LSTM.
"""

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from applications.classification.sizes import require_sizes
from applications.errors import require, require_positive
from applications.pipeline.train_config import Config, CrossentropyTrainConfig

Kind = Literal["self_attention", "additive_pooling", "transformer", "mean_embeddings"]


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """Which labelled texts, and how they become batches."""

    name: Annotated[str, "set: vader, a TFDS name, or the path of a .csv"] = "vader"
    data_dir: Annotated[str | None, "folder of prepared sets; none: TFDS's"] = None
    text_column: Annotated[str, "csv: what its header calls the texts"] = "text"
    label_column: Annotated[str, "csv: what its header calls the classes"] = "label"
    vocabulary_size: Annotated[int, "subwords"] = 8000
    max_length: Annotated[int, "subwords of a text; longer ones lose their end"] = 128
    tokens_per_batch: Annotated[int, "subwords in one step"] = 2048
    train_limit: Annotated[int | None, "first training texts to use"] = None
    validation_limit: Annotated[int | None, "first validation texts to use"] = None
    test_limit: Annotated[int | None, "first texts of every test to evaluate"] = None

    def __post_init__(self) -> None:
        require_positive(self, "vocabulary_size", "max_length", "tokens_per_batch")
        require_positive(self, "train_limit", "validation_limit", "test_limit")
        require(
            self.max_length <= self.tokens_per_batch,
            "`tokens_per_batch` must have room for `max_length`.",
            tokens_per_batch=self.tokens_per_batch,
            max_length=self.max_length,
        )


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Which model, and its sizes."""

    kind: Annotated[
        Kind,
        "attention and mean, a GRU with additive attention, transformer, or no "
        "attention",
    ] = "additive_pooling"
    hidden_dim: Annotated[int, "features of a subword"] = 128
    intermediate_dim: Annotated[int, "features of hidden layers"] = 128
    num_layers: Annotated[int, "transformer: blocks"] = 2
    num_heads: Annotated[int, "transformer: attention heads"] = 4
    dropout: Annotated[float, "share of features dropped"] = 0.3
    attention: Annotated[str, "transformer: multi-head layer of the registry"] = (
        "multi_head"
    )

    def __post_init__(self) -> None:
        require_sizes(self, transformer="transformer", recurrent="additive_pooling")


@dataclass(frozen=True, kw_only=True)
class ExplainConfig:
    """How attention is held against other measures of what words do."""

    agreement_texts: Annotated[
        int, "first test texts over which evaluate measures how far they agree"
    ] = 500

    def __post_init__(self) -> None:
        require_positive(self, "agreement_texts")


@dataclass(frozen=True, kw_only=True)
class TextClassificationConfig(Config):
    """All settings of a run."""

    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    train: CrossentropyTrainConfig = field(default_factory=CrossentropyTrainConfig)
    explain: ExplainConfig = field(default_factory=ExplainConfig)


_COMPARE = TextClassificationConfig(
    train=CrossentropyTrainConfig(
        epochs=10,
        patience=4,
        learning_rate=2e-3,
        schedule="cosine",
        warmup_steps=100,
        gradient_clip_norm=1.0,
        average_decay=0.99,
    ),
)

PRESETS = {
    "smoke": TextClassificationConfig(
        data=DataConfig(
            vocabulary_size=600,
            max_length=40,
            tokens_per_batch=512,
            train_limit=400,
            validation_limit=60,
            test_limit=100,
        ),
        model=ModelConfig(
            kind="self_attention", hidden_dim=16, intermediate_dim=16, dropout=0.1
        ),
        train=CrossentropyTrainConfig(epochs=2, learning_rate=5e-3),
        explain=ExplainConfig(agreement_texts=20),
    ),
    "compare": _COMPARE,
    "small": replace(
        _COMPARE,
        model=ModelConfig(hidden_dim=256, dropout=0.4),
        train=replace(_COMPARE.train, epochs=20, patience=8),
    ),
    "paper": TextClassificationConfig(
        data=DataConfig(
            name="imdb_reviews",
            vocabulary_size=16_000,
            max_length=512,
            tokens_per_batch=32_768,
        ),
        model=ModelConfig(hidden_dim=256, intermediate_dim=256, dropout=0.4),
        train=CrossentropyTrainConfig(
            epochs=12,
            patience=3,
            schedule="cosine",
            warmup_steps=200,
            gradient_clip_norm=1.0,
            average_decay=0.999,
            precision="mixed_bfloat16",
            strategy="mirrored",
        ),
        explain=ExplainConfig(agreement_texts=200),
    ),
}
