"""The attention contract: every property over every row of the catalogue.

The table of properties is the one of `docs/attention-contract.md`. The end of a test run
prints how many rows, properties and cases there were.
"""

import inspect

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import layers
from tests.backend import (
    BACKEND,
    compiled,
    mask_of,
    of_variables,
    tensor,
    tensorflow_only,
    to_numpy,
    value_and_gradients,
    with_mask,
)
from tests.catalogue import DYNAMIC, ROWS, Recurrent, Row, S, T

# Two float32 computations of the same thing, in another order.
EXACT = {"rtol": 0, "atol": 1e-6}
PATHS = (None, True, False)


@pytest.fixture(params=ROWS, ids=lambda row: row.name)
def row(request) -> Row:
    """Each row, unless it switches off the property that asks."""
    name = request.node.originalname.removeprefix("test_")
    if name in request.param.off:
        pytest.skip(request.param.off[name])
    return request.param


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
    return [to_numpy(x) for x in _as_tuple(result)]


def _as_tuple(result) -> tuple:
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


def empty_output(row: Row, layer) -> np.ndarray:
    """What a position with nothing to attend gives."""
    return to_numpy(row.empty_output(layer))


# ------------------------------------------------------------------------ the catalogue


def test_every_public_layer_has_a_row():
    assert {row.layer for row in ROWS} == set(layers.registry())
    exported = {getattr(layers, name) for name in layers.__all__}
    public = {x for x in exported if inspect.isclass(x)} - {layers.BaseAttention}
    assert public == set(layers.registry().values())


def test_names_of_rows_are_unique():
    assert len({row.name for row in ROWS}) == len(ROWS)


def test_only_existing_properties_are_switched_off_with_a_reason():
    for row in ROWS:
        for name, reason in row.off.items():
            assert f"test_{name}" in globals(), f"{row.name}: no property {name}"
            assert len(reason.split()) > 3, f"{row.name}: no reason for {name}"


def test_every_public_layer_is_configured_off_its_defaults():
    assert {row.layer for row in ROWS if row.configured} == set(layers.registry())


# -------------------------------------------------------------------------------- shapes


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
        result = _as_tuple(layer(*symbolic, **everything(row)))
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


# ------------------------------------------------------------------------------- configs


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
        for x in _as_tuple(result):
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
    served = tf.saved_model.load(tmp_path / "saved").serve(tensors)
    for expected, found in zip(all_of(model(tensors)), all_of(served), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


# --------------------------------------------------------------------------------- masks


def test_float_attention_mask_is_refused(row):
    layer = row.make()
    with pytest.raises(ValueError, match="`attention_bias`"):
        layer(*row.tensors(), attention_mask=np.ones((T, S), "float32"))


def test_float_padding_mask_is_refused(row):
    for name, mask in padding(row).items():
        with pytest.raises(ValueError, match="`attention_bias`"):
            row.make()(*row.tensors(), **{name: mask.astype("float32")})


def test_attention_mask_ranks_agree(row):
    layer, tensors = row.built(), row.tensors()
    mask = _some_mask()
    expected = all_of(layer(*tensors, attention_mask=mask, **everything(row)))
    wider = [mask[None], np.repeat(mask[None], row.output[0], 0), mask[None, None]]
    for same in [mask.astype("int32"), *wider]:
        found = all_of(layer(*tensors, attention_mask=same, **everything(row)))
        for x, y in zip(found, expected, strict=True):
            np.testing.assert_allclose(x, y, **EXACT)


def _some_mask() -> np.ndarray:
    """A `(T, S)` mask, its row 1 empty."""
    mask = np.random.default_rng(5).integers(0, 2, (T, S)).astype(bool)
    mask[:, 2], mask[1] = True, False
    return mask


def test_attention_mask_keeps_where_true(row):
    """C14: True means keep, and nothing else reaches the output."""
    layer, tensors = row.built(), row.tensors()
    mask = np.ones((T, S), bool)
    mask[:, -1] = False
    _, scores = layer(*tensors, attention_mask=mask, return_attention_scores=True)
    assert (to_numpy(scores)[..., -1] == 0).all()
    plain = to_numpy(layer(*tensors, attention_mask=mask))
    changed = [tensors[0], *(_changed_last(x) for x in tensors[1:])]
    found = to_numpy(layer(*changed, attention_mask=mask))
    np.testing.assert_allclose(found, plain, **EXACT)


def _changed_last(x):
    """`x` with another last position of the axis before the features."""
    numbers = to_numpy(x).copy()
    numbers[..., -1, :] += 5
    return ops.convert_to_tensor(numbers)


def test_masks_are_and_ed(row):
    layer, tensors = row.built(), row.tensors()
    mask, keys = _some_mask(), row.key_padding()
    causal = np.tril(np.ones((T, S), bool), S - T)
    lead = [1] * (len(row.scores) - 2 - (keys.ndim - 1))
    joined = np.reshape(keys, (*keys.shape[:-1], *lead, 1, S)) & mask & causal
    _, scores = layer(
        *tensors,
        attention_mask=mask,
        use_causal_mask=True,
        value_mask=keys,
        return_attention_scores=True,
    )
    assert (to_numpy(scores)[~np.broadcast_to(joined, row.scores)] == 0).all()


def test_score_rows_sum_to_one_or_zero(row):
    """Also in training: what is returned are the scores before dropout."""
    tensors = row.tensors()
    drops = "dropout_at_inference_changes_nothing" not in row.off
    layer = row.built(dropout=0.5) if drops else row.built()
    for masks in ({}, padding(row)):
        options = {"training": True} if drops else {}
        _, scores = layer(*tensors, return_attention_scores=True, **options, **masks)
        sums = to_numpy(scores).sum(-1)
        np.testing.assert_allclose(sums, np.round(sums), rtol=0, atol=1e-5)
        assert set(np.unique(np.round(sums))) <= {0, 1}
        assert (np.round(sums) == 1).any()


def test_causal_is_aligned_to_the_end(row):
    layer, tensors = row.built(), row.tensors()
    mask = np.tril(np.ones((T, S), bool), S - T)
    options = everything(row)
    found = all_of(layer(*tensors, use_causal_mask=True, **options))
    expected = all_of(layer(*tensors, attention_mask=mask, **options))
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, **EXACT)
    assert (found[1][..., ~mask] == 0).all()


def test_no_path_sees_the_future(row):
    """C09: the causal flag holds with scores, dropout and on every path."""
    tensors = row.tensors()
    changed = [tensors[0], *(_changed_last(x) for x in tensors[1:])]
    for layer, options in variants(row):
        options = options | {"use_causal_mask": True}
        before = to_numpy(output_of(layer(*tensors, **options)))
        after = to_numpy(output_of(layer(*changed, **options)))
        axis = row.inputs[0].index(T)
        earlier = np.arange(T - 1)
        np.testing.assert_allclose(
            after.take(earlier, axis), before.take(earlier, axis), **EXACT
        )
        assert not np.allclose(after, before, atol=1e-4)


def test_attention_bias_adds_to_the_logits(row):
    layer, tensors = row.built(), row.tensors()
    bias = to_numpy(tensor(T, S, seed=9))
    options = {"return_attention_scores": True}
    plain = np.log(np.maximum(all_of(layer(*tensors, **options))[1], 1e-30))
    for path in paths(row):
        layer = row.built(flash_attention=path)
        output, scores = all_of(layer(*tensors, attention_bias=bias, **options))
        shift = np.log(np.maximum(scores, 1e-30)) - plain - bias
        allowed = plain > -60
        shift = np.ma.array(shift, mask=~allowed)
        # The logits moved by the bias and by one constant for each row.
        spread = shift.max(-1) - shift.min(-1)
        assert float(np.ma.filled(spread, 0).max()) < 1e-3
        without_scores = to_numpy(layer(*tensors, attention_bias=bias))
        np.testing.assert_allclose(without_scores, output, **EXACT)


# ----------------------------------------------------------- rows with nothing to attend


def _check_empty(row, rows, **masks):
    """Rows `rows` of output and scores are empty, and so is their gradient."""
    tensors = row.tensors()
    for layer, options in variants(row):
        result = all_of(layer(*tensors, **options, **masks))
        expected = np.broadcast_to(empty_output(row, layer), result[0].shape)
        np.testing.assert_allclose(rows(result[0]), rows(expected), **EXACT)
        if options:
            assert (_rows_of_scores(row, rows, result[1]) == 0).all()

        def attended(*tensors, layer=layer, options=options):
            return rows(output_of(layer(*tensors, **options, **masks)))

        _, gradients = value_and_gradients(attended, *tensors)
        for gradient in gradients:
            assert (gradient == 0).all()


def _rows_of_scores(row, rows, scores):
    """The scores of `rows`, their head axis moved out of the way."""
    if scores.ndim > len(row.inputs[0]):
        scores = np.moveaxis(scores, -3, 0)
        return np.stack([rows(head) for head in scores])
    return rows(scores)


def test_hidden_query_rows_are_zero(row):
    def first_position_padded(x):
        return x[..., 1, :] if x.ndim > 3 and row.inputs[0][1] != T else x[:, 1]

    _check_empty(row, first_position_padded, **{row.query_mask: row.query_padding()})


def test_sequences_without_keys_are_zero(row):
    mask = row.key_padding()
    mask[0] = False
    if row.layer == "attention_cell":
        _check_cell_without_keys(row, mask)
    else:
        _check_empty(row, lambda x: x[0], **{row.key_mask: mask})


def _check_cell_without_keys(row, mask):
    """The context is 0; the cell itself goes on."""
    layer = row.built()
    output, scores = layer(*row.tensors(), value_mask=mask, **everything(row))
    width = row.inputs[1][-1]
    assert (to_numpy(scores)[0] == 0).all()
    assert (to_numpy(output)[0, :, -width:] == 0).all()


def test_empty_rows_of_an_attention_mask_are_zero(row):
    def second_position(x):
        return x[..., 1, :] if x.ndim > 3 and row.inputs[0][1] != T else x[:, 1]

    _check_empty(row, second_position, attention_mask=_some_mask())


def test_nan_at_hidden_positions_goes_nowhere(row):
    masks = padding(row)
    clean = row.tensors()
    dirty = list(clean)
    hides = dict.fromkeys(range(1, len(clean)) or [0], row.key_mask)
    if row.query_mask:
        hides[0] = row.query_mask
    for index, name in hides.items():
        dirty[index] = _poisoned(clean[index], masks[name])
    expected = None
    for layer, options in variants(row):

        def attended(*tensors, layer=layer, options=options):
            return output_of(layer(*tensors, **options, **masks))

        function, variables = of_variables(layer, attended)
        if expected is None:
            value, gradients = value_and_gradients(function, *variables, *clean)
            expected = [value, *gradients]
        value, gradients = value_and_gradients(function, *variables, *dirty)
        for found, exact in zip([value, *gradients], expected, strict=True):
            np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-5)


def _poisoned(x, mask):
    """`x` with NaN, Inf and -Inf in turn where the mask is False."""
    numbers = to_numpy(x).copy()
    poison = np.resize([np.nan, np.inf, -np.inf], numbers.shape)
    return ops.convert_to_tensor(np.where(mask[..., None], numbers, poison), x.dtype)


# ---------------------------------------------------------------------- mask propagation


def test_explicit_mask_replaces_the_hidden_one(row):
    layer = row.built()
    for name, mask in padding(row).items():
        index = 0 if name == row.query_mask else row.hidden
        other = ~mask
        tensors = row.tensors()
        expected = all_of(layer(*tensors, **{name: mask}, **everything(row)))
        differs = all_of(layer(*tensors, **{name: other}, **everything(row)))
        assert not np.allclose(expected[0], differs[0], atol=1e-4)
        with_mask(tensors[index], mask)
        hidden = all_of(layer(*tensors, **everything(row)))
        replaced = all_of(layer(*tensors, **{name: other}, **everything(row)))
        for found, exact in zip(hidden, expected, strict=True):
            np.testing.assert_allclose(found, exact, **EXACT)
        for found, exact in zip(replaced, differs, strict=True):
            np.testing.assert_allclose(found, exact, **EXACT)


def test_output_carries_the_query_mask(row):
    tensors, mask = row.tensors(), row.query_padding()
    with_mask(tensors[0], mask)
    for options in ({}, everything(row)):
        output = output_of(row.built()(*tensors, **options))
        np.testing.assert_array_equal(mask_of(output), mask)


def test_masks_of_the_inputs_stay(row):
    """C15: no layer clears the mask of the tensors it is given."""
    tensors = row.tensors()
    masks = [row.query_padding()] if row.key_mask != "mask" else [row.key_padding()]
    if len(tensors) > 1:
        masks.append(row.key_padding())
    for x, mask in zip(tensors, masks, strict=False):
        with_mask(x, mask)
    layer = row.built()
    first = to_numpy(layer(*tensors))
    second = to_numpy(layer(*tensors))
    np.testing.assert_array_equal(first, second)
    for x, mask in zip(tensors, masks, strict=False):
        np.testing.assert_array_equal(mask_of(x), mask)
