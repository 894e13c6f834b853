"""The contenders: each case's computation as we, Keras and PyTorch offer it.

Contenders are `ours` (the path the library chooses), `dense` and `blockwise` (that path
forced), `keras` and `torch`. Inputs and the upstream gradient are made beforehand and
stay the same. TensorFlow's contenders run inside `tf.function`.
"""

from collections.abc import Callable
from typing import Any

from benchmarks import mechanisms
from benchmarks.cases import ADDITIVE, CORE, MECHANISM, MULTI_HEAD, Case

Step = Callable[[], Any]
Computation = tuple[Callable, Any, list]  # function, its layer if any, inputs

# Contender -> `implementation` of `ops.attend`, `flash_attention` of our layers.
OUR_PATHS = {
    "ours": (None, None),
    "dense": ("dense", False),
    "blockwise": ("blockwise", True),
}


def step(contender: str, case: Case) -> Step:
    """One computation of `case` by `contender`, as a function without arguments."""
    return (_torch_step if contender == "torch" else _tensorflow_step)(contender, case)


def version(contender: str) -> str:
    """Framework and version behind a contender."""
    if contender == "torch":
        import torch

        return f"torch {torch.__version__}"
    import keras
    import tensorflow as tf

    return f"keras {keras.__version__} on tensorflow {tf.__version__}"


# ---------------------------------------------------------------------- TensorFlow


def _tensorflow_step(contender: str, case: Case) -> Step:
    import tensorflow as tf

    function, layer, inputs = _COMPUTATIONS[case.computes](contender, case)
    upstream = tf.random.normal(inputs[0].shape, dtype=case.dtype)
    weights = []
    if layer is not None:
        function(*(x[:, :2] for x in inputs))  # builds the layer
        weights = [weight.value for weight in layer.trainable_variables]

    def forward(*inputs):
        return function(*inputs)

    def training(*inputs):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            output = function(*inputs)
        return tape.gradient(output, [*inputs, *weights], upstream)

    compiled = tf.function(training if case.training else forward)
    return lambda: compiled(*inputs)


def _inputs(case: Case, count: int, *shape: int) -> list:
    import tensorflow as tf

    return [tf.random.normal(shape, dtype=case.dtype) for _ in range(count)]


def _core(contender: str, case: Case) -> Computation:
    import keras

    from keras_attention import masks, ops

    inputs = _inputs(case, 3, *case.shape)
    if contender == "keras":
        attend = keras.ops.dot_product_attention
        return lambda q, k, v: attend(q, k, v, is_causal=case.causal), None, inputs
    path, _ = OUR_PATHS[contender]
    mask = masks.Causal() if case.causal else None
    if case.window:
        mask = masks.combine(mask, masks.Local(case.window))
    return lambda q, k, v: ops.attend(q, k, v, mask, implementation=path), None, inputs


def _additive(contender: str, case: Case) -> Computation:
    """Keras's layer compares its inputs as they are; ours also projects them."""
    import keras

    from keras_attention import layers

    batch, length, heads, size = case.shape
    units = heads * size
    inputs = _inputs(case, 3, batch, length, units)
    causal = {"use_causal_mask": case.causal}
    if contender == "keras":
        layer = keras.layers.AdditiveAttention()
        return lambda q, k, v: layer([q, v, k], **causal), layer, inputs
    _, flash_attention = OUR_PATHS[contender]
    layer = layers.AdditiveAttention(units, flash_attention=flash_attention)
    return lambda q, k, v: layer(q, v, k, **causal), layer, inputs


def _multi_head(contender: str, case: Case) -> Computation:
    import keras

    from keras_attention import layers

    batch, length, heads, size = case.shape
    if contender == "keras":
        layer = keras.layers.MultiHeadAttention(heads, size)
    else:
        _, flash_attention = OUR_PATHS[contender]
        layer = layers.MultiHeadAttention(heads, size, flash_attention=flash_attention)
    inputs = _inputs(case, 1, batch, length, heads * size)
    return lambda x: layer(x, x, use_causal_mask=case.causal), layer, inputs


def _mechanism(contender: str, case: Case) -> Computation:
    layer = mechanisms.layer(contender, case)
    batch, length, heads, size = case.shape
    inputs = _inputs(case, 1, batch, length, heads * size)
    causal = case.causal and contender not in mechanisms.NOT_CAUSAL
    options = {"use_causal_mask": True} if causal else {}
    return lambda x: layer(x, x, **options), layer, inputs


_COMPUTATIONS = {
    CORE: _core,
    ADDITIVE: _additive,
    MULTI_HEAD: _multi_head,
    MECHANISM: _mechanism,
}

# ------------------------------------------------------------------------- PyTorch


def _torch_step(contender: str, case: Case) -> Step:
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    if case.computes == MECHANISM:
        return _torch_layer_step(case)
    if case.computes != CORE:
        raise ValueError(f"{contender} takes no part in this case: {case.name}.")
    dtype = getattr(torch, case.dtype)
    inputs = [
        torch.randn(case.shape, dtype=dtype, requires_grad=case.training)
        for _ in range(3)
    ]
    upstream = torch.randn(case.shape, dtype=dtype)

    def forward():
        query, key, value = (x.transpose(1, 2) for x in inputs)
        output = scaled_dot_product_attention(query, key, value, is_causal=case.causal)
        return output.transpose(1, 2)

    def training():
        return torch.autograd.grad(forward(), inputs, upstream)

    return training if case.training else forward


def _torch_layer_step(case: Case) -> Step:
    """`torch.nn.MultiheadAttention`, causal, without its weights."""
    import torch

    batch, length, heads, size = case.shape
    layer = torch.nn.MultiheadAttention(heads * size, heads, batch_first=True)
    inputs = torch.randn(batch, length, heads * size, requires_grad=True)
    upstream = torch.randn(batch, length, heads * size)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(length)
    options = {"attn_mask": mask, "is_causal": True, "need_weights": False}

    def training():
        output, _ = layer(inputs, inputs, inputs, **options)
        return torch.autograd.grad(output, [inputs, *layer.parameters()], upstream)

    return training
