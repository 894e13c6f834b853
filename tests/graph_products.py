"""Multiply-adds of the matrix products in a traced TensorFlow graph.

TensorFlow's own profiler counts 0 for `Einsum` and for loop bodies, so the shapes are
read here: of every operation, and of every function the graph calls.
"""

import math
from typing import Any

import keras

from tests.keras_attention.ops.test_graph_size import body_of


def products_of(layer: Any, *inputs: Any, steps: int | None = None) -> int:
    """Multiply-adds of a built layer traced on these inputs.

    Args:
        layer: Takes the inputs by position.
        *inputs: Shapes, or structures of `tf.TensorSpec`s.
        steps: How often the bodies of loops run; `None` refuses loops.
    """
    import tensorflow as tf

    def call(*tensors):
        # As tensors: what a function does with a variable has no shape from outside.
        values = [(x, tf.convert_to_tensor(x)) for x in layer.variables]
        with keras.StatelessScope(state_mapping=values):
            return layer(*tensors)

    specs = [tf.TensorSpec(x) if isinstance(x, tuple) else x for x in inputs]
    traced = tf.function(call, input_signature=specs, autograph=False)
    graph = traced.get_concrete_function().graph
    library = {f.signature.name: f for f in graph.as_graph_def().library.function}
    return _count(graph, library, steps)


def _count(graph, library, steps) -> int:
    total = 0
    for operation in graph.get_operations():
        if operation.type in _PRODUCTS:
            total += _PRODUCTS[operation.type](operation)
        assert operation.type not in _UNKNOWN, f"{operation.type} is not counted here"
        for name in _called(operation):
            times = 1
            if operation.type in ("While", "StatelessWhile"):
                assert steps is not None, "a loop, of unknown length"
                times = steps
            body = body_of(graph, library[name])
            total += times * _count(body, library, steps)
    return total


def _called(operation) -> list[str]:
    attributes = operation.node_def.attr
    functions = [attributes[name].func.name for name in attributes]
    lists = [f.name for name in attributes for f in attributes[name].list.func]
    return [name for name in (*functions, *lists) if name]


def _shapes(operation) -> list[tuple[int, ...]]:
    return [tuple(x.shape.as_list()) for x in operation.inputs]


def _output(operation) -> int:
    return math.prod(operation.outputs[0].shape.as_list())


def _matmul(operation) -> int:
    left = _shapes(operation)[0]
    attributes = operation.node_def.attr
    swapped = attributes["transpose_a"].b or attributes["adj_x"].b
    return _output(operation) * left[-2 if swapped else -1]


def _einsum(operation) -> int:
    inputs, output = operation.get_attr("equation").decode().split("->")
    summed: dict[str, int] = {}
    for term, shape in zip(inputs.split(","), _shapes(operation), strict=True):
        before, _, after = term.partition("...")
        sizes = {**dict(zip(before, shape, strict=False))}
        sizes |= dict(zip(reversed(after), reversed(shape), strict=False))
        summed |= {x: size for x, size in sizes.items() if x not in output}
    return _output(operation) * math.prod(summed.values())


def _convolution(operation) -> int:
    kernel = _shapes(operation)[1]
    return _output(operation) // kernel[-1] * math.prod(kernel)


def _depthwise(operation) -> int:
    kernel = _shapes(operation)[1]
    return _output(operation) // math.prod(kernel[-2:]) * math.prod(kernel)


def _transposed(operation) -> int:
    # Its inputs: sizes of the output, kernel (..., out, in), what is spread.
    _, kernel, spread = _shapes(operation)
    return math.prod(spread) // spread[-1] * math.prod(kernel)


_PRODUCTS = {
    "MatMul": _matmul,
    "BatchMatMul": _matmul,
    "BatchMatMulV2": _matmul,
    "Einsum": _einsum,
    "Conv2D": _convolution,
    "Conv3D": _convolution,
    "DepthwiseConv2dNative": _depthwise,
    "Conv2DBackpropInput": _transposed,
}
_UNKNOWN = {"BatchMatMulV3", "Conv3DBackpropInputV2", "XlaDotV2", "XlaConvV2", "Conv"}
