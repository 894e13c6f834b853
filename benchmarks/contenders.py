"""The contenders: each case's computation as we, Keras and PyTorch offer it.

Contenders are `ours` (the path the library chooses), `dense` and `blockwise` (that path
forced), `keras`, `torch`, `jax` and `products`; the last three have a file each. Inputs
and the upstream gradient are made beforehand and stay the same. TensorFlow's contenders
run inside `tf.function`.
"""

import importlib
from collections.abc import Callable
from typing import Any

from benchmarks import decoding, mechanisms, products
from benchmarks.cases import (
    ADDITIVE,
    CORE,
    DECODING,
    MECHANISM,
    MULTI_HEAD,
    TRANSFORMER,
    TRANSFORMER_LAYERS,
    Case,
)

Step = Callable[[], Any]
Computation = tuple[Callable, Any, list]  # function, its layer if any, inputs

# Frameworks with an environment of their own, in `.venv-<name>`.
ELSEWHERE = ("torch", "jax")
# Contender -> `implementation` of `ops.attend`, `flash_attention` of our layers.
OUR_PATHS = {
    "ours": (None, None),
    "dense": ("dense", False),
    "blockwise": ("blockwise", True),
}


def step(contender: str, case: Case) -> Step:
    """One computation of `case` by `contender`, as a function without arguments."""
    if contender in ELSEWHERE:
        return _elsewhere(contender).step(case)
    if case.computes == DECODING:
        return decoding.step(contender, case)
    if contender == "products":
        return products.step(case, _mask(case))
    if case.computes == TRANSFORMER:
        return _transformer_step(case)
    return _tensorflow_step(contender, case)


def version(contender: str) -> str:
    """Framework and version behind a contender."""
    if contender in ELSEWHERE:
        return _elsewhere(contender).version()
    import keras
    import tensorflow as tf

    return f"keras {keras.__version__} on tensorflow {tf.__version__}"


def _elsewhere(contender: str) -> Any:
    return importlib.import_module(f"benchmarks.{contender}_contenders")


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

    from keras_attention import ops

    inputs = _inputs(case, 3, *case.shape)
    if contender == "keras":
        attend = keras.ops.dot_product_attention
        return lambda q, k, v: attend(q, k, v, is_causal=case.causal), None, inputs
    path, _ = OUR_PATHS[contender]
    mask = _mask(case)
    return lambda q, k, v: ops.attend(q, k, v, mask, implementation=path), None, inputs


def _mask(case: Case) -> Any:
    from keras_attention import masks

    mask = masks.Causal() if case.causal else None
    return masks.combine(mask, masks.Local(case.window)) if case.window else mask


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
    options = mechanisms.options(contender, case)
    return lambda x: layer(x, x, **options(x.shape[1])), layer, inputs


_COMPUTATIONS = {
    CORE: _core,
    ADDITIVE: _additive,
    MULTI_HEAD: _multi_head,
    MECHANISM: _mechanism,
}


# ------------------------------------------------------------------ a training step


def _transformer_step(case: Case) -> Step:
    """Forward, backward and Adam for as many blocks as `torch.nn.Transformer` has."""
    import keras
    import tensorflow as tf

    is_half = case.dtype == "bfloat16"
    keras.config.set_dtype_policy("mixed_bfloat16" if is_half else "float32")
    batch, length, heads, size = case.shape
    shape = (batch, length, heads * size)
    source, target, upstream = (tf.random.normal(shape) for _ in range(3))
    model = _transformer(heads, heads * size)
    model([source[:, :2], target[:, :2]])  # builds it
    variables = model.trainable_variables
    optimizer = keras.optimizers.Adam()
    optimizer.build(variables)

    @tf.function(autograph=False)
    def training(source, target):
        with tf.GradientTape() as tape:
            output = model([source, target], training=True)
            loss = tf.reduce_mean(tf.cast(output, "float32") * upstream)
        weights = [variable.value for variable in variables]
        optimizer.apply(tape.gradient(loss, weights), variables)

    return lambda: training(source, target)


def _transformer(heads: int, size: int) -> Any:
    import keras

    from keras_attention import blocks

    options = {"intermediate_dim": 4 * size, "num_heads": heads, "dropout": 0.1}
    options |= {"attention_dropout": 0.1, "normalize_first": True}
    source, target = (keras.Input((None, size)) for _ in range(2))
    memory, output = source, target
    for _ in range(TRANSFORMER_LAYERS):
        memory = blocks.TransformerEncoder(**options)(memory)
    memory = keras.layers.LayerNormalization(epsilon=1e-5)(memory)
    for _ in range(TRANSFORMER_LAYERS):
        output = blocks.TransformerDecoder(**options)(output, memory)
    output = keras.layers.LayerNormalization(epsilon=1e-5)(output)
    return keras.Model([source, target], output)
