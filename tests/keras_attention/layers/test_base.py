"""The call contract all two-input layers share: the named failures of others."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_attention import layers, masks
from keras_attention.layers.base import ScoresOnRequest
from tests.backend import (
    BACKEND,
    mask_of,
    tensor,
    to_numpy,
    value_and_gradients,
    with_mask,
)

EXACT = {"rtol": 0, "atol": 1e-6}


def embedded(ids, size=8):
    """Embeddings of ids, 0 = padding, with their hidden mask."""
    keras.utils.set_random_seed(1)
    layer = keras.layers.Embedding(10, size, mask_zero=True)
    return layer, layer(np.array(ids))


def attentions():
    """The layers that need no option."""
    return [layers.DotProductAttention(), layers.MultiHeadAttention(2, 4)]


# ------------------------------------------------------------------- masks and numerics


@pytest.mark.parametrize("dropout", [0.0, 0.1])
def test_c02_output_is_the_same_with_scores_and_with_dropout(dropout):
    """C02: on every row, the empty one and padded queries included."""
    x = tensor(1, 3, 4)
    mask = np.array([[1, 1, 1], [0, 0, 0], [1, 1, 0]], bool)
    plain = layers.MultiHeadAttention(2, 3)
    other = layers.MultiHeadAttention(2, 3, dropout=dropout)
    expected = plain(x, x, attention_mask=mask)
    other(x, x)
    other.set_weights(plain.get_weights())
    for call in ({}, {"return_attention_scores": True}):
        found = other(x, x, attention_mask=mask, training=False, **call)
        found = found[0] if call else found
        np.testing.assert_allclose(to_numpy(found), to_numpy(expected), **EXACT)


def test_c02_padded_query_of_an_embedding():
    _, x = embedded([[1, 2, 0]])
    for layer in attentions():
        plain = to_numpy(layer(x, x))
        output, scores = layer(x, x, return_attention_scores=True)
        np.testing.assert_allclose(to_numpy(output), plain, **EXACT)
        assert (plain[0, 2] == 0).all()
        assert (to_numpy(scores)[..., 2, :] == 0).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_c05_masked_weights_are_zero_in_every_dtype(dtype):
    """C05: no constant overflows."""
    if dtype == "float64" and BACKEND == "jax":
        pytest.skip("JAX holds float64 only when x64 is enabled")
    layer = layers.DotProductAttention(dtype=dtype)
    _, scores = layer(
        ops.zeros((1, 1, 2), dtype=dtype),
        ops.zeros((1, 3, 2), dtype=dtype),
        value_mask=np.array([[1, 1, 0]]),
        return_attention_scores=True,
    )
    assert keras.backend.standardize_dtype(scores.dtype) == dtype
    assert to_numpy(scores).tolist() == [[[0.5, 0.5, 0.0]]]


def test_c07_causal_is_aligned_to_the_end():
    """C07: the newest of cached queries sees all keys."""
    _, scores = layers.DotProductAttention()(
        ops.zeros((1, 1, 2)),
        ops.zeros((1, 4, 2)),
        use_causal_mask=True,
        return_attention_scores=True,
    )
    assert to_numpy(scores).tolist() == [[[0.25] * 4]]


def test_c08_more_queries_than_keys():
    """C08: the first rows have no key: weights and outputs are 0."""
    output, scores = layers.DotProductAttention()(
        ops.zeros((1, 4, 2)),
        ops.ones((1, 2, 2)),
        use_causal_mask=True,
        return_attention_scores=True,
    )
    assert to_numpy(scores)[0].tolist() == [[0, 0], [0, 0], [1, 0], [0.5, 0.5]]
    assert to_numpy(output)[0].tolist() == [[0, 0], [0, 0], [1, 1], [1, 1]]


@pytest.mark.parametrize("call", [{}, {"return_attention_scores": True}], ids=str)
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("shape", [(2, 4, 8), (2, 4, 1, 8)], ids=str)
def test_c09_causal_flag_holds_on_every_path(call, training, shape):
    """C09: the future never leaks, in training with dropout neither."""
    layer = layers.MultiHeadAttention(2, 3, dropout=0.1, seed=1, attention_axes=1)
    x, later = (to_numpy(tensor(*shape)).copy() for _ in range(2))
    later[:, 3] += 5
    layer(x, x)
    state = to_numpy(layer.seed_generator.state)
    outputs = []
    for numbers in map(ops.convert_to_tensor, (x, later)):
        layer.seed_generator.state.assign(state)  # the same scores are dropped
        result = layer(
            numbers, numbers, use_causal_mask=True, training=training, **call
        )
        outputs.append(to_numpy(result[0] if call else result))
        if call:
            above = np.triu(np.ones((4, 4), bool), 1)
            assert (to_numpy(result[1])[..., above] == 0).all()
    np.testing.assert_allclose(outputs[0][:, :3], outputs[1][:, :3], **EXACT)
    assert not np.allclose(outputs[0][:, 3], outputs[1][:, 3], atol=1e-3)


def test_c10_causal_with_left_padding():
    """C10: padded queries have nothing to attend; real ones are as without padding."""
    keys = np.array([[0, 0, 1, 1]], bool)
    x = tensor(1, 4, 3)
    for layer in attentions():
        short = to_numpy(layer(x[:, 2:], x[:, 2:], use_causal_mask=True))
        output, scores = layer(
            x, x, value_mask=keys, use_causal_mask=True, return_attention_scores=True
        )
        np.testing.assert_allclose(to_numpy(output)[:, 2:], short, **EXACT)
        assert (to_numpy(output)[:, :2] == 0).all()
        assert (to_numpy(scores)[..., :2, :] == 0).all()
    zeros = ops.zeros((1, 4, 2))
    _, scores = layers.DotProductAttention()(
        zeros,
        zeros,
        value_mask=keys,
        use_causal_mask=True,
        return_attention_scores=True,
    )
    expected = [[0] * 4, [0] * 4, [0, 0, 1, 0], [0, 0, 0.5, 0.5]]
    assert to_numpy(scores)[0].tolist() == expected


def test_c12_nan_at_padded_positions_stays_there():
    """C12: its weight is 0, and 0 * NaN is NaN."""
    value = ops.convert_to_tensor([[[1.0, 1.0], [1.0, 1.0], [np.nan, np.nan]]])
    keys = np.array([[1, 1, 0]], bool)
    query = ops.ones((1, 1, 2))
    output, scores = layers.DotProductAttention()(
        query, value, value_mask=keys, return_attention_scores=True
    )
    assert to_numpy(scores).tolist() == [[[0.5, 0.5, 0.0]]]
    assert to_numpy(output).tolist() == [[[1.0, 1.0]]]
    _, gradients = value_and_gradients(
        lambda q, v: layers.DotProductAttention()(q, v, value_mask=keys), query, value
    )
    assert all(np.isfinite(gradient).all() for gradient in gradients)


def test_c13_dropout_is_off_at_inference_and_not_in_the_scores():
    """C13: (a) two calls agree; (b) the rows of returned scores sum to 1."""
    x = tensor(2, 6, 8)
    layer = layers.MultiHeadAttention(2, 4, dropout=0.5, seed=3)
    first, second = (to_numpy(layer(x, x, training=False)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    output, scores = layer(x, x, training=True, return_attention_scores=True)
    np.testing.assert_allclose(to_numpy(scores).sum(-1), 1, atol=1e-5)
    assert not np.allclose(to_numpy(output), first, atol=1e-2)
    again = layer(x, x, training=True)
    assert not np.allclose(to_numpy(again), to_numpy(output), atol=1e-2)


def test_c14_true_means_may_attend():
    """C14: the first row of a lower triangle sees the first key."""
    mask = np.tril(np.ones((4, 4), bool))
    zeros = ops.zeros((1, 4, 2))
    for given in (mask, mask.astype("int32"), mask[None], mask[None, None]):
        _, scores = layers.DotProductAttention()(
            zeros, zeros, attention_mask=given, return_attention_scores=True
        )
        assert to_numpy(scores)[0, 0].tolist() == [1, 0, 0, 0]


# --------------------------------------------------------------------- mask propagation


def test_c15_eager_calls_leave_the_mask_of_the_input():
    """C15 (a): a second branch attends what the first did."""
    embedding, x = embedded([[3, 4, 0, 0]])
    for layer in attentions():
        first, second = (to_numpy(layer(x, x)) for _ in range(2))
        short = embedding(np.array([[3, 4]]))
        expected = to_numpy(layer(short, short))
        for output in (first, second):
            np.testing.assert_allclose(output[:, :2], expected, **EXACT)
    assert mask_of(x).tolist() == [[True, True, False, False]]


@pytest.mark.parametrize("branches", [2, 3])
def test_c15_branches_of_a_functional_model(branches):
    """C15 (b): every branch equals the unpadded reference."""
    ids = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(10, 8, mask_zero=True)(ids)
    outputs = [layers.MultiHeadAttention(2, 4)(x, x) for _ in range(branches)]
    model = keras.Model(ids, outputs)
    padded = model(np.array([[3, 4, 0, 0]]))
    expected = model(np.array([[3, 4]]))
    for found, exact in zip(padded, expected, strict=True):
        np.testing.assert_allclose(to_numpy(found)[:, :2], to_numpy(exact), **EXACT)


def test_c15_pooling_after_attention():
    """C15 (c): the mean is over the two real tokens."""
    embedding, x = embedded([[3, 4, 0, 0]])
    layers.MultiHeadAttention(2, 4)(x, x)
    pooled = to_numpy(layers.MaskedMeanPooling()(x))
    exact = to_numpy(embedding(np.array([[3, 4]]))).mean(1)
    np.testing.assert_allclose(pooled, exact, **EXACT)


class Block(keras.layers.Layer):
    """A user's layer that owns attention and builds it on its first call."""

    def __init__(self, pass_the_mask):
        super().__init__()
        self.attention = layers.MultiHeadAttention(2, 4)
        self.supports_masking = True
        self.pass_the_mask = pass_the_mask

    def call(self, x, mask=None):
        options = {"query_mask": mask, "value_mask": mask} if self.pass_the_mask else {}
        return self.attention(x, x, **options)


@pytest.mark.parametrize("pass_the_mask", [False, True])
def test_c17_first_call_of_a_wrapper_knows_the_mask(pass_the_mask):
    """C17: the call that builds the block gives what later ones give."""
    embedding, x = embedded([[3, 4, 0, 0]])
    block = Block(pass_the_mask)
    outputs = [to_numpy(block(x)) for _ in range(3)]
    expected = to_numpy(block(embedding(np.array([[3, 4]]))))
    for output in outputs:
        np.testing.assert_allclose(output[:, :2], expected, **EXACT)


def test_c20_mask_comes_from_ids_not_from_vectors():
    """C20: [1, -1] sums to zero and is real; after a position code nothing is zero."""
    embedding = keras.layers.Embedding(10, 2, mask_zero=True)
    embedding.build()
    table = np.zeros((10, 2), "float32")
    table[[5, 9]] = [1, -1]
    embedding.set_weights([table])
    x = layers.SinusoidalPositionEncoding()(embedding(np.array([[5, 9, 0]])))
    assert mask_of(x).tolist() == [[True, True, False]]
    _, scores = layers.DotProductAttention()(x, x, return_attention_scores=True)
    assert (to_numpy(scores)[0, :2, :2] > 0).all()
    assert (to_numpy(scores)[0, :, 2] == 0).all()


@pytest.mark.parametrize(
    ("layer", "size", "heads"),
    [
        (layers.DotProductAttention(), 7, ()),
        (layers.GeneralAttention(), 7, ()),
        (layers.AdditiveAttention(3), 7, ()),
        (layers.KernelAttention(), 7, ()),
        (layers.MultiHeadAttention(2, 3), 5, (2,)),
        (layers.MultiHeadAttention(2, 3, output_shape=7), 7, (2,)),
    ],
    ids=lambda x: x.name if isinstance(x, keras.layers.Layer) else "",
)
def test_c30_value_size_differs_from_key_size(layer, size, heads, tmp_path):
    """C30: static shapes are those at run time, and after a reload."""
    tensors = [tensor(2, 8, size) for size in (5, 7, 5)]
    symbolic = [keras.Input(x.shape[1:]) for x in tensors]
    output, scores = layer(*symbolic, return_attention_scores=True)
    assert tuple(output.shape) == (None, 8, size)
    assert tuple(scores.shape) == (None, *heads, 8, 8)
    model = keras.Model(symbolic, [output, scores])
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    for found in (layer(*tensors, return_attention_scores=True), again(tensors)):
        assert tuple(found[0].shape) == (2, 8, size)
        assert tuple(found[1].shape) == (2, *heads, 8, 8)
        for x, y in zip(found, model(tensors), strict=True):
            np.testing.assert_allclose(to_numpy(x), to_numpy(y), **EXACT)


# ----------------------------------------------------------------------- smaller things


def test_key_mask_is_and_ed_with_the_value_mask():
    x, layer = tensor(1, 4, 3), layers.DotProductAttention()
    _, scores = layer(
        x,
        x,
        x,
        value_mask=np.array([[1, 1, 0, 1]]),
        key_mask=np.array([[1, 1, 1, 0]]),
        return_attention_scores=True,
    )
    hidden = (to_numpy(scores) == 0).all((0, 1))
    assert hidden.tolist() == [False, False, True, True]


def test_key_mask_alone_hides_keys():
    x, layer = tensor(1, 4, 3), layers.DotProductAttention()
    _, scores = layer(
        x, x, key_mask=np.array([[1, 1, 1, 0]]), return_attention_scores=True
    )
    assert (to_numpy(scores)[..., 3] == 0).all()


def test_mask_of_the_constructor_holds_with_those_of_the_call():
    x = tensor(1, 6, 3)
    layer = layers.DotProductAttention(mask=masks.Local(2))
    _, scores = layer(x, x, use_causal_mask=True, return_attention_scores=True)
    assert (to_numpy(scores)[0] > 0).sum(1).tolist() == [1, 2, 2, 2, 2, 2]


def test_run_time_mask_is_refused_in_the_constructor():
    padding = masks.Padding(np.ones((2, 3), int))
    with pytest.raises(ValueError, match="pass run-time masks as `attention_mask`"):
        layers.DotProductAttention(mask=padding)


def test_seed_makes_dropout_repeatable():
    x = tensor(2, 5, 4)

    def output(seed):
        layer = layers.DotProductAttention(dropout=0.5, seed=seed)
        return to_numpy(layer(x, x, training=True))

    np.testing.assert_array_equal(output(3), output(3))
    assert not np.allclose(output(3), output(4))


def test_hidden_mask_of_the_output_is_the_querys():
    query = with_mask(tensor(1, 3, 4), np.array([[True, True, False]]))
    value = with_mask(tensor(1, 2, 4), np.array([[True, False]]))
    output, scores = layers.DotProductAttention()(
        query, value, return_attention_scores=True
    )
    assert mask_of(output).tolist() == [[True, True, False]]
    assert mask_of(scores) is None


class Twice(ScoresOnRequest, keras.layers.Layer):
    """One output, or two."""

    def call(self, x, both=False):
        return (x + 1, x + 2) if both else x + 1


def test_only_the_output_is_regularized_as_keras_does():
    x, layer = tensor(3, 5), Twice(activity_regularizer="l1")
    peer = keras.layers.Activation(lambda x: x + 1, activity_regularizer="l1")
    peer(x)
    expected = [to_numpy(loss) for loss in peer.losses]
    for both in (False, True):
        layer(x, both=both)
        found = [to_numpy(loss) for loss in layer.losses]
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_output_property_is_that_of_the_fullest_call():
    layer, x = Twice(), keras.Input((3,))
    assert layer(x) is layer.output
    pair = layer(x, both=True)
    assert len(layer.output) == 2
    assert list(layer.output) == list(pair)


def test_symbolic_call_takes_what_a_call_takes_by_position():
    query, value = keras.Input((5, 8)), keras.Input((7, 8))
    mask = keras.Input((5,), dtype="bool")
    for layer in (layers.DotProductAttention(), layers.MultiHeadAttention(2, 4)):
        assert tuple(layer(query, value, value, mask).shape) == (None, 5, 8)


def test_unknown_flash_attention_is_refused():
    with pytest.raises(ValueError, match="`flash_attention` must be one of"):
        layers.DotProductAttention(flash_attention="auto")
