"""Settings of a network that sees; imports no TensorFlow.

A classifier is made of it and a captioner's encoder, so that one can start from the
weights of the other.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from applications.errors import (
    require,
    require_fraction,
    require_heads,
    require_positive,
)

Kind = Literal["vit", "cnn"]
Pooling = Literal["class_token", "attention", "mean"]
Positions = Literal["learned", "sinusoidal_2d", "rotary_2d", "none"]


@dataclass(frozen=True, kw_only=True)
class ImageNetworkConfig:
    """Which model, and its sizes."""

    kind: Annotated[Kind, "Vision Transformer, or residual CNN"] = "vit"
    attention: Annotated[
        str | None,
        "vit: multi-head layer of the registry, by default multi_head; "
        "cnn: squeeze_excitation, cbam, ..., by default none",
    ] = None
    patch_size: Annotated[int, "vit: pixels of a patch's side"] = 4
    hidden_dim: Annotated[int, "vit: features of a patch"] = 64
    num_layers: Annotated[int, "vit: blocks"] = 6
    num_heads: Annotated[int, "vit: attention heads"] = 4
    intermediate_dim: Annotated[int, "vit: feed-forward features"] = 128
    pooling: Annotated[Pooling, "vit: what the classifier reads"] = "class_token"
    positions: Annotated[Positions, "vit: how patches know their place"] = "learned"
    drop_path: Annotated[float, "vit: share of images that skip the last block"] = 0.0
    filters: Annotated[tuple[int, ...], "cnn: channels of each stage"] = (32, 64, 128)
    blocks_per_stage: Annotated[int, "cnn: residual blocks of a stage"] = 2
    stem_strides: Annotated[int, "cnn: step of the first convolution"] = 2
    dropout: Annotated[
        float,
        "share of features dropped; in a vit of every sub-block, which costs time",
    ] = 0.0

    def __post_init__(self) -> None:
        sizes = ("patch_size", "hidden_dim", "num_layers", "num_heads")
        sizes += ("intermediate_dim", "blocks_per_stage", "stem_strides")
        require_positive(self, *sizes)
        require_fraction(self, "dropout", "drop_path")
        require_heads(self)
        require(
            bool(self.filters) and min(self.filters) > 0,
            "`filters` must be one number or more, all above 0.",
            filters=self.filters,
        )
