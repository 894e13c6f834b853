"""Settings of recommendation and their presets; imports no TensorFlow.

Presets differ in numbers only. What they took and reached stands in this application's
README, with machine and protocol.

    preset   command                                  budget on 2 CPU cores
    smoke    train --preset smoke                     20 s; runs, learns little
    compare  python -m applications.recommendation.compare
                                                      at most 8 min a run; 5 kinds x 3
    small    train --preset small                     at most 30 min; the headline
    paper    train --preset paper                     a GPU; not run

Paper: SASRec (Kang & McAuley 2018, arXiv:1808.09781, section IV-D) on MovieLens 1M: 200
items, two blocks of one head and 50 features, dropout 0.2. Ours learns by cross-entropy
over all items, theirs by one negative a step, and all films stay, of which theirs drops
those with fewer than five ratings.
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
from applications.pipeline.train_config import Config, TrainConfig

Kind = Literal["sasrec", "bert4rec", "narm", "gru", "din"]
Loss = Literal["full", "sampled"]


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """Which log, and how it becomes batches."""

    name: Annotated[
        str, "log: movielens_100k, ratings of TFDS, or the path of a .csv"
    ] = "movielens_100k"
    data_dir: Annotated[str | None, "folder of prepared sets; none: TFDS's"] = None
    user_column: Annotated[str, "csv: what its header calls the users"] = "user"
    item_column: Annotated[str, "csv: what its header calls the items"] = "item"
    time_column: Annotated[str, "csv: what its header calls the times"] = "time"
    title_column: Annotated[str, "csv: what its header calls the titles, if any"] = (
        "title"
    )
    max_length: Annotated[int, "items that are read; of a longer history the last"] = 50
    batch_size: Annotated[int, "rows of so many items in one training step"] = 64
    cuts: Annotated[int, "din: targets asked of each row in one epoch"] = 10
    user_limit: Annotated[int | None, "first users to use, in every split"] = None

    def __post_init__(self) -> None:
        require_positive(self, "max_length", "batch_size", "cuts", "user_limit")
        require(
            self.max_length > 2,
            "`max_length` must have room for two items and a mask.",
            max_length=self.max_length,
        )


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Which model, and its sizes."""

    kind: Annotated[
        Kind,
        "causal transformer, one that fills gaps, GRU with attention, GRU without, or "
        "target attention",
    ] = "sasrec"
    hidden_dim: Annotated[int, "features of an item"] = 64
    intermediate_dim: Annotated[int, "features of hidden layers"] = 256
    num_layers: Annotated[int, "sasrec, bert4rec: blocks"] = 2
    num_heads: Annotated[int, "sasrec, bert4rec, din: attention heads"] = 2
    dropout: Annotated[float, "share of features dropped"] = 0.3
    item_dropout: Annotated[float, "share of past items hidden in training"] = 0.0
    attention: Annotated[
        str, "sasrec, bert4rec, din: multi-head layer of the registry"
    ] = "multi_head"

    def __post_init__(self) -> None:
        require_positive(self, "hidden_dim", "intermediate_dim")
        require_positive(self, "num_layers", "num_heads")
        require_fraction(self, "dropout", "item_dropout")
        if self.kind in ("sasrec", "bert4rec", "din"):
            require_heads(self)


@dataclass(frozen=True, kw_only=True)
class RecommendationTrainConfig(TrainConfig):
    """Training, and what it asks of the model."""

    loss: Annotated[
        Loss, "cross-entropy over all items or over sampled ones; din always samples"
    ] = "full"
    negatives: Annotated[int, "sampled: items beside the target, one draw a row"] = 128
    mask_rate: Annotated[float, "bert4rec: share of items hidden"] = 0.2
    last_rate: Annotated[float, "bert4rec: share of rows with the last item hidden"] = (
        0.2
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(self, "negatives")
        require_fraction(self, "mask_rate", "last_rate")


@dataclass(frozen=True, kw_only=True)
class EvaluationConfig:
    """How recommendations are measured, and how many are given."""

    top_k: Annotated[int, "items of a recommendation, and of HR@k, NDCG@k"] = 10
    negatives: Annotated[int, "sampled protocol: items beside the target"] = 100
    seed: Annotated[int, "sampled protocol, deletion test: start of what is drawn"] = 0
    deletion_users: Annotated[int, "deletion test: first test users"] = 300

    def __post_init__(self) -> None:
        require_positive(self, "top_k", "negatives", "deletion_users")
        require_not_negative(self, "seed")


@dataclass(frozen=True, kw_only=True)
class BaselineConfig:
    """What must be beaten."""

    neighbours: Annotated[
        tuple[int, ...], "item-kNN: similar items kept; validation chooses"
    ] = (10, 20, 50, 100, 200)

    def __post_init__(self) -> None:
        require(
            bool(self.neighbours) and min(self.neighbours) > 0,
            "`neighbours` must be numbers above 0.",
            neighbours=self.neighbours,
        )


@dataclass(frozen=True, kw_only=True)
class RecommendationConfig(Config):
    """All settings of a run."""

    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    train: RecommendationTrainConfig = field(default_factory=RecommendationTrainConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    baseline: BaselineConfig = field(default_factory=BaselineConfig)

    @property
    def samples(self) -> bool:
        """Whether training compares the target with a few items and not with all."""
        return self.train.loss == "sampled" or self.model.kind == "din"


_COMPARE = RecommendationConfig(
    data=DataConfig(cuts=5),
    train=RecommendationTrainConfig(
        epochs=60,
        patience=8,
        negatives=64,
        optimizer="adamw",
        learning_rate=2e-3,
        warmup_steps=50,
        weight_decay=0.01,
        gradient_clip_norm=1.0,
        average_decay=0.99,
    ),
)

PRESETS = {
    "smoke": RecommendationConfig(
        data=DataConfig(max_length=12, batch_size=16, cuts=2, user_limit=60),
        model=ModelConfig(
            hidden_dim=16, intermediate_dim=32, num_layers=1, dropout=0.1
        ),
        train=RecommendationTrainConfig(epochs=2, learning_rate=5e-3, negatives=16),
        evaluation=EvaluationConfig(deletion_users=10),
    ),
    "compare": _COMPARE,
    "small": replace(
        _COMPARE,
        data=DataConfig(max_length=200, batch_size=32),
        model=ModelConfig(hidden_dim=128, intermediate_dim=512, dropout=0.4),
        train=replace(
            _COMPARE.train,
            epochs=100,
            patience=12,
            learning_rate=1e-3,
            warmup_steps=200,
        ),
    ),
    "paper": RecommendationConfig(
        data=DataConfig(name="movielens/1m-ratings", max_length=200, batch_size=128),
        model=ModelConfig(hidden_dim=50, intermediate_dim=50, num_heads=1, dropout=0.2),
        train=RecommendationTrainConfig(
            epochs=400,
            patience=20,
            learning_rate=1e-3,
            beta_2=0.98,
            strategy="mirrored",
        ),
    ),
}
