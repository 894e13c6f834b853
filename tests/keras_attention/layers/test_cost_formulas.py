"""The multiply-adds that docstrings state are those that `costs.report` counts.

That the report equals the matrix products of the traced graph is tested with it. A
formula stands in a class docstring as "multiply-adds `2 B (S + T) D^2`", or as
"multiply-adds those of `MultiHeadAttention` plus `...`".
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import keras
import pytest

from keras_attention import costs, layers
from tests.catalogue import ROWS
from tests.recurrent import Recurrent

# A prime for every letter, so that none can stand for another. V is also the size of
# the values of single-head layers.
B, T, S, D = 2, 5, 61, 17
N, H, V = 3, 11, 13
Q, K = 19, 23  # sizes of query and key
U, F, FILTERS, WIDTH = 29, 31, 59, 67  # hidden units, features, filters and their width
MIXTURES, DISTANCE, QUERIES = 37, 41, 71
CHANNELS, HEIGHT, MAP_WIDTH = 43, 47, 53
HIDDEN, SIDE = CHANNELS // 6, 5  # hidden units of a gate, side of its kernel
LETTERS = {"B": B, "T": T, "S": S, "D": D, "N": N, "H": H, "V": V}
SIZES = {"Dq": Q, "Dk": K, "units": U}
GROUPED = {"N": 6, "K": 3}  # heads are a multiple of the key/value heads
BLOCK, BLOCKS = 9, 7  # the last one not full
MAP = {"C": CHANNELS, "h": HEIGHT, "w": MAP_WIDTH, "L": MAP_WIDTH}

SAME_SIZE = [(B, T, H), (B, S, V), (B, S, H)]
FREE_SIZE = [(B, T, Q), (B, S, V), (B, S, K)]
MODEL_SIZE = [(B, T, D), (B, S, D)]
LONG = 131  # more than one chunk of 128
ONE_CHUNK = {"F": F, "C": S, "P": S}
TWO_CHUNKS = {"F": F, "C": 128, "P": 256, "S": LONG}


@dataclass(frozen=True)
class Case:
    """A layer and what the letters of its formula are.

    Attributes:
        layer: Its key in `layers.registry()`.
        make: Its factory.
        inputs: Shapes of the positional call arguments.
        letters: Beside, or instead of, `LETTERS`.
        formula: Which of the docstring's formulas holds.
        options: Further arguments of the call.
    """

    layer: str
    make: Callable[[], keras.layers.Layer]
    inputs: list[tuple[int, ...]]
    letters: dict[str, int] = field(default_factory=dict)
    formula: int = 0
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def layer_class(self) -> type:
        return layers.registry()[self.layer]


def grouped(layer: type, *sizes: int, **options: Any) -> Callable:
    """A factory of a multi-head layer with fewer key/value heads."""
    heads = {"num_key_value_heads": GROUPED["K"], "value_dim": V}
    return lambda: layer(GROUPED["N"], H, *sizes, **heads, **options)


def linear(name: str, **options: Any) -> tuple[Case, ...]:
    """Linear attention: plain, causal in one chunk, and in two."""
    causal = {"formula": 1, "options": {"use_causal_mask": True}}

    def make():
        return layers.get(name, num_heads=N, key_dim=H, value_dim=V, **options)

    return (
        Case(name, make, MODEL_SIZE, {"F": F}),
        Case(name, make, MODEL_SIZE, ONE_CHUNK, **causal),
        Case(name, make, [(B, T, D), (B, LONG, D)], TWO_CHUNKS, **causal),
    )


def axial(axis: Any, formula: int) -> Case:
    """Attention along one axis of a map, or both."""
    shape = (B, HEIGHT, MAP_WIDTH, CHANNELS)
    return Case(
        "axial", lambda: layers.AxialAttention(axis, N, H), [shape], MAP, formula
    )


def of_map(name: str, formula: int = 0, letters: dict | None = None, **options: Any):
    """A layer of one feature map, with `HIDDEN` units where it has hidden ones."""
    channels = (letters or {}).get("C", CHANNELS)
    shape = (B, HEIGHT, MAP_WIDTH, channels)
    letters = {**MAP, "R": HIDDEN, "k": SIDE, **(letters or {})}
    return Case(name, lambda: layers.get(name, **options), [shape], letters, formula)


CASES = [
    Case("additive", lambda: layers.AdditiveAttention(U), FREE_SIZE, SIZES),
    Case(
        "attention_pooling",
        lambda: layers.AttentionPooling(QUERIES),
        [(B, S, D)],
        {"k": QUERIES},
    ),
    Case(
        "attention_pooling",
        lambda: layers.AttentionPooling(QUERIES, N, H),
        [(B, S, D)],
        {"k": QUERIES},
        formula=1,
    ),
    axial(axis=2, formula=0),
    axial(axis=(1, 2), formula=1),
    of_map("squeeze_excitation", ratio=6),
    of_map("squeeze_excitation", 1, ratio=6, pooling="mean_max"),
    of_map("efficient_channel", kernel_size=SIDE),
    of_map("spatial", kernel_size=SIDE),
    of_map("cbam", ratio=6, kernel_size=SIDE),
    of_map("bam", ratio=6),
    of_map("coordinate", ratio=6, min_units=1),
    of_map("sc_se", ratio=6),
    of_map(
        "selective_kernel",
        letters={"C": 2 * CHANNELS, "I": CHANNELS, "M": 3},
        dilation_rates=(1, 2, 3),
        kernel_size=SIDE,
        groups=2,
        ratio=12,
        min_units=1,
    ),
    of_map("feature_map", num_heads=N, key_dim=H),
    Case(
        "block_summary",
        grouped(layers.BlockSummaryAttention, BLOCK),
        MODEL_SIZE,
        GROUPED | {"M": BLOCKS},
    ),
    Case("dot_product", layers.DotProductAttention, SAME_SIZE),
    Case("gated", lambda: layers.GatedAttention(U), [(B, S, D)], SIZES),
    Case("general", layers.GeneralAttention, FREE_SIZE, {"Hq": Q, "Hk": K}),
    Case("kernel", layers.KernelAttention, SAME_SIZE),
    *linear("linear"),
    *linear("performer", num_features=F),
    Case(
        "linformer",
        lambda: layers.LinformerAttention(N, H, S, MIXTURES, value_dim=V),
        MODEL_SIZE,
        {"K": MIXTURES},
    ),
    Case(
        "location_aware",
        lambda: layers.LocationAwareAttention(U, FILTERS, WIDTH),
        FREE_SIZE,
        SIZES | {"filters": FILTERS, "kernel_size": WIDTH},
    ),
    Case("monotonic", lambda: layers.MonotonicAttention(U), FREE_SIZE, SIZES),
    Case("multi_head", grouped(layers.MultiHeadAttention), MODEL_SIZE, GROUPED),
    Case(
        "patch_embedding",
        lambda: layers.PatchEmbedding((HEIGHT, MAP_WIDTH), D),
        [(B, 2 * HEIGHT, 3 * MAP_WIDTH, CHANNELS)],
        MAP | {"h": 2 * HEIGHT, "w": 3 * MAP_WIDTH},
    ),
    Case(
        "relative_position",
        grouped(layers.RelativePositionAttention, max_distance=DISTANCE),
        MODEL_SIZE,
        GROUPED | {"k": DISTANCE},
    ),
    Case("talking_heads", grouped(layers.TalkingHeadsAttention), MODEL_SIZE, GROUPED),
    Case("temporal", layers.TemporalAttention, [(B, S, D)]),
]


# ----------------------------------------------------------------- reading a docstring

STATED = re.compile(r"[Mm]ultiply-adds (?:those of `(\w+)` plus )?`([^`]+)`")


def stated(layer_class: type) -> list[tuple[str, str]]:
    """The formulas of a docstring in their order, each after the layer it adds to."""
    return STATED.findall(" ".join((layer_class.__doc__ or "").split()))


def evaluated(formula: str, letters: dict[str, int]) -> int:
    """The number of a formula in which letters side by side are multiplied."""
    assert re.fullmatch(r"[\w +*^()]+", formula), formula
    product = re.sub(r"(?<=[\w)]) (?=[\w(])", " * ", formula)
    return eval(product.replace("^", "**"), {"__builtins__": {}}, letters)


def value(layer_class: type, letters: dict[str, int], index: int = 0) -> int:
    """The number of one of a layer's formulas, with that of the layer it adds to."""
    base, formula = stated(layer_class)[index]
    below = value(getattr(layers, base), letters) if base else 0
    return below + evaluated(formula, letters)


def counted(layer: keras.layers.Layer, inputs: list, **options: Any) -> int:
    """What the report says a call multiplies."""
    report = costs.report(layer, inputs=list(inputs), **options)
    assert report.not_counted == []
    return report.total.multiply_adds


# --------------------------------------------------------------------------- the tests


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.layer}-{case.formula}")
def test_the_formula_of_the_docstring_is_what_is_counted(case):
    number = value(case.layer_class, LETTERS | case.letters, case.formula)
    assert number == counted(case.make(), case.inputs, **case.options)


def test_the_formula_of_a_cell_in_its_loop():
    loop = Recurrent(
        layers.AttentionCell(keras.layers.GRUCell(H), layers.AdditiveAttention(U))
    )
    attention = value(
        layers.AdditiveAttention, LETTERS | SIZES | {"Dq": H, "Dk": K, "V": K}
    )
    cell = 3 * B * H * (D + K + H)
    number = value(layers.AttentionCell, {"T": T, "cell": cell, "attention": attention})
    assert number == counted(loop, [(B, T, D), (B, S, K)])


@pytest.mark.parametrize("name", layers.registry())
def test_every_formula_is_in_the_table(name):
    found = {case.formula for case in CASES if case.layer == name}
    if name == "attention_cell":
        found = {0}  # its letters are costs of other layers: the test above
    assert found == set(range(len(stated(layers.registry()[name]))))


@pytest.mark.parametrize(
    "row",
    [row for row in ROWS if not stated(layers.registry()[row.layer])],
    ids=lambda row: row.name,
)
def test_a_layer_without_a_formula_multiplies_nothing(row):
    assert counted(row.make(), row.inputs) == 0


@pytest.mark.parametrize("name", layers.registry())
def test_the_docstring_says_what_the_letters_are(name):
    layer_class = layers.registry()[name]
    text = layer_class.__doc__
    if "As in `MultiHeadAttention`" in text:
        text += layers.MultiHeadAttention.__doc__.partition("Shapes:")[2]
    said = set(re.findall(r"\w+", text.partition("Shapes:")[2]))
    for _, formula in stated(layer_class):
        assert set(re.findall(r"[A-Za-z_]\w*", formula)) <= said


def test_letters_side_by_side_are_multiplied():
    letters = {"B": 3, "Dq": 5, "units": 7}
    formula = "2 B (units + Dq^2) (B + 1) + Dq * units"
    assert evaluated(formula, letters) == 2 * 3 * (7 + 25) * 4 + 35


def test_only_arithmetic_is_read():
    with pytest.raises(AssertionError):
        evaluated("B.real", {"B": 3})
