"""How far a file in another format is from the model it was written from."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import keras
import numpy as np

from keras_attention.errors import one_of, require
from keras_attention.export._tensors import by_name, named
from keras_attention.export.litert import run_litert
from keras_attention.export.onnx import run_onnx

RUNTIMES: dict[str, Callable] = {".tflite": run_litert, ".onnx": run_onnx}


def largest_difference(
    model: keras.Model, path: str | Path, inputs: Mapping[str, Any]
) -> float:
    """The largest absolute difference between a file's outputs and the model's.

    A file that was written without an error may still answer otherwise: this figure,
    over real inputs and more than one batch size, is what says that it does not.

    Args:
        model: The model.
        path: Its `.tflite` or `.onnx` file.
        inputs: Arrays by the names of the model's inputs.

    Returns:
        The difference over all outputs; NaN if one of the two gives NaN.

    Raises:
        ValueError: for another suffix, or outputs of other names or shapes.
        ImportError: without the runtime's extra, `litert` or `onnx`.
    """
    run = RUNTIMES[one_of("suffix", Path(path).suffix, RUNTIMES)]
    found = run(path, inputs)
    expected = {
        name: keras.ops.convert_to_numpy(x)
        for name, x in named(by_name(model)(dict(inputs), training=False)).items()
    }
    shapes = [
        {name: tuple(x.shape) for name, x in side.items()} for side in (expected, found)
    ]
    require(
        shapes[0] == shapes[1],
        f"The file must have the outputs of the model: {shapes[0]}.",
        outputs=shapes[1],
    )
    differences = [
        np.abs(expected[name].astype("float64") - found[name]).max(initial=0)
        for name in expected
    ]
    return float(np.max(differences))
