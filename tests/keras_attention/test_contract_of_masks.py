"""The attention contract over every row of the catalogue: masks and empty rows."""

import numpy as np
import pytest
from keras import ops

from tests.backend import (
    mask_of,
    of_variables,
    tensor,
    to_numpy,
    value_and_gradients,
    with_mask,
)
from tests.contract import (
    EXACT,
    all_of,
    empty_output,
    everything,
    output_of,
    padding,
    paths,
    variants,
)
from tests.rows import S, T

# -------------------------------------------------------------------------------- masks


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
    allowed = _seen_without_masks(layer, tensors) & mask
    np.testing.assert_array_equal(to_numpy(scores) > 0, allowed)
    plain = to_numpy(layer(*tensors, attention_mask=mask))
    changed = [tensors[0], *(_changed_last(x) for x in tensors[1:])]
    found = to_numpy(layer(*changed, attention_mask=mask))
    np.testing.assert_allclose(found, plain, **EXACT)


def _seen_without_masks(layer, tensors):
    """Where a call without masks has scores: what the layer itself does not hide."""
    _, scores = layer(*tensors, return_attention_scores=True)
    seen = to_numpy(scores) > 0
    assert seen.any(-1).all()
    return seen


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
    allowed = _seen_without_masks(layer, tensors) & joined
    np.testing.assert_array_equal(to_numpy(scores) > 0, allowed)


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
    axis, earlier = row.inputs[0].index(T), np.arange(T - 1)
    dropping = [row.built(dropout=0.5, flash_attention=path) for path in paths(row)]
    calls = [*variants(row), *((layer, {"training": True}) for layer in dropping)]
    for layer, options in calls:
        options = options | {"use_causal_mask": True}
        before, after = (_seeded(layer, x, options) for x in (tensors, changed))
        np.testing.assert_allclose(
            after.take(earlier, axis), before.take(earlier, axis), **EXACT
        )
        if layer not in dropping:  # else the last position may be the one dropped
            assert not np.allclose(after, before, atol=1e-4)


def _seeded(layer, tensors, options):
    """The output of a call, the same scores dropped every time."""
    if layer.dropout:
        layer.seed_generator.state.assign([0, 1])
    return to_numpy(output_of(layer(*tensors, **options)))


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


# ---------------------------------------------------------- rows with nothing to attend


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


# --------------------------------------------------------------------- mask propagation


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
