"""The attention contract over every row of the catalogue: shapes, configs, paths.

The properties of masks stand in `test_contract_of_masks.py`. The table they follow is
that of `docs/attention-contract.md`. The end of a test run prints how many rows,
properties and cases there were.
"""

import copy
import inspect

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import layers
from tests.backend import BACKEND, compiled, tensorflow_only, to_numpy
from tests.catalogue import ROWS
from tests.contract import (
    EXACT,
    all_of,
    as_tuple,
    everything,
    output_of,
    padding,
    paths,
)
from tests.keras_attention import test_contract_of_masks
from tests.recurrent import Recurrent
from tests.rows import DYNAMIC, Row

# ------------------------------------------------------------------------ the catalogue


def test_every_public_layer_has_a_row():
    assert {row.layer for row in ROWS} == set(layers.registry())
    exported = {getattr(layers, name) for name in layers.__all__}
    public = {x for x in exported if inspect.isclass(x)} - {layers.BaseAttention}
    assert public == set(layers.registry().values())


def test_names_of_rows_are_unique():
    assert len({row.name for row in ROWS}) == len(ROWS)


def test_only_existing_properties_are_switched_off_with_a_reason():
    properties = {*globals(), *vars(test_contract_of_masks)}
    for row in ROWS:
        for name, reason in row.off.items():
            assert f"test_{name}" in properties, f"{row.name}: no property {name}"
            assert len(reason.split()) > 3, f"{row.name}: no reason for {name}"


def test_every_public_layer_is_configured_off_its_defaults():
    assert {row.layer for row in ROWS if row.configured} == set(layers.registry())


# ------------------------------------------------------------------------------- shapes


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_static_shapes_are_those_at_run_time(row):
    result = row.make()(*row.tensors(), **everything(row))
    shapes = [row.output, row.scores] if row.scores else [row.output]
    assert [x.shape for x in all_of(result)] == shapes
    for unknown in (set(), DYNAMIC):
        symbolic = [_symbolic(shape, unknown) for shape in row.inputs]
        expected = [_erased(shape, unknown) for shape in shapes]
        layer = row.make()
        assert tuple(output_of(layer(*symbolic)).shape) == expected[0]
        result = as_tuple(layer(*symbolic, **everything(row)))
        assert [tuple(x.shape) for x in result] == expected


def _erased(shape, unknown):
    return tuple(None if size in unknown else size for size in shape)


def _symbolic(shape, unknown=DYNAMIC):
    return keras.Input(batch_shape=_erased(shape, unknown))


def model_of(row: Row, layer) -> keras.Model:
    """A functional model that returns all the layer can return."""
    symbolic = [_symbolic(shape) for shape in row.inputs]
    result = layer(*symbolic, **everything(row))
    return keras.Model(symbolic, result)


def test_scores_can_be_asked_for_later(row):
    layer, tensors = row.built(), row.tensors()
    symbolic = [_symbolic(shape) for shape in row.inputs]
    first = layer(*symbolic)
    second, scores = layer(*symbolic, return_attention_scores=True)
    model = keras.Model(symbolic, [first, second, scores])
    first, second, scores = model(tensors)
    expected, expected_scores = layer(*tensors, return_attention_scores=True)
    np.testing.assert_allclose(to_numpy(first), to_numpy(expected), **EXACT)
    np.testing.assert_allclose(to_numpy(second), to_numpy(expected), **EXACT)
    np.testing.assert_allclose(to_numpy(scores), to_numpy(expected_scores), **EXACT)


# ------------------------------------------------------------------------------ configs


def _arguments(layer) -> dict:
    """Constructor arguments of our own classes and of `keras.layers.Layer`."""
    found = {"name": None, "dtype": None, "trainable": True}
    for cls in type(layer).__mro__[: type(layer).__mro__.index(keras.layers.Layer)]:
        if "__init__" not in vars(cls):
            continue
        parameters = inspect.signature(cls.__init__).parameters.values()
        found |= {
            p.name: p.default
            for p in parameters
            if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL) and p.name != "self"
        }
    return found


def test_config_has_every_argument(row):
    if row.configured is None:
        pytest.skip("another row of the same layer sets every argument")
    layer = row.configured()
    config = layer.get_config()
    for name, default in _arguments(layer).items():
        assert name in config, name
        assert config[name] != default, f"{name} is at its default in the catalogue"
    again = type(layer).from_config(config)
    assert again.get_config() == layer.get_config()


def test_from_config_leaves_the_config(row):
    layer = row.configured() if row.configured else row.make()
    config = layer.get_config()
    before = copy.deepcopy(config)
    type(layer).from_config(config)
    assert config == before


def test_serialization_name(row):
    layer = row.configured() if row.configured else row.make()
    layer = layer.cell if isinstance(layer, Recurrent) else layer
    name = keras.saving.get_registered_name(type(layer))
    assert name == f"keras_attention>{type(layer).__name__}"
    assert type(layer) is layers.registry()[row.layer]


def test_model_saves_and_reloads(row, tmp_path):
    model, tensors = model_of(row, row.built()), row.tensors()
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    results = zip(all_of(model(tensors)), all_of(again(tensors)), strict=True)
    for expected, found in results:
        np.testing.assert_allclose(found, expected, **EXACT)


def test_configured_model_saves_and_reloads(row, tmp_path):
    if row.configured is None or row.layer == "attention_cell":
        pytest.skip("another row of the same layer reloads with every argument set")
    model, tensors = model_of(row, row.configured()), row.tensors()
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    results = zip(all_of(model(tensors)), all_of(again(tensors)), strict=True)
    for expected, found in results:
        np.testing.assert_allclose(found, expected, **EXACT)


# ------------------------------------------------------------- what must change nothing


def test_asking_for_scores_changes_nothing(row):
    layer, tensors = row.built(), row.tensors()
    for masks in ({}, padding(row)):
        plain = layer(*tensors, **masks)
        output, _ = layer(*tensors, return_attention_scores=True, **masks)
        np.testing.assert_allclose(to_numpy(output), to_numpy(plain), **EXACT)


def test_asking_for_scores_leaves_the_losses(row):
    layer, tensors = row.built(activity_regularizer="l2"), row.tensors()
    for masks in ({}, padding(row)):
        layer(*tensors, **masks)
        plain = [to_numpy(loss) for loss in layer.losses]
        layer(*tensors, return_attention_scores=True, **masks)
        losses = [to_numpy(loss) for loss in layer.losses]
        assert min(plain) > 0
        np.testing.assert_allclose(losses, plain, rtol=1e-5)


def test_dropout_at_inference_changes_nothing(row):
    tensors = row.tensors()
    for masks in ({}, padding(row)):
        plain = row.built()(*tensors, **masks)
        dropping = row.built(dropout=0.5)(*tensors, training=False, **masks)
        np.testing.assert_allclose(to_numpy(dropping), to_numpy(plain), **EXACT)


def test_implementations_agree(row):
    tensors = row.tensors()
    for masks in ({}, padding(row)):
        expected = row.built(flash_attention=False)(*tensors, **masks)
        for path in (None, True):
            found = row.built(flash_attention=path)(*tensors, **masks)
            np.testing.assert_allclose(to_numpy(found), to_numpy(expected), **EXACT)


@pytest.mark.skipif(BACKEND == "torch", reason="Keras compiles nothing on PyTorch")
def test_eager_and_compiled_agree(row):
    _check_compiled(row, jit=False)


@tensorflow_only
@pytest.mark.slow
def test_eager_and_xla_agree(row):
    _check_compiled(row, jit=True)


def _check_compiled(row, jit):
    layer, tensors = row.built(), row.tensors()
    options = everything(row) | padding(row)
    call = compiled(lambda *tensors: layer(*tensors, **options), jit)
    results = zip(
        all_of(layer(*tensors, **options)), all_of(call(*tensors)), strict=True
    )
    for expected, found in results:
        # XLA and JAX fuse: rounding differs by more than between our own paths.
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_half_precision_is_finite_and_near_float32(row, dtype):
    expected = all_of(row.built()(*row.tensors(), **everything(row)))
    # Each of a few roundings in a row costs 2^-11 or 2^-8 of numbers of size 10.
    tolerance = {"float16": 2e-2, "bfloat16": 2e-1}[dtype]
    for path in paths(row):
        options = {} if path is None else {"flash_attention": path}
        layer = row.built(dtype=dtype, **options)
        tensors = [ops.cast(x, dtype) for x in row.tensors()]
        result = layer(*tensors, **everything(row))
        for x in as_tuple(result):
            assert keras.backend.standardize_dtype(x.dtype) == dtype
        for found, exact in zip(all_of(result), expected, strict=True):
            assert np.isfinite(found).all()
            np.testing.assert_allclose(found, exact, rtol=tolerance, atol=tolerance)


@tensorflow_only
@pytest.mark.slow
def test_saved_model_gives_the_same(row, tmp_path):
    import tensorflow as tf

    model, tensors = model_of(row, row.built()), row.tensors()
    model.export(tmp_path / "saved", verbose=False)
    loaded = tf.saved_model.load(tmp_path / "saved")  # its variables die with it
    served = loaded.serve(tensors)
    for expected, found in zip(all_of(model(tensors)), all_of(served), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
