"""Layers compared over lengths: ours by the registry, and those of Keras and PyTorch.

All are causal where they can be; `linformer` cannot, and `prefix` is but for its
prefix. Sizes are what a user would take: windows, blocks and prefixes of 256, strides
of 128, 256 random features or projected positions.
"""

from collections.abc import Callable
from typing import Any

from benchmarks.cases import Case

NOT_CAUSAL = ("linformer",)
PEERS = ("keras", "keras_hub", "torch")  # for whole layers
OPS = ("ours", "keras", "torch", "jax")  # for the op alone
DENSE = ("keras", "keras_hub", "jax")  # who holds every score

# Name -> key of the registry and its options, which may need the length.
OURS: dict[str, tuple[str, Callable[[int], dict[str, Any]]]] = {
    "full": ("multi_head", lambda length: {}),
    "local": ("multi_head", lambda length: {"mask": _masks().Local(256)}),
    "dilated": ("multi_head", lambda length: {"mask": _masks().Dilated(256, 4)}),
    "strided": ("multi_head", lambda length: {"mask": _masks().Strided(128)}),
    "prefix": ("multi_head", lambda length: {"mask": _causal() | _masks().Prefix(256)}),
    "global": (
        "multi_head",
        lambda length: {"mask": _masks().Local(256) | _masks().Global(16)},
    ),
    "fixed": ("multi_head", lambda length: {"mask": _masks().Fixed(128, 8)}),
    "block": ("multi_head", lambda length: {"mask": _masks().Block(256)}),
    "big_bird": (
        "multi_head",
        lambda length: {"mask": _masks().BigBird(192, 64, 3, 64, max(length, 256))},
    ),
    "block_summary": ("block_summary", lambda length: {"block_size": 128}),
    "linear": ("linear", lambda length: {}),
    "performer": ("performer", lambda length: {"num_features": 256}),
    "linformer": (
        "linformer",
        lambda length: {
            "max_sequence_length": length,
            "projected_length": min(256, length),
        },
    ),
}


def names() -> list[str]:
    """Every contender, ours first."""
    return [*OURS, *PEERS]


def layer(name: str, case: Case) -> Any:
    """The Keras layer of that name, ours or Keras's own."""
    import keras

    from keras_attention import layers

    _, length, heads, size = case.shape
    if name == "keras":
        return keras.layers.MultiHeadAttention(heads, size)
    if name == "keras_hub":
        import keras_hub

        return keras_hub.layers.CachedMultiHeadAttention(heads, size)
    key, options = OURS[name]
    return layers.get(key, num_heads=heads, key_dim=size, **options(length))


def options(name: str, case: Case) -> Callable[[int], dict[str, Any]]:
    """What makes a layer's call causal, by the length of its input."""
    import numpy as np

    if not case.causal or name in (*NOT_CAUSAL, "prefix"):
        return lambda length: {}
    if name == "keras_hub":
        return lambda length: {
            "attention_mask": np.tri(length, dtype=bool)[None],
        }
    return lambda length: {"use_causal_mask": True}


def fits(name: str, case: Case) -> bool:
    """Whether a contender's memory allows the case."""
    batch, length, heads, _ = case.shape
    return name not in DENSE or batch * heads * length**2 <= 2**28


def _masks() -> Any:
    from keras_attention import masks

    return masks


def _causal() -> Any:
    return _masks().Causal()
