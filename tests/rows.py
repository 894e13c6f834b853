"""What a row of the catalogue is: a layer, how to call it and what must come out."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import keras
import numpy as np

from keras_attention import masks
from tests.backend import tensor

B, T, S = 2, 5, 7  # batch, query length, key length
N, H, V = 3, 11, 13  # heads, head size, value head size
A = 31  # an axis that is not attended
K = 29  # learned queries
D, DV, DK = 17, 19, 23  # sizes of query, value and key
ROTARY = 12  # a size whose halves are even, for rotations

EXTENDED = S + 3  # keys and three summaries behind them

# What becomes `None` where shapes are only known at run time.
DYNAMIC = {B, T, S, A, EXTENDED}


# Properties of the contract that speak of single pairs of query and key, and those that
# need the queries of a whole sequence.
OF_PAIRS = (
    "attention_mask_ranks_agree",
    "attention_mask_keeps_where_true",
    "empty_rows_of_an_attention_mask_are_zero",
    "attention_bias_adds_to_the_logits",
    "masks_are_and_ed",
)
OF_QUERIES = (
    *OF_PAIRS,
    "float_attention_mask_is_refused",
    "causal_is_aligned_to_the_end",
    "no_path_sees_the_future",
    "hidden_query_rows_are_zero",
)


@dataclass(frozen=True)
class Row:
    """A layer under test.

    Attributes:
        name: Shown in test ids.
        layer: The layer's key in `layers.registry()`.
        make: Factory of the layer as it is called; takes further constructor options.
        inputs: Shapes of the positional call arguments.
        output: Shape of the (first) output.
        scores: Shape of the attention scores, `None` where there are none.
        configured: Factory of the public layer with no argument at its default.
        query_mask: Call argument that hides rows of the first input.
        key_mask: Call argument that hides what is attended.
        hidden: Index of the input that `key_mask` belongs to.
        empty_output: What a row with nothing to attend gives, from the layer.
        off: Properties switched off, each with its reason.
    """

    name: str
    layer: str
    make: Callable[..., keras.layers.Layer]
    inputs: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]
    scores: tuple[int, ...] | None
    configured: Callable[[], keras.layers.Layer] | None = None
    query_mask: str | None = "query_mask"
    key_mask: str | None = "value_mask"
    hidden: int = 1
    empty_output: Callable[[keras.layers.Layer], Any] = lambda layer: 0.0
    off: dict[str, str] = field(default_factory=dict)

    def tensors(self, seed: int = 0) -> list:
        """New random inputs."""
        return [tensor(*shape, seed=seed + i) for i, shape in enumerate(self.inputs)]

    def built(self, **options: Any) -> keras.layers.Layer:
        """A called layer; rows of one layer get the same random weights."""
        layer = self.make(**options)
        layer(*self.tensors())
        generator = np.random.default_rng(1)
        layer.set_weights([_random_like(x, generator) for x in layer.weights])
        return layer

    def query_padding(self) -> np.ndarray:
        """A mask for `query_mask` with real and padded positions in each sequence."""
        return _padding(self.inputs[0][:-1], seed=3)

    def key_padding(self) -> np.ndarray:
        """A mask for `key_mask` with real and padded positions in each sequence."""
        return _padding(self.inputs[self.hidden][:-1], seed=4)


def _random_like(variable: keras.Variable, generator: np.random.Generator) -> Any:
    """New numbers for a weight, those of its initializer where others make no sense."""
    start = keras.ops.convert_to_numpy(variable)
    if not start.ndim:  # such as a bandwidth
        return start
    # About an initializer's size, so that outputs are of size 1 and 1e-6 is a few
    # roundings.
    numbers = 0.15 * generator.normal(size=start.shape)
    is_variance = variable.path.endswith("moving_variance")
    return start + abs(numbers) if is_variance else numbers


def _padding(shape: tuple[int, ...], seed: int) -> np.ndarray:
    mask = np.random.default_rng(seed).integers(0, 2, shape).astype(bool)
    mask[..., 0], mask[..., 1] = True, False
    return mask


def base_options() -> dict[str, Any]:
    """The options of every two-input layer, off their defaults."""
    return {
        "dropout": 0.25,
        "mask": masks.Causal() & masks.Local(4) | masks.Local(2),
        "flash_attention": False,
        "seed": 29,
        "name": "mine",
        "dtype": "mixed_bfloat16",
        "trainable": False,
        "activity_regularizer": "l2",
    }


def options_of(make: Callable, **options: Any) -> Callable[[], keras.layers.Layer]:
    """A factory of `make` with every option off its default."""
    return lambda: make(**options, **base_options())


def names_of(layer: type, **options: Any) -> Callable[[], keras.layers.Layer]:
    """A factory with the options of every Keras layer off their defaults."""
    shared = base_options()
    kept = ("name", "dtype", "trainable", "activity_regularizer")
    return lambda: layer(**options, **{key: shared[key] for key in kept})
