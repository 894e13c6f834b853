"""Models in float32, which other formats ask for."""

from typing import Any

import keras
from keras import ops

from keras_attention.errors import require
from keras_attention.export._tensors import require_inputs

_HALF = ("bfloat16", "float16", "mixed_bfloat16", "mixed_float16")
_NOT_COMPUTING = (keras.Model, keras.layers.InputLayer)  # whose policy says nothing


def in_float32(model: keras.Model) -> keras.Model:
    """A model of the same weights whose layers all compute in float32.

    For files in other formats, whose converters take no half precision. Answers differ
    by the roundings that half precision made. The weights are copies: nothing is shared
    and the twin is not compiled. Works on every backend.

    Args:
        model: A functional or sequential model, `VisionTransformer` and `AttentionCNN`
            among them. Layers of your own must come back from their configs. Inputs of
            half precision become float32 too.

    Raises:
        ValueError: the model does not know its inputs by shape and name, or its config
            makes another model.

    Examples:
        >>> import keras
        >>> from keras_attention import export
        >>> x = keras.Input((3,))
        >>> model = keras.Model(x, keras.layers.Dense(2, dtype="mixed_bfloat16")(x))
        >>> export.in_float32(model).layers[-1].compute_dtype
        'float32'
    """
    require_inputs(model)
    config = keras.saving.serialize_keras_object(model)
    config.pop("compile_config", None)
    # Lambda layers came from this process, not from a file of somebody else.
    twin = keras.saving.deserialize_keras_object(_single(config), safe_mode=False)
    shapes = [[tuple(x.shape) for x in each.weights] for each in (model, twin)]
    require(
        shapes[0] == shapes[1],
        "`model` must come back from its config with the same weights: a layer shared "
        "with a wrapper does not, nor one whose config lacks an argument.",
        model=model.name,
    )
    for old, new in zip(model.weights, twin.weights, strict=True):
        new.assign(ops.cast(ops.convert_to_tensor(old), new.dtype))
    return twin


def require_float32(model: keras.Model, what: str) -> None:
    """Raise where a layer computes in half precision, saying how to write `what`."""
    layers = model._flatten_layers(include_self=False)  # at every depth
    half = {
        layer.dtype_policy.name
        for layer in layers
        if layer.compute_dtype in _HALF and not isinstance(layer, _NOT_COMPUTING)
    }
    require(
        not half,
        f"{what} holds layers that compute in float32: write that of "
        "export.in_float32(model), which has the same weights.",
        dtype=", ".join(sorted(half)),
    )


def _single(config: Any) -> Any:
    """A config with float32 in place of every half precision, at every depth."""
    if isinstance(config, dict):
        return {key: _single(value) for key, value in config.items()}
    if isinstance(config, (list, tuple)):
        return type(config)(_single(value) for value in config)
    return "float32" if isinstance(config, str) and config in _HALF else config
