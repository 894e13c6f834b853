"""LiteRT (TensorFlow Lite) files: a model of tensors for phones and small boards."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import keras
import numpy as np

from keras_attention.errors import import_extra
from keras_attention.export._tensors import endpoint, require_tensorflow
from keras_attention.export.saved_model import write


def write_litert(model: keras.Model, path: str | Path) -> Path:
    """Write a model as one `.tflite` file of LiteRT's own operations.

    The batch may have any size, and so may every other axis that is `None` in the
    model's inputs. Weights keep their precision. Where a recurrent layer is inside it
    needs `unroll=True` and a fixed length.

    Args:
        model: A functional or sequential model; it takes and gives numbers: tokenizers
            and image files stay outside.
        path: The file.

    Returns:
        The path.

    Raises:
        ValueError: on a backend other than TensorFlow, for a subclassed model, or one
            with operations that LiteRT lacks; they are named.
    """
    require_tensorflow("A LiteRT file")
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
    """
    interpreter = import_extra("ai_edge_litert.interpreter", "litert")
    # By name: the order of inputs and outputs in the file is not that of the model.
    run = interpreter.Interpreter(model_path=str(path)).get_signature_runner()
    wanted = run.get_input_details()
    arrays = {
        name: np.asarray(x, dtype=wanted[name]["dtype"]) for name, x in inputs.items()
    }
    return run(**arrays)


def _one_line(error: Exception) -> Exception:
    """The converter's pages, where they say which operations are missing, as a line."""
    marks = ("TF Select ops: ", "Custom ops: ")
    lines = [line for line in str(error).splitlines() if line.startswith(marks)]
    if not lines:
        return error
    return ValueError(
        "LiteRT has no such operations of its own; ONNX may have them. "
        f"Received: {'; '.join(lines)}."
    )
