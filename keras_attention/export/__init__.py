"""Models for serving: SavedModels with raw inputs, and files for other runtimes.

They are written under TensorFlow only: a model trained on another backend is loaded
from its `.keras` file under TensorFlow and exported there.
"""

from keras_attention.export.agreement import largest_difference
from keras_attention.export.litert import run_litert, write_litert
from keras_attention.export.onnx import run_onnx, write_onnx
from keras_attention.export.precision import in_float32
from keras_attention.export.saved_model import Endpoint, ask_alone, write

__all__ = [
    "Endpoint",
    "ask_alone",
    "in_float32",
    "largest_difference",
    "run_litert",
    "run_onnx",
    "write",
    "write_litert",
    "write_onnx",
]
