"""Attention scores of any model, taken from outside while it runs."""

import contextlib
import functools
import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np

from keras_attention.errors import require
from keras_attention.layers import AttentionCell
from keras_attention.ops import _backend

Tensor = Any

_FLAG = "return_attention_scores"


class Record:
    """Attention scores of the layers of one model, in the order they were called.

    Read it by position (`record[-1]`), by path (`record["decoder_0/cross_attention"]`)
    or by the end of a path, such as a layer's name, where only one path has it.

    What scores do and do not say: each row is a softmax, so a weight is a share, large
    only in comparison with its row. It says where information was read, not that the
    output would change without it, and a value can be small where its weight is large.

    Attributes:
        output: What the model returned, under `capture`.
        scores: Scores by path. A path joins the names of the layers from the model
            down; the second call of a layer adds `#2`, the third `#3`. They are tensors
            of the backend, `(B, T, S)` from single-head and `(B, N, T, S)` from
            multi-head layers.
        refused: Why a layer gave no scores, by path: there are none to give (linear
            attention), or its implementation never holds them.
    """

    def __init__(self) -> None:
        self.output: Any = None
        self.scores: dict[str, Tensor] = {}
        self.refused: dict[str, str] = {}
        self._calls: Counter[str] = Counter()

    def add(self, path: str, scores: Tensor) -> None:
        """Keep the scores of one more call of the layer at `path`."""
        self._calls[path] += 1
        count = self._calls[path]
        self.scores[path if count == 1 else f"{path}#{count}"] = scores

    @property
    def names(self) -> list[str]:
        """The paths, in the order of the calls."""
        return list(self.scores)

    def numpy(self, key: int | str) -> np.ndarray:
        """`record[key]` as a float32 array."""
        return keras.ops.convert_to_numpy(keras.ops.cast(self[key], "float32"))

    def __getitem__(self, key: int | str) -> Tensor:
        """The scores at a position, a path or the end of one.

        Raises:
            ValueError: for a key that fits no path, or several.
        """
        if isinstance(key, int):
            found = self.names[key : key + 1 or None]
        elif key in self.scores:
            found = [key]
        else:
            found = [name for name in self.scores if name.endswith(f"/{key}")]
        require(
            len(found) == 1,
            f"The key of a record must fit exactly one of {self.names}.",
            key=key,
            fitting=found,
        )
        return self.scores[found[0]]

    def __len__(self) -> int:
        return len(self.scores)

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def __repr__(self) -> str:
        lines = [f"  {name}: {tuple(x.shape)}" for name, x in self.scores.items()]
        lines += [f"  {name}: refused, {why}" for name, why in self.refused.items()]
        return "\n".join([f"Record of {len(self)} attention scores", *lines])


def capture(model: keras.layers.Layer, inputs: Any, **call_kwargs: Any) -> Record:
    """Run a model once and return the scores of every attention layer in it.

    For models that were never made to show them: nothing is rebuilt, at any depth, and
    the output is that of the plain call, bit by bit. Costs one more call of each
    attention layer. To call methods of a model instead, see `recording`.

    Args:
        model: A built or unbuilt Keras model (functional, sequential or subclassed),
            of our layers, Keras's or your own: a layer is seen if its `call` takes
            `return_attention_scores` and then returns scores second.
        inputs: What the model is called with; `training=False` is added.
        **call_kwargs: Further arguments of that call.

    Returns:
        A `Record` with `output` and `scores`.

    Raises:
        ValueError: if no attention layer that can give scores was called.

    Examples:
        >>> import keras, numpy as np
        >>> from keras_attention import layers
        >>> from keras_attention.interpretation import capture
        >>> x = keras.Input((5, 4))
        >>> y = layers.MultiHeadAttention(num_heads=2, key_dim=3, name="look")(x, x)
        >>> record = capture(keras.Model(x, y), np.ones((1, 5, 4), "float32"))
        >>> record
        Record of 1 attention scores
          look: (1, 2, 5, 5)
        >>> record.numpy("look").shape, tuple(record.output.shape)
        ((1, 2, 5, 5), (1, 5, 4))
    """
    if not model.built:  # blocks may make their layers only in their first call
        model(inputs, training=False, **call_kwargs)
    with recording(model) as record:
        record.output = model(inputs, training=False, **call_kwargs)
    require(
        len(record) > 0,
        "`model` must call an attention layer that gives scores: a layer whose `call` "
        f"takes `{_FLAG}`.",
        model=model.name,
        refused=record.refused,
    )
    return record


@contextlib.contextmanager
def recording(model: keras.layers.Layer) -> Iterator[Record]:
    """Record the attention scores of everything `model` runs inside the `with`.

    For calls that `capture` does not make: methods such as `encode` and `step`, several
    calls in a row, or a `tf.function` being traced, where the scores are symbolic
    tensors of that trace (a function traced before runs without Python and records
    nothing). Inside, attention layers compute twice; afterwards the model is as before,
    also after an error.

    A layer called inside a loop of the backend, such as the cell of a
    `keras.layers.RNN`, cannot be followed step by step: `AttentionCell` is recorded
    when its `alignments` are asked for, which `blocks.RecurrentDecoder` does.

    Args:
        model: A built model. One thread at a time may record it.

    Yields:
        A `Record` that fills while the model runs; its `output` stays `None`.

    Examples:
        >>> import keras, numpy as np
        >>> from keras_attention.interpretation import recording
        >>> layer = keras.layers.MultiHeadAttention(2, 3, name="look")
        >>> x = np.ones((1, 5, 4), "float32")
        >>> with recording(layer) as record:
        ...     first, second = layer(x, x), layer(x, x[:, :2])
        >>> record
        Record of 2 attention scores
          look: (1, 2, 5, 5)
          look#2: (1, 2, 5, 2)
    """
    record = Record()
    with contextlib.ExitStack() as stack:
        for path, layer in _attention_layers(model):
            if isinstance(layer, AttentionCell):
                method, wrap = "alignments", _recorded_alignments
            else:
                method, wrap = "call", _recorded_call
            wrapper = wrap(getattr(layer, method), path, record)
            stack.enter_context(replaced(layer, method, wrapper))
        yield record


# ---------------------------------------------------------------------- which layers


def _attention_layers(model) -> list[tuple[str, keras.layers.Layer]]:
    """Paths and layers to record: the innermost ones that can give scores.

    A block that passes the flag on to its layers is not one of them. The layer inside
    an `AttentionCell` is never called itself, so it does not count.
    """
    seen: set[int] = set()

    def walk(layer, path):
        if id(layer) in seen:
            return []
        seen.add(id(layer))
        if isinstance(layer, AttentionCell):
            return [(path, layer)]
        found = []
        for child in layer._layers:  # Keras's record of sublayers, lists included
            below = child.name if layer is model else f"{path}/{child.name}"
            found += walk(child, below)
        inner = any(not isinstance(x, AttentionCell) for _, x in found)
        if not inner and _FLAG in inspect.signature(layer.call).parameters:
            found.append((path, layer))
        return found

    return walk(model, model.name)


@contextlib.contextmanager
def replaced(layer, method: str, wrapper: Callable) -> Iterator[None]:
    """`wrapper` in front of a method of this one layer, past Keras's tracking."""
    attributes = vars(layer)
    before = attributes.get(method)
    attributes[method] = wrapper
    try:
        yield
    finally:
        del attributes[method]
        if before is not None:
            attributes[method] = before


# ------------------------------------------------------------------------- recorders


def _recorded_alignments(alignments: Callable, path: str, record: Record) -> Callable:
    @functools.wraps(alignments)
    def wrapper(*args, **kwargs):
        scores = alignments(*args, **kwargs)
        record.add(path, scores)
        return scores

    return wrapper


def _recorded_call(call: Callable, path: str, record: Record) -> Callable:
    signature = inspect.signature(call)

    def add(result, count_before):
        if len(record) > count_before:  # the layer inside has recorded itself
            return
        if isinstance(result, (tuple, list)) and len(result) > 1:
            record.add(path, result[1])
        else:
            record.refused[path] = "it returned nothing beside its output"

    @functools.wraps(call)
    def wrapper(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        count_before = len(record)
        if bound.arguments.get(_FLAG):
            result = call(*args, **kwargs)
            add(result, count_before)
            return result
        try:
            add(_call_with_scores(call, signature, bound), count_before)
        except ValueError as error:
            # A wrong call fails again below, where the caller sees it.
            record.refused[path] = str(error)
        # Last, so that whatever a call leaves behind is what this one leaves.
        return call(*args, **kwargs)

    return wrapper


def _call_with_scores(call, signature, bound):
    """The same call with the flag, without dropout, leaving the inputs' masks."""
    bound = inspect.BoundArguments(signature, bound.arguments.copy())
    bound.arguments[_FLAG] = True
    if "training" in signature.parameters:
        bound.arguments["training"] = False
    inputs = keras.tree.flatten([bound.args, bound.kwargs])
    hidden = [(x, mask) for x in inputs if (mask := _backend.get_mask(x)) is not None]
    try:
        return call(*bound.args, **bound.kwargs)
    finally:
        for x, mask in hidden:  # Keras's MultiHeadAttention clears them
            _backend.set_mask(x, mask)
