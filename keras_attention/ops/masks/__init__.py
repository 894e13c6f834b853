"""Masks: which query position may attend which key position."""

from keras_attention.ops.masks.base import (
    And,
    Mask,
    Not,
    Or,
    combine,
    position_mask,
    serialize,
)
from keras_attention.ops.masks.patterns import (
    BigBird,
    Fixed,
    Global,
    RandomBlocks,
    Strided,
)
from keras_attention.ops.masks.positions import (
    Block,
    Causal,
    Dilated,
    Local,
    PositionMask,
    Predicate,
    Prefix,
)
from keras_attention.ops.masks.runtime import (
    Dense,
    Documents,
    Padding,
    as_boolean,
    as_mask,
)
from keras_attention.ops.masks.windows import (
    EMPTY,
    FULL,
    PARTIAL,
    Blocks,
    Order,
    Window,
)

__all__ = [
    "EMPTY",
    "FULL",
    "PARTIAL",
    "And",
    "BigBird",
    "Block",
    "Blocks",
    "Causal",
    "Dense",
    "Dilated",
    "Documents",
    "Fixed",
    "Global",
    "Local",
    "Mask",
    "Not",
    "Or",
    "Order",
    "Padding",
    "PositionMask",
    "Predicate",
    "Prefix",
    "RandomBlocks",
    "Strided",
    "Window",
    "as_boolean",
    "as_mask",
    "combine",
    "position_mask",
    "serialize",
]
