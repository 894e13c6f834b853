"""The promise of the blockwise path, read off the traced graph: no `T x S` tensor.

Forward and backward pass are traced at `T = S = 4096` and every tensor of the graph and
of every function in it, loop bodies included, is measured.
"""

import math

import numpy as np
import pytest

from keras_attention import masks
from keras_attention.ops import attend
from tests.backend import tensor, tensorflow_only

pytestmark = tensorflow_only

LENGTH, SIZE = 4096, 8
PAIRS = LENGTH * LENGTH


def padding():
    keys = np.arange(LENGTH)[None] < 1500
    return masks.Padding(keys, keys[:, ::-1])


MASKS = {
    "none": lambda: None,
    "causal": masks.Causal,
    "local": lambda: masks.Local(100),
    "causal & local": lambda: masks.Causal() & masks.Local(100),
    "causal | local": lambda: masks.Causal() | masks.Local(100),
    "padding": padding,
    "causal & padding": lambda: masks.Causal() & padding(),
    "dilated": lambda: masks.Dilated(16, 8),
    "strided": lambda: masks.Strided(45) & masks.Causal(),
    "fixed": lambda: masks.Fixed(64, 4) & masks.Causal(),
    "block": lambda: masks.Block(100),
    "global | local": lambda: masks.Global(8) | masks.Local(64),
    "big bird": lambda: masks.BigBird(64, 8, 2, 64, LENGTH),
    "predicate": lambda: masks.Predicate(lambda i, j: (i - j) % 64 < 9),
    "documents": lambda: masks.Documents(np.arange(LENGTH)[None] // 300),
}
SCORES = {
    "dot": [],
    "scaled_dot": [],
    "general": [(SIZE, SIZE)],
    "additive": [(SIZE,)],
    "cosine": [()],
    "gaussian": [()],
}


def trace(implementation, mask=None, score="scaled_dot", groups=1, **options):
    """The graph of forward and backward pass for `groups` batch rows and heads."""
    import tensorflow as tf

    shapes = [(groups, LENGTH, groups, SIZE)] * 3 + SCORES[score]
    signature = [tf.TensorSpec(shape) for shape in shapes]

    @tf.function(input_signature=signature, autograph=False)
    def step(query, key, value, *weights):
        tensors = (query, key, value, *weights)
        with tf.GradientTape() as tape:
            tape.watch(tensors)
            output = attend(
                query,
                key,
                value,
                mask=mask,
                score=score,
                score_weights=weights,
                implementation=implementation,
                **options,
            )
        return output, tape.gradient(output, tensors)

    return step.get_concrete_function().graph


def measured(graph, library=None, path="graph"):
    """Name, type and shape of every tensor in `graph` and in the functions it calls."""
    if library is None:
        functions = graph.as_graph_def().library.function
        library = {function.signature.name: function for function in functions}
    for operation in graph.get_operations():
        name = f"{path}/{operation.name}"
        for output in operation.outputs:
            yield name, operation.type, output
        for attribute in operation.node_def.attr.values():
            for function in [attribute.func, *attribute.list.func]:
                if function.name:
                    body = body_of(graph, library[function.name])
                    yield from measured(body, library, name)


def body_of(graph, definition):
    """The body of a function called in `graph`, shapes inferred."""
    from tensorflow.python.framework import function_def_to_graph as converter

    shapes = _argument_shapes(definition)
    with graph.as_default():
        return converter.function_def_to_graph(definition, input_shapes=shapes)


def _argument_shapes(definition):
    shapes = []
    for index, _ in enumerate(definition.signature.input_arg):
        attributes = definition.arg_attr[index].attr
        shapes.append(attributes["_output_shapes"].list.shape[0])
    return shapes


def too_large(graph):
    """Tensors of `T x S` elements or more, or of a size that cannot be told."""
    import tensorflow as tf

    found, bodies = [], 0
    for name, kind, output in measured(graph):
        bodies += kind in ("While", "StatelessWhile")
        if output.dtype in (tf.variant, tf.resource):
            continue  # handles; what they hold is read by an operation of its own
        if kind == "Placeholder" and not output.consumers():
            continue  # a loop's condition is handed all its tensors and reads few
        shape = output.shape
        if not shape.is_fully_defined():
            found.append(f"{name} ({kind}): unknown shape {shape}")
        elif math.prod(shape.as_list()) >= PAIRS:
            found.append(f"{name} ({kind}): {shape}")
    return found, bodies


def check(graph):
    found, loops = too_large(graph)
    assert not found, "\n".join(found)
    assert loops >= 2, "no loop was walked: the test sees too little"


def test_the_walk_sees_the_dense_path():
    found, _ = too_large(trace("dense"))
    assert any("MatMul" in line or "Softmax" in line for line in found)


@pytest.mark.parametrize("name", MASKS)
def test_every_mask(name):
    check(trace("blockwise", mask=MASKS[name]()))


@pytest.mark.parametrize("score", SCORES)
def test_every_score(score):
    check(trace("blockwise", mask=masks.Causal(), score=score))


def test_unrolled_tiles_hold_no_whole_matrix_either(monkeypatch):
    """At 2,048 the 16 tiles of a causal mask are a segment each, without a loop."""
    monkeypatch.setattr(f"{__name__}.LENGTH", 2048)
    monkeypatch.setattr(f"{__name__}.PAIRS", 2048 * 2048)
    found, loops = too_large(trace("blockwise", mask=masks.Causal()))
    assert loops == 0
    assert not found, "\n".join(found)


def test_bias_and_dropout_in_nested_loops():
    seed = np.array([1, 2], "uint32")
    options = {"bias": tensor(LENGTH), "dropout": 0.1, "seed": seed}
    check(trace("blockwise", mask=masks.Causal(), groups=3, **options))
