"""ONNX files: a model of tensors for runtimes other than TensorFlow."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import keras
import numpy as np

from keras_attention.errors import import_extra
from keras_attention.export._tensors import (
    as_arrays,
    endpoint,
    failed,
    require_tensorflow,
)
from keras_attention.export.precision import require_float32


def write_onnx(
    model: keras.Model, path: str | Path, opset_version: int | None = None
) -> Path:
    """Write a model as one `.onnx` file, by tf2onnx.

    The batch may have any size, and so may every other axis that is `None` in the
    model's inputs. Models of strings do not convert.

    Args:
        model: A functional or sequential model; it takes and gives numbers: tokenizers
            and image files stay outside.
        path: The file.
        opset_version: Version of ONNX's operations; by default tf2onnx's, which every
            runtime of the last years reads.

    Returns:
        The path.

    Raises:
        ValueError: on a backend other than TensorFlow, for a subclassed model, one in
            half precision (see `in_float32`), or one with operations that ONNX lacks;
            the first is named.
        ImportError: without the extra `onnx`.
    """
    require_tensorflow("An ONNX file")
    require_float32(model, "An ONNX file")
    tf2onnx = import_extra("tf2onnx", "onnx")
    checker = import_extra("onnx.checker", "onnx")
    import tensorflow as tf

    answer, signature = endpoint(model)
    function = tf.function(answer, input_signature=signature, autograph=False)
    try:
        content, _ = tf2onnx.convert.from_function(
            function,
            signature,
            opset=opset_version,
            custom_op_handlers={"Erfc": (_complementary_error, [])},
        )
    except Exception as error:  # tf2onnx raises whatever it meets
        raise failed("tf2onnx cannot convert the model.", error) from error
    try:
        checker.check_model(content)  # tf2onnx leaves in what it does not know
    except checker.ValidationError as error:
        reason = str(error).strip().splitlines()[0]
        raise ValueError(f"The model has no ONNX form. Received: {reason}") from error
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.SerializeToString())
    return path


def run_onnx(path: str | Path, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Outputs of a file of `write_onnx`, by name, by ONNX Runtime on the CPU.

    Args:
        path: The file.
        inputs: Arrays by the names of the model's inputs.

    Raises:
        ImportError: without the extra `onnx`.
        ValueError: for inputs of other names.
    """
    runtime = import_extra("onnxruntime", "onnx")
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    kinds = {x.name: _number(x.type) for x in session.get_inputs()}
    outputs = session.run(None, as_arrays(inputs, kinds))
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, outputs, strict=True))


def _number(kind: str) -> str:
    """NumPy's name of the numbers in `tensor(float)`, as ONNX Runtime calls them."""
    name = kind.removeprefix("tensor(").removesuffix(")")
    return {"float": "float32", "double": "float64"}.get(name, name)


def _complementary_error(graph, node, name, _) -> None:
    """`erfc`, which TensorFlow's exact GELU has and tf2onnx lacks, as `1 - erf`."""
    from tf2onnx import utils

    kinds = [graph.get_dtype(node.output[0])]
    shapes = [graph.get_shape(node.output[0])]
    inputs, outputs = node.input, node.output
    graph.remove_node(name)
    number = utils.map_onnx_to_numpy_type(kinds[0])
    one = graph.make_const(utils.make_name(name), np.ones((), number))
    error = graph.make_node("Erf", inputs, dtypes=kinds, shapes=shapes)
    graph.make_node(
        "Sub",
        [one.output[0], error.output[0]],
        outputs=outputs,
        dtypes=kinds,
        shapes=shapes,
    )
