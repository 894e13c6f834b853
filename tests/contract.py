"""What the properties of the contract share: paths, flags and masks of a row."""

import keras
import numpy as np
from keras import ops

from tests.backend import of_variables, to_numpy, value_and_gradients
from tests.rows import Row

# Two float32 computations of the same thing, in another order.
EXACT = {"rtol": 0, "atol": 1e-6}
PATHS = (None, True, False)


def paths(row: Row) -> tuple:
    """The values of `flash_attention` to go through."""
    return (None,) if "implementations_agree" in row.off else PATHS


def variants(row: Row) -> list[tuple[keras.layers.Layer, dict]]:
    """Layer and call options of the chosen path, the blockwise one and the scores."""
    found = [(row.built(), {})]
    if True in paths(row):
        found.append((row.built(flash_attention=True), {}))
    if row.scores:
        found.append((row.built(), {"return_attention_scores": True}))
    return found


def output_of(result):
    """The output, whether or not scores came with it."""
    return result[0] if isinstance(result, tuple) else result


def all_of(result) -> list[np.ndarray]:
    """Output and scores as arrays."""
    return [to_numpy(x) for x in as_tuple(result)]


def as_tuple(result) -> tuple:
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def everything(row: Row) -> dict:
    """The flag that asks for all a row can return."""
    return {"return_attention_scores": True} if row.scores else {}


def padding(row: Row) -> dict:
    """Masks for whatever the row can hide."""
    given = {row.query_mask: row.query_padding} if row.query_mask else {}
    if row.key_mask:
        given[row.key_mask] = row.key_padding
    return {name: make() for name, make in given.items()}


def check_stays_in_padding(layer, call, tensors, masks) -> None:
    """NaN where `masks` hide `tensors` changes no output, input or weight gradient."""
    function, variables = of_variables(layer, call)
    dirty = [
        np.where(mask[..., None], to_numpy(x), np.float32(np.nan))
        for x, mask in zip(tensors, masks, strict=True)
    ]
    expected, found = (
        value_and_gradients(function, *variables, *map(ops.convert_to_tensor, given))
        for given in (tensors, dirty)
    )
    for x, exact in zip(
        (found[0], *found[1]), (expected[0], *expected[1]), strict=True
    ):
        np.testing.assert_allclose(x, exact, **EXACT)


def empty_output(row: Row, layer) -> np.ndarray:
    """What a position with nothing to attend gives."""
    return to_numpy(row.empty_output(layer))
