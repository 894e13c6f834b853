"""LiteRT (TensorFlow Lite) files: a model of tensors for phones and small boards."""

import tempfile
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
from keras_attention.export.saved_model import write


def write_litert(model: keras.Model, path: str | Path) -> Path:
    """Write a model as one `.tflite` file of LiteRT's own operations.

    The batch may have any size, and so may every other axis that is `None` in the
    model's inputs. Where a recurrent layer is inside it
    needs `unroll=True` and a fixed length.

    Args:
        model: A functional or sequential model; it takes and gives numbers: tokenizers
            and image files stay outside.
        path: The file.

    Returns:
        The path.

    Raises:
        ValueError: on a backend other than TensorFlow, for a subclassed model, one in
            half precision (see `in_float32`), or one with operations that LiteRT lacks;
            they are named.
    """
    require_tensorflow("A LiteRT file")
    require_float32(model, "A LiteRT file")
    import tensorflow as tf

    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), {"answer": endpoint(model)}, track=[model])
        converter = tf.lite.TFLiteConverter.from_saved_model(
            folder, signature_keys=["answer"]
        )
        try:
            content = converter.convert()
        except Exception as error:  # its class is private to TensorFlow
            raise _one_line(error) from error
    path.write_bytes(content)
    return path


def run_litert(path: str | Path, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Outputs of a file of `write_litert`, by name, on this machine's CPU.

    Args:
        path: The file.
        inputs: Arrays by the names of the model's inputs.

    Raises:
        ImportError: without the extra `litert`.
        ValueError: for inputs of other names, or where LiteRT cannot run the file; it
            may say so of what its own converter wrote.
    """
    interpreter = import_extra("ai_edge_litert.interpreter", "litert")
    # By name: the order of inputs and outputs in the file is not that of the model.
    try:
        run = interpreter.Interpreter(model_path=str(path)).get_signature_runner()
        details = run.get_input_details()
    except (ValueError, RuntimeError) as error:
        what = f"LiteRT cannot load {Path(path).name}; ONNX may take the model."
        raise failed(what, error) from error
    kinds = {name: detail["dtype"] for name, detail in details.items()}
    arrays = as_arrays(inputs, kinds)
    try:
        return run(**arrays)
    except (ValueError, RuntimeError) as error:
        raise failed(f"LiteRT cannot run {Path(path).name}.", error) from error


def _one_line(error: Exception) -> ValueError:
    """The converter's pages as a line: which operations are missing, if they say so."""
    marks = ("TF Select ops: ", "Custom ops: ")
    lines = [line for line in str(error).splitlines() if line.startswith(marks)]
    if not lines:
        return failed("LiteRT's converter refuses the model; ONNX may take it.", error)
    return ValueError(
        "LiteRT has no such operations of its own; ONNX may have them. "
        f"Received: {'; '.join(lines)}."
    )
