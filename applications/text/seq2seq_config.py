"""Settings of tasks that read a text and write one; imports no TensorFlow."""

from dataclasses import dataclass, field
from typing import Annotated

from applications.errors import (
    require,
    require_fraction,
    require_heads,
    require_not_negative,
    require_positive,
)
from applications.pipeline.train_config import Config, CrossentropyTrainConfig


@dataclass(frozen=True, kw_only=True)
class Seq2SeqDataConfig:
    """Which pairs of texts, and how they become batches."""

    name: Annotated[
        str, "corpus: a built-in or TFDS name, or the path of a .tsv or .jsonl file"
    ] = ""
    data_dir: Annotated[str | None, "folder of prepared corpora; none: TFDS's"] = None
    vocabulary_size: Annotated[int, "subwords, both sides together"] = 6000
    tokens_per_batch: Annotated[int, "subwords of a side in one step"] = 2048
    train_limit: Annotated[int | None, "first training pairs to use"] = None
    test_limit: Annotated[int | None, "first test pairs to evaluate"] = None

    def __post_init__(self) -> None:
        require_positive(self, "vocabulary_size", "tokens_per_batch")
        require_positive(self, "train_limit", "test_limit")


@dataclass(frozen=True, kw_only=True)
class Seq2SeqModelConfig:
    """The sizes of a model; a task adds its `kind`."""

    kind: str = "transformer"
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
        require_positive(
            self, "hidden_dim", "num_layers", "num_heads", "intermediate_dim"
        )
        require_fraction(self, "dropout", "attention_dropout")
        if self.kind.endswith("transformer"):
            require_heads(self)
        else:
            require(
                self.hidden_dim % 2 == 0,
                "`hidden_dim` must be even: half for each direction of the encoder.",
                hidden_dim=self.hidden_dim,
            )


@dataclass(frozen=True, kw_only=True)
class Seq2SeqTrainConfig(CrossentropyTrainConfig):
    """Training, with what only sequence models need."""

    validation_sentences: Annotated[
        int, "validation texts answered after each epoch for the task metric"
    ] = 300

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(self, "validation_sentences")


@dataclass(frozen=True, kw_only=True)
class DecodeConfig:
    """How answers are searched."""

    max_length: Annotated[int, "subwords of an answer, at most"] = 96
    num_beams: Annotated[int, "hypotheses kept by the beam search"] = 4
    length_penalty: Annotated[float, "0 favours short, 1 mean per subword"] = 1.0

    def __post_init__(self) -> None:
        require_positive(self, "max_length", "num_beams")
        require_not_negative(self, "length_penalty")


@dataclass(frozen=True, kw_only=True)
class Seq2SeqConfig(Config):
    """All settings of a run."""

    data: Seq2SeqDataConfig = field(default_factory=Seq2SeqDataConfig)
    model: Seq2SeqModelConfig = field(default_factory=Seq2SeqModelConfig)
    train: Seq2SeqTrainConfig = field(default_factory=Seq2SeqTrainConfig)
    decode: DecodeConfig = field(default_factory=DecodeConfig)
