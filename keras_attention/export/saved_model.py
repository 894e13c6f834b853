"""SavedModels that take raw input, and the proof that they answer alone."""

import base64
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import keras

from keras_attention.export._tensors import Endpoint, require_tensorflow


def write(
    directory: Path,
    endpoints: Mapping[str, Endpoint],
    track: Sequence[Any] = (),
) -> None:
    """Write a SavedModel with named endpoints.

    Args:
        directory: Where the SavedModel goes.
        endpoints: `name -> (function, [tf.TensorSpec, ...])`. A function returns a
            dict; without names callers would have to know `output_0`. One made by
            `tf.function` that has been traced goes as it is, with `None`. The first one
            is also `serving_default`.
        track: Layers and tokenizers whose variables and tables the functions use.

    Raises:
        ValueError: on a backend other than TensorFlow.
    """
    require_tensorflow("A SavedModel")
    archive = keras.export.ExportArchive()
    for part in track:
        archive.track(part)
    for name, (function, signature) in endpoints.items():
        archive.add_endpoint(name, function, input_signature=signature)
    archive.write_out(str(directory), verbose=False)


# Runs alone: `-I` leaves the current folder and PYTHONPATH out of the import path.
_ASK = """
import base64, json, os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
import tensorflow_text
sys.modules["keras_attention"] = sys.modules["keras_hub"] = None
directory, *endpoints = sys.argv[1:]
decoded = lambda x: base64.b64decode(x) if isinstance(x, str) else x
asked = json.load(sys.stdin)
batches = [
    batch if isinstance(batch, dict) else [decoded(x) for x in batch]
    for batch in asked["batches"]
]
model = tf.saved_model.load(directory)

def plain(x):
    if isinstance(x, list):
        return [plain(one) for one in x]
    return x.decode() if isinstance(x, bytes) else x

def answer(ask, batch):
    takes = ask.structured_input_signature[1]
    beside = {k: tf.constant(x) for k, x in asked["beside"].items() if k in takes}
    if not isinstance(batch, dict):
        (name,) = set(takes) - set(beside)
        batch = {name: batch}
    batch = {k: tf.constant(x, takes[k].dtype) for k, x in batch.items() if k in takes}
    found = ask(**batch, **beside)
    return {
        key: plain(value.numpy().tolist())
        for key, value in found.items() if value.shape.rank in asked["ranks"]
    }

json.dump(
    {e: [answer(model.signatures[e], batch) for batch in batches] for e in endpoints},
    sys.stdout,
)
"""


def ask_alone(
    directory: Path,
    batches: Sequence[Sequence[str | bytes | float] | Mapping[str, Any]],
    endpoints: Sequence[str],
    beside: Mapping[str, int] | None = None,
    ranks: Sequence[int] = (1,),
) -> dict[str, list[dict[str, list]]]:
    """Answers of a SavedModel in a fresh process without this package.

    The process may import TensorFlow and tensorflow_text only; this package and
    KerasHub are shut out.

    Args:
        directory: The SavedModel.
        batches: Inputs, a list per call: texts, the bytes of files, or numbers. Or
            by name: NumPy arrays of numbers or texts, of which each endpoint is
            given those that it takes.
        endpoints: Names of signatures; with lists, each takes one tensor `(B,)` of
            strings or of float32.
        beside: Further inputs, int32 scalars such as a seed, for the endpoints that
            take them.
        ranks: Of the outputs that are returned: 1 for one number or string per input,
            2 for a row of them.

    Returns:
        For each endpoint, per batch, every output of such a rank, as lists.

    Raises:
        RuntimeError: the process failed; its error output is in the message.
    """
    command = [sys.executable, "-I", "-c", _ASK, str(directory), *endpoints]
    encoded = [_encoded_batch(batch) for batch in batches]
    process = subprocess.run(
        command,
        input=json.dumps(
            {"batches": encoded, "beside": dict(beside or {}), "ranks": list(ranks)}
        ),
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode:
        raise RuntimeError(f"The SavedModel does not answer alone:\n{process.stderr}")
    return json.loads(process.stdout)


def _encoded_batch(batch: Any) -> Any:
    if isinstance(batch, Mapping):
        return {name: numbers.tolist() for name, numbers in batch.items()}
    return [_encoded(item) for item in batch]


def _encoded(item: str | bytes | float) -> str | float:
    """JSON knows no bytes."""
    if isinstance(item, float):
        return item
    content = item.encode() if isinstance(item, str) else item
    return base64.b64encode(content).decode()
