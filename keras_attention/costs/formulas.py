"""Multiply-adds of the matrix products of one call of one layer, from shapes.

Only products that the layer itself writes out: those of layers inside it are theirs.
"""

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

import keras

from keras_attention import blocks, layers
from keras_attention.blocks.recurrent_decoder import _SummaryCell
from keras_attention.layers._projections import Projection


def said_by(layer: keras.layers.Layer, method: str, name: str) -> Callable | None:
    """The layer's own formula for its `method`, if it still holds.

    `name` is that of the formula, such as `multiply_adds`. A subclass that overrides
    the method but not the formula has outgrown it.
    """
    formula = owner(type(layer), name)
    if formula is None:
        return None
    order = type(layer).__mro__
    current = order.index(formula) <= order.index(owner(type(layer), method))
    return getattr(layer, name) if current else None


def ask(formula: Callable, arguments: Mapping[str, Any]) -> Any:
    """A formula asked about call arguments: its `x_shape` is the shape of `x`."""
    if _is_vague(arguments):
        return None
    given: dict[str, Any] = {}
    for name in inspect.signature(formula).parameters:
        argument = arguments.get(name.removesuffix("_shape"))
        if name.endswith("_shape"):
            given[name] = None if argument is None else tuple(argument.shape)
        elif name in arguments:
            given[name] = arguments[name]
    return formula(**given)


def of_call(layer: keras.layers.Layer, arguments: Mapping[str, Any]) -> int | None:
    """Multiply-adds of `layer.call(**arguments)`; `None` where that is not known."""
    formula = said_by(layer, "call", "multiply_adds")
    if formula is not None:
        return ask(formula, arguments)
    # A functional model may hold operations that are no layers.
    kinds = {type(operation).__name__ for operation in getattr(layer, "operations", ())}
    if kinds & _PRODUCT_OPERATIONS:
        return None
    defined_by = owner(type(layer), "call")
    if defined_by in _FORMULAS:
        unclear = _is_altered(layer) or _is_vague(arguments)
        return None if unclear else _FORMULAS[defined_by](layer, **arguments)
    return 0 if _multiplies_nothing(layer, defined_by) else None


def owner(layer_class: type, method: str) -> type | None:
    """The class in the line of ancestors whose `method` is the one that runs."""
    return next((c for c in layer_class.__mro__ if method in vars(c)), None)


def _is_vague(arguments) -> bool:
    """Whether a shape is not known before run time."""
    tensors = keras.tree.flatten(dict(arguments))
    return any(None in getattr(x, "shape", ()) for x in tensors)


def _is_altered(layer) -> bool:
    """Whether LoRA or quantization has changed what a Keras layer multiplies."""
    return bool(
        getattr(layer, "lora_enabled", False)
        or getattr(layer, "quantization_mode", None)
    )


# ------------------------------------------------------------------- Keras's layers


def _dense(layer, inputs, **_):
    return math.prod(inputs.shape) * layer.units


def _einsum_dense(layer, inputs, **_):
    of_inputs, of_kernel = layer.equation.split("->")[0].split(",")
    shape, sizes = (
        list(inputs.shape),
        dict(zip(of_kernel, layer.kernel.shape, strict=True)),
    )
    if "..." in of_inputs:
        before, _, after = of_inputs.partition("...")
        end = len(shape) - len(after)
        sizes["..."] = math.prod(shape[len(before) : end])
        shape[len(before) : end] = []
        of_inputs = before + after
    sizes |= dict(zip(of_inputs, shape, strict=True))
    return math.prod(sizes.values())


def _convolution(layer, inputs, **_):
    positions = math.prod(layer.compute_output_shape(inputs.shape)) // layer.filters
    return positions * math.prod(layer.kernel.shape)


def _transposed_convolution(layer, inputs, **_):
    positions = math.prod(inputs.shape) // layer.kernel.shape[-1]
    return positions * math.prod(layer.kernel.shape)


def _depthwise_convolution(layer, inputs, **_):
    channels = math.prod(layer.kernel.shape[-2:])
    positions = math.prod(layer.compute_output_shape(inputs.shape)) // channels
    return positions * math.prod(layer.kernel.shape)


def _separable_convolution(layer, inputs, **_):
    positions = math.prod(layer.compute_output_shape(inputs.shape)) // layer.filters
    kernels = layer.depthwise_kernel, layer.pointwise_kernel
    return positions * sum(math.prod(kernel.shape) for kernel in kernels)


def _cell(gates: int) -> Callable:
    """A recurrent cell: each gate reads the input `(B, D)` and the state `(B, U)`."""

    def formula(layer, inputs=None, sequence=None, **_):
        batch, size = (sequence if inputs is None else inputs).shape
        return batch * gates * layer.units * (size + layer.units)

    return formula


def _reversible_embedding(layer, inputs, reverse=False, **_):
    return math.prod(inputs.shape) * layer.input_dim if reverse else 0


def _multi_head(layer, query, value, **_):
    """Keras's multi-head attention between its projections; `None` along axes."""
    if len(query.shape) != 3:
        return None
    heads = getattr(layer, "num_query_heads", None) or layer.num_heads
    sizes = getattr(layer, "head_dim", None)
    both = 2 * sizes if sizes else layer.key_dim + layer.value_dim
    return math.prod(query.shape[:2]) * value.shape[1] * heads * both


def _dot_attention(layer, inputs, **_):
    """`Attention` and `AdditiveAttention` of Keras, which scores without a product."""
    query, value = inputs[:2]
    adds = isinstance(layer, keras.layers.AdditiveAttention)
    scores = 0 if adds or layer.score_mode != "dot" else query.shape[-1]
    return math.prod(query.shape[:2]) * value.shape[1] * (scores + value.shape[-1])


# Keras's layers by name: an older Keras lacks some.
_FORMULAS: dict[type | None, Callable] = {
    owner(getattr(keras.layers, name), "call"): formula
    for formula, names in {
        _dense: ["Dense"],
        _einsum_dense: ["EinsumDense"],
        _convolution: ["Conv1D", "Conv2D", "Conv3D"],
        _transposed_convolution: ["Conv2DTranspose"],
        _depthwise_convolution: ["DepthwiseConv2D"],
        _separable_convolution: ["SeparableConv2D"],
        _cell(gates=1): ["SimpleRNNCell"],
        _cell(gates=3): ["GRUCell"],
        _cell(gates=4): ["LSTMCell"],
        _reversible_embedding: ["ReversibleEmbedding"],
        _multi_head: ["MultiHeadAttention", "GroupQueryAttention"],
        _dot_attention: ["Attention", "AdditiveAttention"],
    }.items()
    for name in names
    if hasattr(keras.layers, name)
}
_FORMULAS[Projection] = _einsum_dense

# -------------------------------------------------------- layers without any product

# Where the `call` of a layer is defined tells what it does. A subclass of the user's
# own that overrides it is defined elsewhere, and so not counted.
_MODULES = tuple(
    f"keras.src.{module}."
    for module in (
        "layers.activations",
        "layers.merging",
        "layers.normalization",
        "layers.pooling",
        "layers.regularization",
        "layers.reshaping",
        "models",
    )
)
_PRODUCT_OPERATIONS = {
    *("Conv", "ConvTranspose", "DepthwiseConv", "SeparableConv"),
    *("Dot", "Einsum", "Inner", "Kron", "Matmul", "Outer", "Tensordot", "Vdot"),
    "DotProductAttention",
}
_MULTIPLIES_AFTER_ALL = (keras.layers.Dot, keras.layers.SpectralNormalization)
_MULTIPLIES_NOTHING = {
    owner(layer_class, "call")
    for layer_class in (
        keras.layers.Bidirectional,
        keras.layers.Embedding,
        keras.layers.GRU,
        keras.layers.Identity,
        keras.layers.InputLayer,
        keras.layers.LSTM,
        keras.layers.Masking,
        keras.layers.Rescaling,
        keras.layers.RNN,
        keras.layers.SimpleRNN,
        keras.layers.StackedRNNCells,
        keras.layers.TimeDistributed,
        blocks.ClassToken,
        blocks.ConformerEncoder,
        blocks.ConvolutionModule,
        blocks.ConvolutionalSubsampling,
        blocks.FeedForward,
        blocks.RecurrentDecoder,
        blocks.TransformerDecoder,
        blocks.TransformerEncoder,
        layers.AlibiBias,
        layers.AttentionCell,
        layers.AxialAttention,
        layers.MaskedMeanPooling,
        layers.PatchEmbedding,
        layers.PositionEmbedding,
        layers.RelativePositionBias,
        layers.RotaryEmbedding,
        layers.RotaryEmbedding2D,
        layers.SinusoidalPositionEncoding,
        layers.SinusoidalPositionEncoding2D,
        _SummaryCell,
    )
}


def _multiplies_nothing(layer, defined_by: type | None) -> bool:
    if defined_by is None or isinstance(layer, _MULTIPLIES_AFTER_ALL):
        return False
    by_module = f"{defined_by.__module__}.".startswith(_MODULES)
    return by_module or defined_by in _MULTIPLIES_NOTHING
